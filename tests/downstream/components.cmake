# find_package(ndpool COMPONENTS ...) on the installed package, and on one without the graph.
function(find_command result prefix name)
  set(${result} ${CMAKE_COMMAND} -S ${SOURCE}/components -B ${BUILD}/downstream/components/${name} -G Ninja
      -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${COMPILER} ${ARGN} PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE config ${prefix}/ndpoolConfig.cmake)
get_filename_component(config_directory ${config} DIRECTORY)
file(COPY ${config_directory}/ndpoolConfig.cmake ${config_directory}/ndpoolConfigVersion.cmake
     DESTINATION ${BUILD}/downstream/without_graph/lib/cmake/ndpool)
file(WRITE ${BUILD}/downstream/without_graph/lib/cmake/ndpool/ndpoolTargets.cmake
     "add_library(ndpool::ndpool INTERFACE IMPORTED)\n")

if(GRAPH)
  find_command(command ${prefix} graph -DCOMPONENTS=graph)
  run(${command})
endif()
find_command(command ${prefix} unknown -DCOMPONENTS=nonsense)
expect_failure("ndpool has no component 'nonsense'; its only component is 'graph'" ${command})
find_command(command ${prefix} optional -DCOMPONENTS=OPTIONAL_COMPONENTS\;nonsense)
run(${command})
find_command(command ${BUILD}/downstream/without_graph core)
run(${command})
find_command(command ${BUILD}/downstream/without_graph no_graph -DCOMPONENTS=graph)
expect_failure("this ndpool was installed without the graph: build it with -DNDPOOL_BUILD_GRAPH=ON" ${command})
find_command(command ${BUILD}/downstream/without_graph optional_graph -DCOMPONENTS=OPTIONAL_COMPONENTS\;graph)
run(${command})
