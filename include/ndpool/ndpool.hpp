// All of ndpool's public headers.
#pragma once

#include <ndpool/error.hpp>
#include <ndpool/geometry.hpp>
#include <ndpool/half.hpp>
#include <ndpool/layers.hpp>
#include <ndpool/plan.hpp>
#include <ndpool/pool.hpp>
#include <ndpool/reducer.hpp>
#include <ndpool/spec/indices.hpp>
#include <ndpool/threads.hpp>
#include <ndpool/typed.hpp>
#include <ndpool/view.hpp>
