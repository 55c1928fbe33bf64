//===- DeviceRefusals.cpp - Known refusals of devices ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Ceilings are about 1.5 times the expected share: a tenth of all tensors is f64, and half of the drawn devices lack
// f64.
//
//===----------------------------------------------------------------------===//
#include "DeviceRefusals.h"

#include "Support/Error.h"

#include <iterator>

namespace quern {
namespace {

struct Reason {
  std::string_view words; ///< part of the message
  int64_t maxPercent;     ///< maximum percentage of the problems of a set
};

constexpr Reason reasons[] = {
    {"is of f64, which the device lacks", 24},
    {"scales integers in f64, which the device lacks (gemm C9)", 45},
};

} // namespace

bool DeviceRefusals::add(std::string_view message) {
  for (size_t i = 0; i < std::size(reasons); ++i)
    if (message.find(reasons[i].words) != message.npos) {
      ++counts[i];
      return true;
    }
  return false;
}

int64_t DeviceRefusals::total() const {
  int64_t sum = 0;
  for (const auto &[reason, count] : counts)
    sum += count;
  return sum;
}

void DeviceRefusals::print(std::ostream &os) const {
  for (const auto &[reason, count] : counts)
    os << "skipped: a tensor or factor " << reasons[reason].words << ": " << count << '\n';
}

std::vector<std::string> DeviceRefusals::tooMany(int64_t problems) const {
  constexpr int64_t few = 10; // a short run may draw similar problems
  std::vector<std::string> all;
  for (const auto &[reason, count] : counts)
    if (count > few && count * 100 > problems * reasons[reason].maxPercent)
      all.push_back(concat(count, " of ", problems, " problems skipped because something ", reasons[reason].words,
                           ", more than ", reasons[reason].maxPercent, " of a hundred"));
  return all;
}

} // namespace quern
