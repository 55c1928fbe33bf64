//===- Roundings.cpp - Search for the roundings that a kernel chose -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Sequences are independent, so each is explained separately. A rounding does not affect earlier steps, so results are
// correct up to the first step with a rounding that went the other way; flipping it makes more steps correct.
//
//===----------------------------------------------------------------------===//
#include "Reference/Rnn/Roundings.h"

#include "Reference/Elements.h"
#include "Reference/Rnn/Run.h"

#include <algorithm>
#include <cmath>

namespace quern::rnn {

double Roundings::stored(const StateType &state, const Rounding &at, double h) {
  constexpr double near = 1e-3; // fraction of a step, see StateType::toleranceOf()
  if (const double distance = state.distanceFromMiddle(h); distance < near)
    nearMid[at] = distance;
  return otherwise.contains(at) ? state.storedOtherwise(h) : state.stored(h);
}

namespace {

/// Agreement of a run with the results; greater is better.
struct Agreement {
  int64_t rightSteps = 0;
  double minusErrors = 0;
  auto operator<=>(const Agreement &) const = default;
};

class SequenceSearch {
public:
  SequenceSearch(const Run &run, const std::vector<double> &results, int64_t n) : run(run), results(results), n(n) {}

  /// Returns the roundings to flip, as far as they help, and whether they explain everything.
  std::pair<std::set<Rounding>, bool> find() {
    std::vector<Attempt> best = {attempt({})};
    while (!isRight(best.front()) && best.front().met.otherwise.size() < maxTurned) {
      std::vector<Attempt> next = best;
      for (const Attempt &from : best)
        for (const Rounding &candidate : candidatesOf(from.met)) {
          std::set<Rounding> turned = from.met.otherwise;
          turned.insert(candidate);
          keep(next, attempt(std::move(turned)));
          if (isRight(next.front()))
            return {next.front().met.otherwise, true};
        }
      if (next.front().agreement == best.front().agreement)
        break;
      best = std::move(next);
    }
    return {best.front().met.otherwise, isRight(best.front())};
  }

private:
  static constexpr size_t maxTurned = 12, maxCandidates = 32, maxKept = 4;

  struct Attempt {
    Roundings met;
    Agreement agreement;
  };

  bool isRight(const Attempt &attempt) const { return attempt.agreement.rightSteps == run.shape().steps; }

  /// Adds an attempt to the list of the best attempts, which is sorted by decreasing agreement.
  static void keep(std::vector<Attempt> &attempts, Attempt attempt) {
    for (const Attempt &known : attempts)
      if (known.met.otherwise == attempt.met.otherwise)
        return;
    auto place = std::find_if(attempts.begin(), attempts.end(),
                              [&](const Attempt &other) { return other.agreement < attempt.agreement; });
    attempts.insert(place, std::move(attempt));
    if (attempts.size() > maxKept)
      attempts.pop_back();
  }

  /// Returns the roundings nearest to a midpoint first.
  static std::vector<Rounding> candidatesOf(const Roundings &met) {
    std::vector<std::pair<double, Rounding>> sorted;
    for (const auto &[rounding, distance] : met.nearMid)
      if (!met.otherwise.contains(rounding))
        sorted.emplace_back(distance, rounding);
    std::sort(sorted.begin(), sorted.end());
    std::vector<Rounding> candidates;
    for (size_t i = 0; i < std::min(sorted.size(), maxCandidates); ++i)
      candidates.push_back(sorted[i].second);
    return candidates;
  }

  Attempt attempt(std::set<Rounding> turned) const {
    Attempt attempt;
    attempt.met.otherwise = std::move(turned);
    const RunResults made = run.compute({.roundings = &attempt.met, .isStrict = true, .only = n});
    const Shape &s = run.shape();
    const int64_t width = s.dlc(run.rnn());
    Agreement &agreement = attempt.agreement;
    for (int64_t t = 0; t < s.steps; ++t) {
      const auto first = static_cast<size_t>((t * s.batch + n) * width);
      bool isStepRight = true;
      for (size_t i = first; i < first + static_cast<size_t>(width); ++i) {
        isStepRight &= made.dstLayer.contains(run.rnn().dstLayer.dataType, i, results[i]);
        agreement.minusErrors -= std::fabs(results[i] - made.dstLayer.exact[i]);
      }
      agreement.rightSteps += isStepRight;
    }
    return attempt;
  }

  const Run &run;
  const std::vector<double> &results;
  int64_t n;
};

} // namespace

Roundings explain(const Run &run, const std::vector<double> &dstLayer) {
  Roundings all;
  bool isExplained = true; // a wrong sequence makes the results wrong
  for (int64_t n = 0; n < run.shape().batch && isExplained; ++n) {
    auto [turned, isRight] = SequenceSearch(run, dstLayer, n).find();
    all.otherwise.merge(turned);
    isExplained = isRight;
  }
  return all;
}

} // namespace quern::rnn
