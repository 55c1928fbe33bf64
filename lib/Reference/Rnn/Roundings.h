//===- Roundings.h - Search for the roundings that a kernel chose ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Because sums are in f32, a number near the midpoint of two integers may be stored as either. This can change all
// later values of a stack or sequence. The reference therefore searches for the roundings that lead to the kernel's
// results.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_REFERENCE_RNN_ROUNDINGS_H
#define QUERN_REFERENCE_RNN_ROUNDINGS_H

#include "Reference/Rnn/Cells.h"

#include <map>
#include <set>

namespace quern::rnn {

/// One channel of the state after step t of a sequence; t is -1 for the initial state.
struct RunPlace {
  int64_t layer, direction, t, n, channel;
  auto operator<=>(const RunPlace &) const = default;
};

/// A number that is rounded: a state, or a value within a step (between r and U_o, or before a projection).
struct Rounding {
  RunPlace at;
  bool isWithin = false;
  Rounding(RunPlace at, int64_t channel, bool isWithin) : at(at), isWithin(isWithin) { this->at.channel = channel; }
  auto operator<=>(const Rounding &) const = default;
};

/// The roundings of a run: those chosen, and those that it encountered near a midpoint.
class Roundings {
public:
  /// Returns the stored form of h, and records it if it is near the midpoint of two integers.
  double stored(const StateType &state, const Rounding &at, double h);

  std::set<Rounding> otherwise;       ///< roundings to the farther value
  std::map<Rounding, double> nearMid; ///< distance from the midpoint, for roundings near one
};

class Run;

/// Returns roundings that explain these values of dst_layer, as far as they were found. The search flips one rounding
/// at a time and continues from the few sets of flipped roundings that make the most steps correct.
Roundings explain(const Run &run, const std::vector<double> &dstLayer);

} // namespace quern::rnn

#endif // QUERN_REFERENCE_RNN_ROUNDINGS_H
