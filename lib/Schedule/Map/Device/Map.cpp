//===- Map.cpp - The map recipe on a device ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Map/Device/Map.h"

#include "Schedule/Map/Device/Emitter.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;

FailureOr<SmallVector<func::FuncOp>> quern::scheduleDeviceMap(const Problem &problem, const DeviceStrategy &strategy,
                                                              std::string *whyNot) {
  maps::MapProblem map;
  std::string reason;
  if (failed(maps::readMap(problem, map, reason, /*ofDevice=*/true))) {
    if (whyNot)
      *whyNot = reason;
    return failure();
  }
  maps::DeviceMapPlan plan(map, strategy);
  maps::planDeviceMap(plan);
  return SmallVector<func::FuncOp>{maps::DeviceMapEmitter(plan).emit()};
}
