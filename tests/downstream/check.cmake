# Installs BUILD into an empty prefix, then builds and runs the program of SOURCE against it: once through
# find_package, once through pkg-config.
set(prefix ${BUILD}/downstream/prefix)
file(REMOVE_RECURSE ${BUILD}/downstream)

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGV}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect_answer program)
  run(${program})
  if(NOT output STREQUAL "5 4\n")
    message(FATAL_ERROR "${program} printed ${output}")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})

run(${CMAKE_COMMAND} -S ${SOURCE} -B ${BUILD}/downstream/build -G Ninja -DCMAKE_PREFIX_PATH=${prefix}
    -DCMAKE_CXX_COMPILER=${COMPILER})
run(${CMAKE_COMMAND} --build ${BUILD}/downstream/build)
expect_answer(${BUILD}/downstream/build/program)
if(EXISTS ${BUILD}/downstream/build/graph_program)
  expect_answer(${BUILD}/downstream/build/graph_program)
endif()

file(GLOB_RECURSE package ${prefix}/ndpool.pc)
get_filename_component(package_directory ${package} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${package_directory})
run(pkg-config --cflags --libs ndpool)
separate_arguments(flags UNIX_COMMAND "${output}")
run(${COMPILER} -std=c++20 ${SOURCE}/program.cpp ${flags} -o ${BUILD}/downstream/program)
expect_answer(${BUILD}/downstream/program)

if(EXISTS ${package_directory}/ndpool-graph.pc)
  run(pkg-config --cflags --libs ndpool-graph)
  separate_arguments(graph_flags UNIX_COMMAND "${output}")
  run(${COMPILER} -std=c++20 ${SOURCE}/graph_program.cpp ${graph_flags} -o ${BUILD}/downstream/graph_program)
  expect_answer(${BUILD}/downstream/graph_program)
endif()

# The program of the README, compiled as the README says, prints what the README shows.
file(READ ${README} readme)
string(FIND "${readme}" "```cpp\n" begin)
math(EXPR begin "${begin} + 7")
string(SUBSTRING "${readme}" ${begin} -1 program)
string(FIND "${program}" "```" end)
string(SUBSTRING "${program}" 0 ${end} program)
file(WRITE ${BUILD}/downstream/readme.cpp "${program}")
run(${COMPILER} -std=c++20 ${BUILD}/downstream/readme.cpp ${flags} -o ${BUILD}/downstream/readme)
run(${BUILD}/downstream/readme)
string(FIND "${readme}" "./program\n${output}\n" found)
if(found EQUAL -1)
  message(FATAL_ERROR "the README does not show what its program prints: ${output}")
endif()
