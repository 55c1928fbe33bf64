//===- Map.h - The map recipe on a device --------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Supports the ops of Map/Map.h and shares their analysis (Map/Axes.h). Neighboring work-items write neighboring
// elements. If these are not neighbors in the source, the group first reads the source in its own order into group
// memory.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_MAP_DEVICE_MAP_H
#define QUERN_SCHEDULE_MAP_DEVICE_MAP_H

#include "Schedule/Device/Strategy.h"
#include "Schedule/Problem/Match.h"

namespace quern {

/// Matches `problem`, one elementwise op. Emission creates the kernel that Build/Kernel.h describes. An input with the
/// destination's layout and element size may share its memory. A kernel without group memory because the device has too
/// little is a fallback. Returns null with a one-line reason if the function is not a map.
MatchPtr matchDeviceMap(const schedule::Problem &problem, const DeviceStrategy &strategy, std::string &whyNot);

} // namespace quern

#endif // QUERN_SCHEDULE_MAP_DEVICE_MAP_H
