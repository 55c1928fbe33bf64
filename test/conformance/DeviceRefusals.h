//===- DeviceRefusals.h - What devices are known to refuse ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A problem that is verified for a device and that no schedule of it takes is a failure, unless its reason is known (the list is in
// DeviceRefusals.cpp) and comes no more often than is known.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_DEVICEREFUSALS_H
#define QUERN_CONFORMANCE_DEVICEREFUSALS_H

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
  /// When a refusal is met: as compiling for drawn limits, which no device has together, or by the device of the tests.
  enum class When : uint8_t { Compiled, Executed };
  DeviceRefusals(std::string_view primitive, When when) : primitive(primitive), when(when) {}

  /// Counts a refusal with this message; false if its reason is not on the list.
  bool add(std::string_view message);
  int64_t total() const;
  /// The counts, a line each.
  void print(std::ostream &os) const;
  /// A line for each reason that came more often than it may in so many problems.
  std::vector<std::string> tooMany(int64_t problems) const;

private:
  std::string primitive;
  When when;
  std::map<size_t, int64_t> counts; ///< by position in the list
};

} // namespace quern

#endif // QUERN_CONFORMANCE_DEVICEREFUSALS_H
