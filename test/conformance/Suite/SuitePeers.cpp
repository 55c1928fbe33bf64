//===- SuitePeers.cpp - Compares drawn cases with a genuine oneDNN --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See Suite.h.
//
//===----------------------------------------------------------------------===//
#include "Suite.h"

#include "Reference/Elements.h"

#include <algorithm>

namespace quern {

std::unique_ptr<OneDnnPrimitive> Suite::askPeer(const Problem &problem) {
  if (std::string reason = cases.unsafeForPeer(problem.desc(), peer->version()); !reason.empty()) {
    ++peerUnsafe[reason];
    return nullptr;
  }
  Result<std::unique_ptr<OneDnnPrimitive>> made = peer->create(problem.verified);
  peerRefused += !made; // releases differ in how they say no, 3.2 of short rows only when the kernel is made
  return made ? std::move(*made) : nullptr;
}

Result<void> Suite::compareWithPeer(const Problem &problem, const Case &drawn, ProblemData &data,
                                    OneDnnPrimitive &theirPrimitive) {
  const ReferenceOutput &exact = data.expectedOutputs().front();
  std::vector<double> ours = gather(exact.desc, data.buffer(exact.argument));
  data.refill();
  if (Result<void> bound = theirPrimitive.bind(data.addresses()); !bound)
    return bound;
  if (Result<void> ran = theirPrimitive.execute(); !ran) { // 3.2 says only here that it has no zero points with a mask
    ++peerRefused;
    return {};
  }
  std::vector<double> theirs = gather(exact.desc, data.buffer(exact.argument));
  ++peerCompared;
  cases.count(drawn, problem.desc(), nullptr);
  std::string version = peer->version();
  PeerComparison with{problem.desc(), exact, version, theirPrimitive.implementation()};
  std::map<std::string_view, double> differences;
  for (size_t i = 0; i < ours.size(); ++i) {
    if (cases.agrees(with, i, ours[i], theirs[i]))
      continue;
    if (Difference difference = cases.knownDifference(with, i, ours[i], theirs[i])) {
      differences.emplace(difference.what, difference.share);
      continue;
    }
    return internalError("element ", i, " is ", ours[i], "; ", version, ' ', with.implementation, " gives ", theirs[i],
                         " and exact is ", exact.exact[i]);
  }
  for (const auto &[what, share] : differences) {
    auto &[count, most] = peerDifferences[what];
    ++count, most = share;
  }
  return {};
}

/// Of an output that the reference does not have so: what is known, and explains it where that can be computed.
Difference Suite::differenceOf(const PeerComparison &with, const ReferenceInputs &results, DataKind data) const {
  std::vector<ReferenceOutput> theirs;
  const std::optional<Difference> computed = cases.expectOfPeer(with, results, theirs);
  if (!computed)
    return cases.knownDifference(with, 0, 0, 0);
  for (const ReferenceOutput &output : theirs)
    if (output.argument == with.exact.argument && judge(with.desc, output, results, data).isRight)
      return *computed;
  return {};
}

/// What the reference computes, stored, is right, and finite.
/// A workspace is each library's own.
Result<void> Suite::judgePeer(const Problem &problem, const Case &drawn, ProblemData &data,
                              OneDnnPrimitive &theirPrimitive) {
  data.refill();
  if (Result<void> bound = theirPrimitive.bind(data.addresses()); !bound)
    return bound;
  if (Result<void> ran = theirPrimitive.execute(); !ran) {
    ++peerRefused;
    return {};
  }
  ++peerCompared;
  cases.count(drawn, problem.desc(), nullptr);
  std::string version = peer->version();
  ReferenceInputs results;
  for (const auto &[argument, address] : data.addresses())
    results[argument] = address;
  std::map<std::string_view, double> differences;
  for (const ReferenceOutput &output : data.expectedOutputs()) {
    if (output.argument == QUERN_ARG_WORKSPACE)
      continue;
    Verdict verdict = judge(problem.desc(), output, results, judgedAs(drawn.data.fill));
    PeerComparison with{problem.desc(), output, version, theirPrimitive.implementation()};
    if (verdict.isRight) {
      worst = std::max(worst, verdict.worst);
    } else if (Difference difference = differenceOf(with, results, judgedAs(drawn.data.fill))) {
      differences.emplace(difference.what, difference.share);
    } else {
      return internalError(version, ' ', with.implementation, ", argument ", output.argument, ": ",
                           verdict.describe(output.desc));
    }
  }
  for (const auto &[what, share] : differences) {
    auto &[count, most] = peerDifferences[what];
    ++count, most = share;
  }
  return {};
}

std::vector<std::string> Suite::peerShortfalls() const {
  std::vector<std::string> all;
  if (peerCompared < leastCompared() && options.seconds == 0)
    all.push_back(
        concat("only ", peerCompared, " of ", legal, " problems were compared, and ", leastCompared(), " are wanted"));
  constexpr double few = 2; // of a short run may be drawn alike
  for (const auto &[difference, found] : peerDifferences)
    if (static_cast<double>(found.first) > few + found.second * static_cast<double>(peerCompared))
      all.push_back(concat("known, but too frequent: ", difference, ": ", found.first, " of ", peerCompared));
  return all;
}

} // namespace quern
