// The numbers and pictures of the demo's page, made of one picture.
#pragma once

#include "report/pictures.hpp"

#include <string>
#include <vector>

namespace ndpool::cli {

/// A line of the table of shapes.
struct PooledShape {
  std::string op, window;
  Shape in, out;
};

class DemoPage {
 public:
  /// `is_photograph`: it is the one that the command brings, of which the page says what to look at.
  DemoPage(Floats scene, bool is_photograph);

  /// Pools the picture with everything that the page shows.
  void draw();

  const std::vector<PooledShape>& shapes() const { return shapes_; }
  nlohmann::json& data() { return data_; }

 private:
  struct Shown;

  std::vector<Shown> reducers(Index taps) const;
  void add(const std::string& name, const std::string& window, const Pool& pool, const Floats& x);
  void windows();
  void bins();
  void winners();
  void gradients();
  void betas();
  void edges();

  Floats scene_, grey_;
  Box crop_;  ///< the enlarged part, in windows
  nlohmann::json data_;
  std::vector<PooledShape> shapes_;
};

}  // namespace ndpool::cli
