//===- Random.h - Draws from a seed ---------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Distributions of <random> differ between standard libraries. These do not, so a seed draws the same problems
// everywhere.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_RANDOM_H
#define QUERN_CONFORMANCE_RANDOM_H

#include <cstdint>
#include <initializer_list>
#include <random>
#include <utility>
#include <vector>

namespace quern {

class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}
  uint64_t bits() { return engine(); }
  /// Returns a number in [low, high].
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine() % static_cast<uint64_t>(high - low + 1));
  }
  /// Returns true in one of `n` cases.
  bool oneIn(int64_t n) { return between(1, n) == 1; }
  template <typename T> T pick(std::initializer_list<T> choices) {
    return choices.begin()[between(0, static_cast<int64_t>(choices.size()) - 1)];
  }
  template <typename T> void shuffle(std::vector<T> &values) {
    for (size_t i = values.size(); i > 1; --i)
      std::swap(values[i - 1], values[static_cast<size_t>(between(0, static_cast<int64_t>(i) - 1))]);
  }

private:
  std::mt19937_64 engine;
};

} // namespace quern

#endif // QUERN_CONFORMANCE_RANDOM_H
