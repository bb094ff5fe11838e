// What this program was made with and what it runs on, in words.
#pragma once

#include <string>

namespace ndpool::cli {

/// Name of the processor, or of its architecture where the system does not tell.
std::string processor_name();

/// Name and version of the compiler that built this program.
std::string compiler_name();

}  // namespace ndpool::cli
