//===- Contraction.h - The contraction recipe on a device ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Schedules the same products and elementwise ops as Contraction.h, with the same analysis (Contraction/Chain.h).
// Columns map to the lanes of a sub-group, a block of rows to each work-item. Data that several sub-groups read is
// shared through group memory.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_DEVICE_CONTRACTION_H
#define QUERN_SCHEDULE_CONTRACTION_DEVICE_CONTRACTION_H

#include "Schedule/Device/Strategy.h"
#include "Schedule/Problem/Match.h"

namespace quern {

/// Matches `problem`. Emission creates the kernel that Build/Kernel.h describes. An argument that only elementwise ops
/// read may share the memory of one of the same type and layout that they write. A reduction of one row, and a kernel
/// without group memory because the device has too little, are fallbacks. Returns null with a one-line reason if the
/// problem does not match.
MatchPtr matchDeviceContraction(const schedule::Problem &problem, const DeviceStrategy &strategy, std::string &whyNot);

} // namespace quern

#endif // QUERN_SCHEDULE_CONTRACTION_DEVICE_CONTRACTION_H
