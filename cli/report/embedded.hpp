// The files of the demo's page (web/demo), which the build writes into the command, so that it needs nothing beside it.
#pragma once

#include <string_view>

namespace ndpool::cli::embedded {

extern const std::string_view page, style, script, cat;

}  // namespace ndpool::cli::embedded
