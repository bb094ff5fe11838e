// The graph for the scalars that most programs use, compiled once.
#include <ndpool/graph.hpp>

namespace ndpool {

template class Graph<float>;
template class Graph<double>;
template class Program<float>;
template class Program<double>;

}  // namespace ndpool
