//===- Steps.h - Locations that name the steps of a computation -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Emitted operations have no source file. The location of each is its mathematical step, such as "exp(x - max)", as the
// metadata of a fused location, and the name of its values, such as "exp". Schedules and lowering keep locations, so
// each instruction can be traced to a step.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_IR_STEPS_H
#define QUERN_IR_STEPS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

namespace quern {

/// Returns a location that names a step. `name` is the name of the values that the step computes; "" if they have none.
inline mlir::Location locationOfStep(mlir::MLIRContext *context, llvm::StringRef name, const llvm::Twine &step) {
  mlir::Location place = mlir::UnknownLoc::get(context);
  if (!name.empty())
    place = mlir::NameLoc::get(mlir::StringAttr::get(context, name), place);
  return mlir::FusedLoc::get(context, {place}, mlir::StringAttr::get(context, step));
}

/// Returns the step that a location names, or an empty string.
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
