//===- WorkItems.h - A device's kernel as a function of the host ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_RECIPES_DEVICE_WORKITEMS_H
#define QUERN_TEST_RECIPES_DEVICE_WORKITEMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace quern::test {

/// Of an argument that takes a group's memory.
constexpr llvm::StringLiteral groupMemoryArgument = "test.group_memory";

/// Makes a scheduled kernel of a device one of the host of which a call is one work-item: `begin` is its group and
/// `end` its number there. The memory of a group is given behind the tensors. What a device does between work-items,
/// and every access, calls workItemCalls().
void makeWorkItem(mlir::func::FuncOp kernel);

} // namespace quern::test

#endif // QUERN_TEST_RECIPES_DEVICE_WORKITEMS_H
