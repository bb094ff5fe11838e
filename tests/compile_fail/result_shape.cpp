// error: conversion from
#include <ndpool/typed.hpp>
using namespace ndpool::typed;
Tensor<float, Shape<3, 2>> y = max_pool<Window<Kernel<2, 2>>>(Tensor<float, Shape<4, 4>>{});
