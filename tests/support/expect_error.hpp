// Errors are checked by their whole sentence.
#pragma once

#include <ndpool/error.hpp>

#include <gtest/gtest.h>

#include <string>

namespace ndpool::testing {

/// Expects that `f()` throws an `Error` that says exactly `sentence`.
template <class F>
void expect_error(const std::string& sentence, F f) {
  try {
    f();
    ADD_FAILURE() << "no error: " << sentence;
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), sentence);
    EXPECT_NE(error.code(), Code::none);
  }
}

}  // namespace ndpool::testing
