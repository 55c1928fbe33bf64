//===- Contraction.cpp - The contraction recipe on a device --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Contraction/Device/Contraction.h"

#include "Schedule/Contraction/Device/Emitter.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;

FailureOr<SmallVector<func::FuncOp>>
quern::scheduleDeviceContraction(const Problem &problem, const DeviceStrategy &strategy, std::string *whyNot) {
  std::string reason, first;
  for (auto [mayBeStrided, maySingle] : {std::pair(false, false), std::pair(true, false), std::pair(true, true)}) {
    contractions::Chain chain;
    contractions::DevicePlan plan(chain, strategy);
    contractions::AllowedForms allowed{
        .strided = mayBeStrided, .singleColumn = maySingle, .open = true, .scalars = true};
    if (succeeded(contractions::readChain(problem, chain, allowed, reason)) &&
        succeeded(contractions::planDeviceContraction(plan, reason)))
      return SmallVector<func::FuncOp>{contractions::DeviceEmitter(plan).emit()};
    if (first.empty())
      first = reason;
  }
  if (whyNot)
    *whyNot = first;
  return failure();
}
