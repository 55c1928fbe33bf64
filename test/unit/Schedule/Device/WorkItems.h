//===- WorkItems.h - A device's kernel as a host function -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_RECIPES_DEVICE_WORKITEMS_H
#define QUERN_TEST_RECIPES_DEVICE_WORKITEMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace quern::test {

/// Attribute of an argument that receives the memory of a group.
constexpr llvm::StringLiteral groupMemoryArgument = "test.group_memory";

/// Converts the scheduled kernel of a device to a host function, of which one call is one work-item: `begin` is its
/// group and `end` its number in the group. The group's memory is passed after the tensors. Exchanges, barriers and
/// accesses become calls of workItemCalls().
void makeWorkItem(mlir::func::FuncOp kernel);

} // namespace quern::test

#endif // QUERN_TEST_RECIPES_DEVICE_WORKITEMS_H
