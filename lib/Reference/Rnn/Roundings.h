//===- Roundings.h - Roundings of an RNN that may go either way ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A number near the middle of two integers may be kept as either, since sums are made in f32. What follows in a stack
// or over time may differ by much. So the reference looks for the roundings that a kernel chose: those that lead to
// the results that it made.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_REFERENCE_RNN_ROUNDINGS_H
#define QUERN_REFERENCE_RNN_ROUNDINGS_H

#include "Reference/Rnn/Cells.h"

#include <map>
#include <set>

namespace quern::rnn {

/// One channel of the state after step t of a sequence; t is -1 of the state that it starts from.
struct RunPlace {
  int64_t layer, direction, t, n, channel;
  auto operator<=>(const RunPlace &) const = default;
};

/// A number that is rounded: a state, or one within the step, between r and U_o or before a projection.
struct Rounding {
  RunPlace at;
  bool isWithin = false;
  Rounding(RunPlace at, int64_t channel, bool isWithin) : at(at), isWithin(isWithin) { this->at.channel = channel; }
  auto operator<=>(const Rounding &) const = default;
};

/// The choice of a run, and what it met.
class Roundings {
public:
  /// What is kept of h. What lies near the middle of two integers is noted.
  double stored(const StateType &state, const Rounding &at, double h);

  std::set<Rounding> otherwise;       ///< those that go to the farther value
  std::map<Rounding, double> nearMid; ///< those that might have, and how far from the middle
};

class Run;

/// The roundings that explain these values of dst_layer, as far as they were found: one after the other is turned that
/// makes most of the results right, from a few of the best choices at a time.
Roundings explain(const Run &run, const std::vector<double> &dstLayer);

} // namespace quern::rnn

#endif // QUERN_REFERENCE_RNN_ROUNDINGS_H
