//===- Steps.h - Locations that name what is computed ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What emission makes comes from no file: its location is the mathematical step, as "exp(x - max)", the metadata of a
// fused location, and what its values are called, as "exp". Schedules and lowering keep locations, so that each
// instruction leads back to a step.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_IR_STEPS_H
#define QUERN_IR_STEPS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

namespace quern {

/// `name`: of the values that the step makes; "" where there is nothing to say.
inline mlir::Location locationOfStep(mlir::MLIRContext *context, llvm::StringRef name, const llvm::Twine &step) {
  mlir::Location place = mlir::UnknownLoc::get(context);
  if (!name.empty())
    place = mlir::NameLoc::get(mlir::StringAttr::get(context, name), place);
  return mlir::FusedLoc::get(context, {place}, mlir::StringAttr::get(context, step));
}

/// The step that a location names, or nothing.
inline llvm::StringRef stepOf(mlir::Location location) {
  llvm::StringRef step;
  location->walk([&](mlir::Location part) {
    if (auto fused = llvm::dyn_cast<mlir::FusedLoc>(part))
      if (auto text = llvm::dyn_cast_or_null<mlir::StringAttr>(fused.getMetadata()); text && step.empty())
        step = text.getValue();
    return mlir::WalkResult::advance();
  });
  return step;
}

} // namespace quern

#endif // QUERN_IR_STEPS_H
