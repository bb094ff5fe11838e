// error: conversion from
#include <ndpool/graph.hpp>
using namespace ndpool::typed;
void build(Graph<float>& graph) {
  Var<Shape<3, 8, 8>> y = graph.pool(graph.input<Shape<3, 8, 8>>(), max_pool<Window<Kernel<2, 2>>>);
}
