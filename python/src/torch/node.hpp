// The node of a pool in autograd's graph.
#pragma once

#include "access.hpp"

namespace ndpool::python {

/// Records that y is the map of x. `winners` are those of an extreme, or the indices of unpooling; `is_private`: nobody
/// else has them. What the node does not serve, gradients that are recorded, batched or of a subclass, and those of
/// unpooling, goes to Python's `Entry.backward`.
void record(const std::shared_ptr<const Call>& call, const at::Tensor& x, const at::Tensor& y,
            const at::Tensor& winners, bool is_private);

}  // namespace ndpool::python
