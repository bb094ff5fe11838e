// Single windows under a magnifying glass: everything that the demo's page says of the window under the pointer.
#pragma once

#include "report/page.hpp"

namespace ndpool::cli {

/// Values, winners and gradients of several operators on one small plane, and which cells each window reads. The page
/// only looks numbers up: window arithmetic stays in the geometry.
nlohmann::json inspect(const Floats& plane);

}  // namespace ndpool::cli
