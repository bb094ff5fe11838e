# ndpool by FetchContent. The kernels are not compiled again: configuring shows the targets and flags, and one file of the
# parent that its headers compile there.
function(configure_parent name expected)
  run(${CMAKE_COMMAND} -S ${SOURCE}/subproject -B ${BUILD}/downstream/${name} -G Ninja -DROOT=${ROOT}
      -DCMAKE_CXX_COMPILER=${COMPILER} ${ARGN})
  string(FIND "${output}" "-- ${expected} ndpool::graph\n" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "expected a configuration ${expected} ndpool::graph\n${output}")
  endif()
  file(STRINGS ${BUILD}/downstream/${name}/compile_commands.json commands REGEX "\"command\":")
  foreach(command ${commands})
    if(command MATCHES "-Werror" AND NOT command MATCHES "-c [^ ]*program.cpp")
      message(FATAL_ERROR "ndpool is compiled with -Werror as a subproject: ${command}")
    endif()
  endforeach()
endfunction()

if(GRAPH)  # then Eigen is there
  configure_parent(with_eigen with)
  configure_parent(graph_off without -DNDPOOL_BUILD_GRAPH=OFF)
endif()
configure_parent(without_eigen without -DCMAKE_DISABLE_FIND_PACKAGE_Eigen3=ON)
run(${CMAKE_COMMAND} --build ${BUILD}/downstream/without_eigen --target program)
