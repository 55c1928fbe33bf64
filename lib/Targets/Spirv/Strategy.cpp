//===- Strategy.cpp - How problems are scheduled for a device --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Targets/Spirv/Strategy.h"

#include <algorithm>

using namespace mlir;
using namespace quern;

using Kernels = FailureOr<SmallVector<func::FuncOp>>;

namespace {

struct DeviceSchedule {
  const char *name;
  Kernels (*run)(func::FuncOp problem, const DeviceTraits &device, std::string *whyNot);
};

/// The first that takes a problem has it; the last takes them all.
constexpr DeviceSchedule schedules[] = {
    {"map", [](func::FuncOp problem, const DeviceTraits &device,
               std::string *whyNot) { return scheduleDeviceMap(problem, deviceStrategyFor(device), whyNot); }},
    {"rows", [](func::FuncOp problem, const DeviceTraits &device,
                std::string *whyNot) { return scheduleDeviceRows(problem, deviceStrategyFor(device), whyNot); }},
    {"points", [](func::FuncOp problem, const DeviceTraits &device,
                  std::string *whyNot) { return schedulePoints(problem, pointsStrategyFor(device), whyNot); }},
};

} // namespace

DeviceStrategy quern::deviceStrategyFor(const DeviceTraits &device) {
  DeviceStrategy strategy;
  strategy.subGroupSizes.clear();
  for (int32_t size = 1; size <= 128; size *= 2)
    if (device.hasSubGroups(size))
      strategy.subGroupSizes.push_back(size);
  strategy.maxGroup = device.maxGroupSize;
  strategy.groupMemoryBytes = device.groupMemoryBytes;
  return strategy;
}

PointsStrategy quern::pointsStrategyFor(const DeviceTraits &device) {
  PointsStrategy strategy;
  strategy.groupSize = std::min<int64_t>(strategy.groupSize, device.maxGroupSize);
  return strategy;
}

Kernels quern::scheduleForDevice(func::FuncOp problem, const DeviceTraits &device, std::string &whyNot) {
  whyNot.clear();
  for (const DeviceSchedule &schedule : schedules) {
    std::string reason;
    if (Kernels kernels = schedule.run(problem, device, &reason); succeeded(kernels))
      return kernels;
    whyNot += (whyNot.empty() ? "" : "; ") + std::string(schedule.name) + ": " + reason;
  }
  return failure();
}
