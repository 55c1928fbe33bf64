//===- Body.h - The body of a map ----------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_MAP_BODY_H
#define QUERN_SCHEDULE_MAP_BODY_H

#include "Schedule/Build/KernelBuilder.h"
#include "Schedule/Map/Axes.h"

namespace quern::schedule::maps {

/// Emits the body on `elements`, one value for each operand, null if the body does not read it. The values are vectors
/// of `lanes` elements, or scalars if `lanes` is 0. Returns the result.
mlir::Value emitBody(KernelBuilder &builder, const MapProblem &problem, llvm::ArrayRef<mlir::Value> elements,
                     int64_t lanes = 0);

} // namespace quern::schedule::maps

#endif // QUERN_SCHEDULE_MAP_BODY_H
