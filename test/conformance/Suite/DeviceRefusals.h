//===- DeviceRefusals.h - What devices are known to refuse ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A problem that a device refuses is a failure, unless the reason is what a device may lack (the list is in
// DeviceRefusals.cpp) and comes no more often than its ceiling. So one that was verified and that no schedule
// takes is always a failure.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_SUITE_DEVICEREFUSALS_H
#define QUERN_CONFORMANCE_SUITE_DEVICEREFUSALS_H

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace quern {

/// The refusals of one set of cases.
class DeviceRefusals {
public:
  /// Counts a refusal with this message; false if its reason is not on the list.
  bool add(std::string_view message);
  int64_t total() const;
  /// The counts, a line each.
  void print(std::ostream &os) const;
  /// A line for each reason that came more often than it may in so many problems.
  std::vector<std::string> tooMany(int64_t problems) const;

private:
  std::map<size_t, int64_t> counts; ///< by position in the list
};

} // namespace quern

#endif // QUERN_CONFORMANCE_SUITE_DEVICEREFUSALS_H
