//===- Rows.cpp - The rows recipe on a device ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Device/Rows.h"

#include "Schedule/Rows/Device/Emitter.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;

FailureOr<SmallVector<func::FuncOp>> quern::scheduleDeviceRows(const Problem &problem, const DeviceStrategy &strategy,
                                                               std::string *whyNot) {
  std::string reason;
  rows::RowChain chain;
  rows::DeviceRowPlan plan(chain, strategy);
  if (failed(rows::matchRowChain(problem, chain, reason)) || failed(rows::planDeviceRows(plan, reason))) {
    if (whyNot)
      *whyNot = reason;
    return failure();
  }
  return SmallVector<func::FuncOp>{rows::DeviceRowEmitter(plan).emit(problem.function)};
}
