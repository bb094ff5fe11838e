# Consumers outside of the tree with one compiler, against static and shared libraries: FetchContent, add_subdirectory,
# find_package(ndpool COMPONENTS graph) and pkg-config. The libraries are compiled once, as a subproject in BUILD/tree; other
# consumers and the other kind of library change nothing that compiles them. The packages are installed from there. FLAGS are
# further flags of the compiler, such as -DHWY_COMPILE_ONLY_SCALAR for a quick look.
include(${CMAKE_CURRENT_LIST_DIR}/functions.cmake)
set(GRAPH TRUE)

# The program uses the shared library, or it needs none.
function(expect_linkage program kind)
  run(readelf -d ${program})
  string(FIND "${output}" "[libndpool.so" found)
  if((kind STREQUAL "shared") EQUAL (found EQUAL -1))
    message(FATAL_ERROR "${program} should use a ${kind} library\n${output}")
  endif()
endfunction()

get_filename_component(compiler_name ${COMPILER} NAME)
foreach(kind static shared)
  set(shared OFF)
  if(kind STREQUAL "shared")
    set(shared ON)
  endif()
  foreach(how fetch subdirectory)
    run(${CMAKE_COMMAND} -S ${SOURCE}/subproject -B ${BUILD}/tree -G Ninja -DROOT=${ROOT} -DHOW=${how}
        -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=${shared}
        "-DCMAKE_CXX_FLAGS=${FLAGS}")
    message(STATUS "${compiler_name}, ${kind}, ${how}: building")
    execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD}/tree COMMAND_ERROR_IS_FATAL ANY)
    foreach(program program graph_program)
      expect_answer(${BUILD}/tree/run_${program})
      expect_linkage(${BUILD}/tree/run_${program} ${kind})
    endforeach()
  endforeach()
  set(prefix ${BUILD}/${kind})
  file(REMOVE_RECURSE ${prefix})
  run(${CMAKE_COMMAND} --install ${BUILD}/tree --prefix ${prefix})
  file(REMOVE_RECURSE ${BUILD}/find_package ${BUILD}/pkg_config)
  message(STATUS "${compiler_name}, ${kind}, find_package")
  expect_find_package(${prefix} ${BUILD}/find_package)
  expect_linkage(${BUILD}/find_package/program ${kind})
  message(STATUS "${compiler_name}, ${kind}, pkg-config")
  file(MAKE_DIRECTORY ${BUILD}/pkg_config)
  expect_pkg_config(${prefix} ${BUILD}/pkg_config)
  expect_linkage(${BUILD}/pkg_config/program ${kind})
endforeach()
message(STATUS "${compiler_name}: all consumers answered")
