# Debian packages: cpack -G DEB in a tree of the preset `packages`. One per component: library, development, command.
get_target_property(soversion ndpool SOVERSION)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR "The ndpool authors")
set(CPACK_PACKAGE_CONTACT "The ndpool authors <maintainers@ndpool.invalid>")
if(NOT "$ENV{DEBEMAIL}" STREQUAL "")  # the convention of Debian's tools
  set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL library development command)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own first line
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
# The command is linked to a library that no installed package has.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

set(about "Pools are maximum, minimum, sum, average, smooth maximum and Lp norm over
sliding windows, adaptive bins or whole axes of arrays of any rank, as values
and as both derivatives (JVP and VJP), vectorised for the processor that they
run on.")
set(library_package libndpool${soversion})
set(same_library "${library_package} (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${library_package})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "pooling of arrays of any rank, shared library\n${about}

This package has the shared libraries.")
# Debian's ldconfig runs once, after all packages of an installation are unpacked.
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_SOURCE_DIR}/debian/triggers)

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libndpool-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${same_library}")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "pooling of arrays of any rank, development files\n${about}

This package has the headers, and the files by which CMake and pkg-config find
the library.")

set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME ndpool)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION science)
set(CPACK_DEBIAN_COMMAND_PACKAGE_DEPENDS "${same_library}")
set(CPACK_COMPONENT_COMMAND_DESCRIPTION "pooling of arrays of any rank, command\n${about}

This package has the command ndpool, which pools .npy and .png files, also
larger than memory, makes pyramids of them, and shows what a window does.")

# What Debian wants beside the files of an installation is made just before they are packed.
configure_file(debian/finish.cmake.in ${PROJECT_BINARY_DIR}/debian_finish.cmake @ONLY)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_BINARY_DIR}/debian_finish.cmake)
include(CPack)
