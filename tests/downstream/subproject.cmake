# ndpool as a subproject. The kernels are not compiled again: configuring shows the targets and flags, what the parent compiles of
# the headers is linked to the library of BUILD, and one file of ndpool is compiled with all the parent's warnings.
function(configure_parent name expected)
  run(${CMAKE_COMMAND} -S ${SOURCE}/subproject -B ${BUILD}/downstream/${name} -G Ninja -DROOT=${ROOT}
      -DCMAKE_CXX_COMPILER=${COMPILER} -DLIBRARY=${LIBRARY} ${ARGN})
  string(FIND "${output}" "-- ${expected} ndpool::graph\n" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "expected a configuration ${expected} ndpool::graph\n${output}")
  endif()
  expect_own_flags(${BUILD}/downstream/${name})
endfunction()

# Neither project has the other's warning flags.
function(expect_own_flags tree)
  file(STRINGS ${tree}/compile_commands.json commands REGEX "\"command\":")
  foreach(command ${commands})
    if(command MATCHES "-c [^ ]*/plain.cpp")
      set(has_plain TRUE)
      if(command MATCHES " -(W|w|ffp)[^ ]*")
        message(FATAL_ERROR "the parent's file inherits ${CMAKE_MATCH_0}: ${command}")
      endif()
    elseif(NOT command MATCHES "-c [^ ]*program.cpp" AND (command MATCHES "-Werror " OR NOT command MATCHES " -w "))
      message(FATAL_ERROR "a warning about ndpool can break the build of the parent: ${command}")
    endif()
  endforeach()
  if(NOT has_plain)
    message(FATAL_ERROR "the parent's plain file is not compiled")
  endif()
endfunction()

if(GRAPH)  # then Eigen is there
  configure_parent(with_eigen with -DHOW=fetch)
  configure_parent(graph_off without -DHOW=fetch -DNDPOOL_BUILD_GRAPH=OFF)
endif()
foreach(how fetch subdirectory)
  configure_parent(${how} without -DHOW=${how} -DCMAKE_DISABLE_FIND_PACKAGE_Eigen3=ON)
  run(${CMAKE_COMMAND} --build ${BUILD}/downstream/${how} --target run_program)
  expect_answer(${BUILD}/downstream/${how}/run_program)
endforeach()

run(${CMAKE_COMMAND} -S ${SOURCE}/subproject -B ${BUILD}/downstream/strict -G Ninja -DROOT=${ROOT} -DHOW=fetch
    -DCMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=-Werror -Wall -Wextra -Wpadded")
run(${CMAKE_COMMAND} --build ${BUILD}/downstream/strict --target _deps/ndpool-build/CMakeFiles/ndpool_objects.dir/src/error.cpp.o)
