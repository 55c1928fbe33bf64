//===- Places.h - Places in a caller's text, for messages --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_FUNCTIONS_PLACES_H
#define QUERN_FUNCTIONS_PLACES_H

#include "Support/Error.h"

#include "mlir/IR/Operation.h"

#include <string>

namespace quern::functions {

/// What parsed text is called in the locations of operations.
inline constexpr llvm::StringLiteral textName = "<module>";

/// "7:3", "model.mlir:7:3" where the module names a file, "an unknown place".
std::string placeOf(mlir::Location location);
/// "'linalg.generic' at 7:3".
std::string nameAndPlaceOf(mlir::Operation *op);

template <typename... Parts> Error notTaken(mlir::Operation *op, const Parts &...parts) {
  return unimplemented(nameAndPlaceOf(op), " ", parts...);
}

} // namespace quern::functions

#endif // QUERN_FUNCTIONS_PLACES_H
