# What must be there to compile the library. Says all that is missing, and where to get it, in one message: a package
# manager such as pip shows little else.
include(CheckLanguage)
set(missing)
if(NOT CMAKE_CXX_COMPILER_LOADED)
  check_language(CXX)
  if(CMAKE_CXX_COMPILER)
    enable_language(CXX)
  else()
    list(APPEND missing "a C++20 compiler (Debian: g++, Fedora: gcc-c++, Arch: gcc)")
  endif()
endif()

# A project that includes this one may build Highway itself.
if(NOT TARGET hwy)
  # Without a language no architecture is known, and so no folder of libraries.
  find_path(NDPOOL_HIGHWAY_HEADERS hwy/highway.h)
  if(CMAKE_CXX_COMPILER_LOADED)
    find_library(NDPOOL_HIGHWAY_LIBRARY hwy)
  endif()
  mark_as_advanced(NDPOOL_HIGHWAY_HEADERS NDPOOL_HIGHWAY_LIBRARY)
  if(NOT NDPOOL_HIGHWAY_HEADERS OR (CMAKE_CXX_COMPILER_LOADED AND NOT NDPOOL_HIGHWAY_LIBRARY))
    list(APPEND missing "Highway 1.0.3 or newer (Debian: libhwy-dev, Fedora: google-highway-devel, Arch and Homebrew: highway)")
  endif()
endif()

if(missing)
  list(JOIN missing "\n  " text)
  message(FATAL_ERROR "ndpool needs, and did not find:\n  ${text}\n"
                      "On Debian and Ubuntu: apt-get install g++ libhwy-dev")
endif()
