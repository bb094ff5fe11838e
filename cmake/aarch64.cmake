# Toolchain: Debian's cross compiler for 64-bit ARM, with libraries of that architecture beside the machine's own
# (dpkg --add-architecture arm64). Tests run under the emulator, as a processor with NEON and without SVE.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_IGNORE_PATH /usr/lib/x86_64-linux-gnu)
# Boost's headers are the same for all architectures, but what finds them is beside the machine's own libraries.
file(GLOB Boost_DIR /usr/lib/*/cmake/Boost-1.*)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -cpu cortex-a72 -L /usr/aarch64-linux-gnu)
