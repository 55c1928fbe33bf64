//===- Corpus.cpp - The problems whose kernels are compared ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Corpus.h"

#include "Cases.h"
#include "Problem.h"

#include <algorithm>
#include <set>

namespace quern {
namespace {

/// Draws cases from all rounds, because the first cases of a round are similar. Each case has another seed, because
/// small sets have few cases.
std::vector<std::string> drawLines(const CaseSet &set, const Target &target, const CorpusOptions &options) {
  std::unique_ptr<PrimitiveCases> cases = set.make();
  cases->target = target;
  Random random(options.seed);
  std::vector<std::string> lines;
  for (int64_t i = 0; i < options.count; ++i)
    lines.push_back(cases->draw(random.bits(), random.between(0, cases->allRounds() - 1)).desc.text());
  return lines;
}

} // namespace

std::vector<std::string> cpuTargets() {
  std::vector<std::string> targets;
  for (int isa = static_cast<int>(CpuIsa::Sse42); isa <= static_cast<int>(CpuIsa::Avx512Amx); ++isa)
    targets.emplace_back(nameOfIsa(static_cast<CpuIsa>(isa)));
  return targets;
}

std::vector<std::string> defaultTargets() {
  std::vector<std::string> targets = cpuTargets();
  for (const char *device :
       {"spirv64:sg=16+32,group=1024,slm=65536,vec=16", "spirv64:sg=8+16,group=256,slm=65536",
        "spirv64:sg=8+16+32,group=1024,slm=65536,vec=16,f16,f64", "spirv64:sg=32,group=512,slm=32768,f16,f64"})
    targets.emplace_back(device);
  return targets;
}

std::vector<std::string> allSets() {
  std::vector<std::string> names;
  for (const CaseSet &set : caseSets)
    names.emplace_back(set.name);
  return names;
}

std::vector<std::string> setsOfPrimitives() {
  std::set<std::string_view> seen;
  std::vector<std::string> names;
  for (const CaseSet &set : caseSets)
    if (seen.insert(set.make()->name()).second)
      names.emplace_back(set.name);
  return names;
}

Result<std::vector<KernelRequest>> corpusOf(const CorpusOptions &options) {
  std::vector<KernelRequest> corpus;
  std::set<KernelRequest> seen;
  auto add = [&](const std::string &target, const std::string &line) {
    KernelRequest request{target, line};
    if (seen.insert(request).second)
      corpus.push_back(std::move(request));
  };
  for (const std::string &file : options.files) {
    Result<std::vector<std::string>> lines = readProblemFile(file);
    if (!lines)
      return lines.takeError();
    for (const std::string &line : *lines)
      for (const std::string &target : options.targets)
        add(target, line);
  }
  for (const std::string &text : options.targets) {
    Result<Target> target = Target::parse(text);
    if (!target)
      return target.takeError();
    for (const CaseSet &set : caseSets)
      if (std::find(options.sets.begin(), options.sets.end(), set.name) != options.sets.end())
        for (const std::string &line : drawLines(set, *target, options))
          add(text, line);
  }
  return corpus;
}

} // namespace quern
