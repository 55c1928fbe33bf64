//===- Strategy.cpp - Strategies of devices for the recipes ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Targets/Spirv/Strategy.h"

#include <algorithm>

using namespace quern;

DeviceStrategy quern::deviceStrategyFor(const DeviceTraits &device) {
  DeviceStrategy strategy;
  strategy.maxGroup = llvm::bit_floor(static_cast<uint32_t>(device.maxGroupSize)); // groups are halved and doubled
  strategy.subGroupSizes.clear();
  for (int32_t size = 1; size <= std::min<int64_t>(128, strategy.maxGroup); size *= 2)
    if (device.hasSubGroups(size))
      strategy.subGroupSizes.push_back(size);
  if (strategy.subGroupSizes.empty())
    strategy.subGroupSizes.push_back(1);
  strategy.groupMemoryBytes = device.groupMemoryBytes;
  strategy.vectorBytes = device.vectorBytes;
  return strategy;
}
