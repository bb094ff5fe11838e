// Images of handwritten digits, and their split into those to learn from and those held out.
#pragma once

#include "../training.hpp"

#include <stdexcept>

namespace digits {

struct Images {
  std::vector<float> pixels;  ///< 64 per image, from 0 to 1
  std::vector<float> labels;
  std::size_t size() const { return labels.size(); }

  /// The images with these numbers, one after the other.
  template <class Numbers>
  void gather(const Numbers& numbers, Images& to) const {
    for (std::size_t i = 0; i < to.size(); ++i) {
      std::copy_n(pixels.begin() + static_cast<std::ptrdiff_t>(64 * numbers[i]), 64,
                  to.pixels.begin() + static_cast<std::ptrdiff_t>(64 * i));
      to.labels[i] = labels[numbers[i]];
    }
  }
};

inline Images room_for(std::size_t count) { return {std::vector<float>(64 * count), std::vector<float>(count)}; }

inline Images read_images(const std::string& file) {
  std::ifstream in(file);
  Images images;
  const std::string levels = "0123456789abcdefg";
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line.size() != 66) throw std::runtime_error(file + " holds a line that is no image: " + line);
    for (std::size_t i = 0; i < 64; ++i) images.pixels.push_back(static_cast<float>(levels.find(line[i])) / 16.0F);
    images.labels.push_back(static_cast<float>(line[65] - '0'));
  }
  if (images.size() == 0) throw std::runtime_error("no images in " + file);
  return images;
}

/// A fifth is held out, drawn at random.
struct Split {
  Images training, held_out;
  Split(const Images& all, training::Random& random) {
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    random.shuffle(order);
    const std::size_t held = (all.size() + 4) / 5;
    held_out = room_for(held);
    training = room_for(all.size() - held);
    all.gather(order, held_out);
    all.gather(std::span(order).subspan(held), training);
  }
};

}  // namespace digits
