//===- Map.cpp - The map recipe on a device ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Map/Device/Map.h"

#include "Schedule/Map/Device/Emitter.h"

using namespace mlir;
using namespace quern;

FailureOr<SmallVector<func::FuncOp>> quern::scheduleDeviceMap(const Problem &problem, const DeviceStrategy &strategy, std::string *whyNot) {
  maps::MapProblem map;
  std::string reason;
  if (failed(maps::readMap(problem, map, reason, /*takesOpen=*/true))) {
    if (whyNot)
      *whyNot = reason;
    return failure();
  }
  // A map lays out what moves. Constants and the indices of loops move nothing.
  const bool readsIndex = llvm::any_of(map.operands, [](const maps::Operand &operand) { return operand.isIndex(); });
  if (map.operands.size() == 1 || readsIndex) {
    if (whyNot)
      *whyNot = readsIndex ? "the body reads the index of a loop" : "nothing is read";
    return failure();
  }
  maps::DeviceMapPlan plan(map, strategy);
  maps::planDeviceMap(plan);
  return SmallVector<func::FuncOp>{maps::DeviceMapEmitter(plan).emit()};
}
