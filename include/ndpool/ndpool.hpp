// All of ndpool's public headers but graph.hpp and tiny.hpp.
#pragma once

#include <ndpool/custom_pool.hpp>
#include <ndpool/error.hpp>
#include <ndpool/geometry.hpp>
#include <ndpool/half.hpp>
#include <ndpool/layers.hpp>
#include <ndpool/plan.hpp>
#include <ndpool/pool.hpp>
#include <ndpool/pools.hpp>
#include <ndpool/progress_callback.hpp>
#include <ndpool/reducer.hpp>
#include <ndpool/spec/indices.hpp>
#include <ndpool/targets.hpp>
#include <ndpool/threads.hpp>
#include <ndpool/typed.hpp>
#include <ndpool/unpool.hpp>
#include <ndpool/view.hpp>
