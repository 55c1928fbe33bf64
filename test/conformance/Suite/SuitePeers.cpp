//===- SuitePeers.cpp - Comparing drawn cases with oneDNN -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Suite.h"

#include "Reference/Elements.h"

#include <algorithm>

namespace quern {

std::unique_ptr<OneDnnPrimitive> Suite::askPeer(const ParsedProblem &problem) {
  if (std::string reason = cases.unsafeForPeer(problem.desc(), peer->version()); !reason.empty()) {
    ++peerUnsafe[reason];
    return nullptr;
  }
  Result<std::unique_ptr<OneDnnPrimitive>> made = peer->create(problem.verified);
  peerRefused += !made; // releases refuse at different times; 3.2 refuses short rows only when the kernel is created
  return made ? std::move(*made) : nullptr;
}

Result<void> Suite::compareWithPeer(const ParsedProblem &problem, const Case &drawn, ProblemData &data,
                                    OneDnnPrimitive &theirPrimitive) {
  const ReferenceOutput &exact = data.expectedOutputs().front();
  std::vector<double> ours = gather(exact.desc, data.buffer(exact.argument));
  if (Result<bool> ran = runPeer(data, theirPrimitive); !ran || !*ran)
    return ran ? Result<void>() : ran.takeError();
  std::vector<double> theirs = gather(exact.desc, data.buffer(exact.argument));
  ++peerCompared;
  cases.count(drawn, problem.desc(), nullptr);
  std::string version = peer->version();
  PeerComparison with{problem.desc(), exact, version, theirPrimitive.implementation()};
  PeerDifferences differences;
  for (size_t i = 0; i < ours.size(); ++i) {
    if (cases.agrees(with, i, ours[i], theirs[i]))
      continue;
    if (Difference difference = cases.knownDifference(with, i, ours[i], theirs[i])) {
      differences.emplace(difference.what, difference.share);
      continue;
    }
    return internalError("element ", i, " is ", ours[i], "; ", version, ' ', with.implementation, " gives ", theirs[i],
                         "; the exact value is ", exact.exact[i]);
  }
  count(differences);
  return {};
}

/// Returns the known difference of an output that the reference judges wrong; it must explain the result if it is
/// computed.
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

Result<bool> Suite::runPeer(ProblemData &data, OneDnnPrimitive &theirPrimitive) {
  data.refill();
  if (Result<void> bound = theirPrimitive.bind(data.addresses()); !bound)
    return bound.takeError();
  const bool ran = static_cast<bool>(theirPrimitive.execute());
  peerRefused += !ran;
  return ran;
}

/// The workspace is specific to each library, so it is not judged.
Result<PeerDifferences> Suite::judgeOutputsOfPeer(const ParsedProblem &problem, const Case &drawn, ProblemData &data,
                                                  const std::string &implementation) {
  const std::string version = peer->version();
  ReferenceInputs results;
  for (const auto &[argument, address] : data.addresses())
    results[argument] = address;
  PeerDifferences differences;
  for (const ReferenceOutput &output : data.expectedOutputs()) {
    if (output.argument == QUERN_ARG_WORKSPACE)
      continue;
    Verdict verdict = judge(problem.desc(), output, results, judgedAs(drawn.data.fill));
    PeerComparison with{problem.desc(), output, version, implementation};
    if (verdict.isRight) {
      worst = std::max(worst, verdict.worst);
    } else if (Difference difference = differenceOf(with, results, judgedAs(drawn.data.fill))) {
      differences.emplace(difference.what, difference.share);
    } else {
      return internalError(version, ' ', implementation, ", argument ", output.argument, ": ",
                           verdict.describe(output.desc));
    }
  }
  return differences;
}

Result<void> Suite::judgePeer(const ParsedProblem &problem, const Case &drawn, ProblemData &data,
                              OneDnnPrimitive &theirPrimitive) {
  if (Result<bool> ran = runPeer(data, theirPrimitive); !ran || !*ran)
    return ran ? Result<void>() : ran.takeError();
  ++peerCompared;
  cases.count(drawn, problem.desc(), nullptr);
  Result<PeerDifferences> found = judgeOutputsOfPeer(problem, drawn, data, theirPrimitive.implementation());
  // Wrong primitives are kept, so that the next one gets other memory.
  constexpr size_t maxOthers = 8;
  std::vector<std::unique_ptr<OneDnnPrimitive>> others;
  while (!found && others.size() < maxOthers) {
    others.push_back(askPeer(problem));
    Result<bool> ran = others.back() ? runPeer(data, *others.back()) : Result<bool>(false);
    if (ran && *ran && judgeOutputsOfPeer(problem, drawn, data, others.back()->implementation()))
      found = PeerDifferences{{"another primitive of the same problem gives correct results", 0.01}};
  }
  if (!found)
    return found.takeError();
  count(*found);
  return {};
}

void Suite::count(const PeerDifferences &differences) {
  for (const auto &[what, share] : differences) {
    auto &[count, limit] = peerDifferences[what];
    ++count, limit = share;
  }
}

std::vector<std::string> Suite::peerShortfalls() const {
  std::vector<std::string> all;
  if (peerCompared < minCompared() && options.seconds == 0)
    all.push_back(concat("only ", peerCompared, " of ", legal, " problems were compared; at least ", minCompared(),
                         " are needed"));
  constexpr double few = 2; // a short run may draw similar problems
  for (const auto &[difference, found] : peerDifferences)
    if (static_cast<double>(found.first) > few + found.second * static_cast<double>(peerCompared))
      all.push_back(
          concat("known difference, but too frequent: ", difference, ": ", found.first, " of ", peerCompared));
  return all;
}

} // namespace quern
