//===- DeviceRefusals.h - Known refusals of devices -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A problem that a device refuses is a failure, unless the reason is a feature that devices may lack (listed in
// DeviceRefusals.cpp) and does not exceed its ceiling. A verified problem that no schedule supports is therefore always
// a failure.
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
  /// Counts a refusal with this message; returns false if its reason is not listed.
  bool add(std::string_view message);
  int64_t total() const;
  /// Prints one line per count.
  void print(std::ostream &os) const;
  /// Returns one line for each reason that exceeds its ceiling for `problems` problems.
  std::vector<std::string> tooMany(int64_t problems) const;

private:
  std::map<size_t, int64_t> counts; ///< by index in the list
};

} // namespace quern

#endif // QUERN_CONFORMANCE_SUITE_DEVICEREFUSALS_H
