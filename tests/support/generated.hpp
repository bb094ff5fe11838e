// Random problems as lines of text: small ones of every kind for the reference, and larger ones for kernels.
#pragma once

#include "support/generator.hpp"
#include "support/problem.hpp"

namespace ndpool::testing {

enum class GeometryKind { windowed, adaptive, global };
inline constexpr const char* operators[] = {"max", "min", "sum", "avg", "smooth-max", "lp"};

/// Random options of an operator as words: ties, divisors, beta and the like, each often left at its default.
std::string option_words(Generator& make, const std::string& op, GeometryKind kind);

/// True if a plan can be made of the problem.
bool is_valid(const std::string& line);

/// A random valid problem of `rank` axes as a line: any stride, padding, dilation, mode, subset of axes and option.
std::string random_problem(std::mt19937_64& random, const std::string& op, GeometryKind kind, int rank);

/// The seed of all random tests: NDPOOL_SEED if it is set, else a fixed number. Every failure prints it.
std::uint64_t seed();

/// More than 2,000 distinct problems: every operator on every geometry in ranks 1 to 4, and the case files.
std::vector<std::string> sweep_problems();

/// A random valid problem for kernels, with its memory: ranks 1 to 5, extents around vector widths, large kernels, and
/// arrays that are seldom above 4,000 elements, so that the reference stays quick. Smooth max and Lp only if
/// `transcendental`.
std::string generated_problem(std::mt19937_64& random, bool transcendental);

}  // namespace ndpool::testing
