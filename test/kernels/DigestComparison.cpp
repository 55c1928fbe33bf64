//===- DigestComparison.cpp - Differences between kernels of two builds ----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "DigestComparison.h"

#include "Command.h"
#include "Output.h"

#include <algorithm>
#include <map>
#include <sstream>

namespace quern {
namespace {

/// Counts of the kernels of a primitive for a target.
struct Counts {
  int64_t all = 0, different = 0, code = 0, plan = 0, program = 0, reason = 0;
};

class DigestComparison {
public:
  void add(const KernelDigest &before, const KernelDigest &after);
  /// Adds a problem that only one of the files has.
  void addSingle(const KernelDigest &digest, bool isOld);
  bool print(size_t shown, std::ostream &os) const;

private:
  struct Difference {
    std::string what;
    const KernelDigest *before, *after;
  };
  std::map<std::pair<std::string, std::string>, Counts> counts;
  std::vector<Difference> differences;
  int64_t compared = 0, onlyOld = 0, onlyNew = 0;
};

std::string primitiveOf(const KernelDigest &digest) {
  const std::string &line = digest.request.line;
  return line.substr(0, line.find(' '));
}

/// Returns "compiled", or the reason of the refusal or failure.
std::string outcomeOf(const KernelDigest &digest) {
  return digest.isCompiled() ? "compiled" : concat(digest.code, ": ", digest.reason);
}

void DigestComparison::add(const KernelDigest &before, const KernelDigest &after) {
  Counts &group = counts[{primitiveOf(before), before.request.target}];
  std::string what;
  auto compare = [&](bool isSame, int64_t &count, const char *name) {
    count += !isSame;
    if (!isSame)
      what += concat(what.empty() ? "" : ", ", name);
  };
  if (before.isCompiled() && after.isCompiled()) {
    compare(before.code == after.code, group.code, "code");
    compare(before.plan == after.plan, group.plan, "plan");
    compare(before.program == after.program, group.program, "program");
  } else {
    compare(outcomeOf(before) == outcomeOf(after), group.reason, "refusal");
  }
  ++compared;
  ++group.all;
  group.different += !what.empty();
  if (!what.empty())
    differences.push_back({std::move(what), &before, &after});
}

void DigestComparison::addSingle(const KernelDigest &digest, bool isOld) {
  ++(isOld ? onlyOld : onlyNew);
  differences.push_back({isOld ? "only in the first file" : "only in the second file", &digest, &digest});
}

bool DigestComparison::print(size_t shown, std::ostream &os) const {
  Table table({"primitive", "target", ">of", ">differ", ">code", ">plan", ">program", ">refusal"});
  int64_t different = 0;
  for (const auto &[where, group] : counts) {
    different += group.different;
    if (group.different)
      table.addRow({where.first, where.second, std::to_string(group.all), std::to_string(group.different),
                    std::to_string(group.code), std::to_string(group.plan), std::to_string(group.program),
                    std::to_string(group.reason)});
  }
  os << different << " of " << compared << " kernels differ";
  if (onlyOld || onlyNew)
    os << "; " << onlyOld << " are in the first file only, " << onlyNew << " in the second";
  os << '\n';
  if (different)
    table.print(os);
  for (size_t i = 0; i < std::min(shown, differences.size()); ++i) {
    const auto &[what, before, after] = differences[i];
    os << what << ": " << before->request.target << ' ' << before->request.line << '\n';
    if (what == "refusal")
      os << "  before: " << outcomeOf(*before) << "\n  after: " << outcomeOf(*after) << '\n';
  }
  if (differences.size() > shown)
    os << "and " << differences.size() - shown << " more\n";
  return differences.empty();
}

bool isBefore(const KernelDigest &a, const KernelDigest &b) { return a.request < b.request; }

} // namespace

Result<std::vector<KernelDigest>> readDigests(const std::string &path) {
  Result<std::string> bytes = readFile(path);
  if (!bytes)
    return bytes.takeError();
  std::vector<KernelDigest> digests;
  std::istringstream stream(*bytes);
  for (std::string line; std::getline(stream, line);) {
    std::optional<KernelDigest> digest = KernelDigest::parse(line);
    if (!digest)
      return invalidArguments(path, ":", digests.size() + 1, ": no digest of a kernel");
    digests.push_back(std::move(*digest));
  }
  if (digests.empty())
    return invalidArguments(path, " has no digest of a kernel");
  return digests;
}

bool compareDigests(std::vector<KernelDigest> before, std::vector<KernelDigest> after, size_t shown, std::ostream &os) {
  for (std::vector<KernelDigest> *digests : {&before, &after})
    std::sort(digests->begin(), digests->end(), isBefore);
  DigestComparison comparison;
  auto old = before.begin(), now = after.begin();
  while (old != before.end() || now != after.end()) {
    if (now == after.end() || (old != before.end() && isBefore(*old, *now)))
      comparison.addSingle(*old++, true);
    else if (old == before.end() || isBefore(*now, *old))
      comparison.addSingle(*now++, false);
    else
      comparison.add(*old++, *now++);
  }
  return comparison.print(shown, os);
}

} // namespace quern
