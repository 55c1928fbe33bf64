//===- Strategy.h - Strategies of devices for the recipes -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One strategy for all recipes, computed from the device's limits. A pure function of the target.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_SPIRV_STRATEGY_H
#define QUERN_TARGETS_SPIRV_STRATEGY_H

#include "Desc/Target.h"
#include "Schedule/Contraction/Device/Contraction.h"
#include "Schedule/Map/Device/Map.h"
#include "Schedule/Rows/Device/Rows.h"

namespace quern {

DeviceStrategy deviceStrategyFor(const DeviceTraits &device);

} // namespace quern

#endif // QUERN_TARGETS_SPIRV_STRATEGY_H
