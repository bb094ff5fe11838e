// The words by which text - an argument in Python, on a command line, in a file of problems - names a choice.
#pragma once

#include <ndpool/axis.hpp>
#include <ndpool/reducer.hpp>

#include <string_view>

namespace ndpool {

/// A choice and the word for it.
template <class Enum>
struct Word {
  /// The word.
  std::string_view text;
  /// What it means.
  Enum value;
};

inline constexpr Word<Ties> ties_words[] = {{"first", Ties::first}, {"all", Ties::all}, {"split", Ties::split}};
inline constexpr Word<Nan> nan_words[] = {{"propagate", Nan::propagate}, {"ignore", Nan::ignore}};
inline constexpr Word<Empty> empty_words[] = {{"error", Empty::error}, {"identity", Empty::identity}};
inline constexpr Word<Rounding> rounding_words[] = {{"half_even", Rounding::half_even},
                                                    {"toward_zero", Rounding::toward_zero},
                                                    {"floor", Rounding::floor},
                                                    {"half_away", Rounding::half_away}};
inline constexpr Word<PadMode> pad_mode_words[] = {{"zero", PadMode::zero}, {"ignore", PadMode::ignore}};
inline constexpr Word<PaddingRule> padding_words[] = {
    {"valid", PaddingRule::valid}, {"same", PaddingRule::same_upper}, {"same_lower", PaddingRule::same_lower}};

}  // namespace ndpool
