# One consumer of each kind against the build BUILD: its installation found by CMake and by pkg-config, and ROOT as a
# subproject. What does not configure must say why. `matrix.cmake` has all compilers, static and shared.
include(${CMAKE_CURRENT_LIST_DIR}/functions.cmake)
set(prefix ${BUILD}/downstream/prefix)
file(REMOVE_RECURSE ${BUILD}/downstream)

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
file(GLOB folders RELATIVE ${prefix} ${prefix}/*)
foreach(folder ${folders})
  if(NOT folder MATCHES "^(bin|include|lib|lib64|share)$")
    message(FATAL_ERROR "the installation wrote ${prefix}/${folder}")
  endif()
endforeach()
if(EXISTS ${BUILD}/python/ndpool/__init__.pyi)  # what wheels are made of
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${BUILD}/downstream/wheel --component python)
  file(GLOB folders RELATIVE ${BUILD}/downstream/wheel ${BUILD}/downstream/wheel/*)
  file(GLOB extension ${BUILD}/downstream/wheel/ndpool/_core*.so)
  if(NOT folders STREQUAL "ndpool" OR NOT extension)
    message(FATAL_ERROR "the component python wrote ${folders}: ${extension}")
  endif()
endif()

include(${SOURCE}/components.cmake)
include(${SOURCE}/subproject.cmake)
expect_find_package(${prefix} ${BUILD}/downstream/build)
expect_pkg_config(${prefix} ${BUILD}/downstream)
