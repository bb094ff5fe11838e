// error: conversion from
#include <ndpool/graph.hpp>
using namespace ndpool::typed;
void build(Graph<float>& graph) {
  Var<Shape<3, 8, 8>> y = graph.smooth_max_pool2d<2, 2, 2>(graph.input<Shape<3, 8, 8>>(), 1.0);
}
