//===- RandomLayout.h - Random strided memrefs for linalg ops -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Shared parts of random chains and random maps: random choices, types as text, and layouts.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_RECIPES_RANDOMLAYOUT_H
#define QUERN_TEST_RECIPES_RANDOMLAYOUT_H

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace quern::test {

enum class Element { F32, F64, BF16, F16, S8, U8 }; // integers represent multiples of 1/64

/// Returns "f32", "i8", …
const char *nameOf(Element element);
/// Joins the parts with commas.
std::string join(const std::vector<std::string> &parts);

class Dice {
public:
  explicit Dice(uint64_t seed) : random(seed) {}
  int64_t pick(int64_t from, int64_t to) {
    return from + static_cast<int64_t>(random() % static_cast<uint64_t>(to - from + 1));
  }
  bool chance(int percent) { return pick(1, 100) <= percent; }
  template <typename T> const T &oneOf(const std::vector<T> &values) { return values[random() % values.size()]; }

  std::mt19937_64 random;
};

/// Probabilities in percent.
struct LayoutOdds {
  int shuffled = 50, gaps = 25, broadcast = 5; ///< broadcast: for each dim of an input
  int shifted = 0;                             ///< for each loop with blocks: it starts within a block
};

struct RandomLayout {
  std::string memref;
  std::vector<std::string> results; ///< results of the map, one per dim of the memref
  int64_t count = 0;                ///< elements of the buffer, including gaps and offset
  bool isBlocked = false, isBroadcast = false, isShifted = false;
};

/// Draws a permutation of the digits of `loops`, sometimes with gaps, an offset or a broadcast dim. `unitsOf`, called
/// once per loop, returns the sizes of its blocks: {1, 8} for blocks of 8, {1, 8, 32} for blocks of 32 that contain
/// blocks of 8, nothing for a plain dim.
RandomLayout drawLayout(Dice &dice, const LayoutOdds &odds, Element element, const std::vector<int> &loops,
                        const std::vector<int64_t> &extents, bool isOutput,
                        const std::function<std::vector<int64_t>()> &unitsOf);

} // namespace quern::test

#endif // QUERN_TEST_RECIPES_RANDOMLAYOUT_H
