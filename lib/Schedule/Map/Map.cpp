//===- Map.cpp - The map recipe ------------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Reads, plans and emits. Only the last step writes IR, and it cannot fail.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Map/Map.h"

#include "Schedule/Map/Cpu/Emitter.h"
#include "Schedule/Map/Cpu/Variants.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;

FailureOr<SmallVector<func::FuncOp>> quern::scheduleMap(const Problem &problem, const MapStrategy &strategy,
                                                        std::string *whyNot) {
  std::string reason;
  maps::MapProblem map;
  auto refuse = [&] {
    if (whyNot)
      *whyNot = reason;
    return failure();
  };
  if (failed(maps::readMap(problem, map, reason)))
    return refuse();
  maps::MapPlan plan(map, strategy);
  if (map.hasOpenSizes()) {
    if (failed(maps::planOpen(plan, reason)))
      return refuse();
    return SmallVector<func::FuncOp>{maps::VariantEmitter(plan).emit()};
  }
  maps::planMap(plan);
  return SmallVector<func::FuncOp>{maps::MapEmitter(plan).emit()};
}
