#include <ndpool/ndpool.hpp>
