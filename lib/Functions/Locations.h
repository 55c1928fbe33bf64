//===- Locations.h - Source locations for messages ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_FUNCTIONS_LOCATIONS_H
#define QUERN_FUNCTIONS_LOCATIONS_H

#include "Support/Error.h"

#include "mlir/IR/Operation.h"

#include <string>

namespace quern::functions {

/// File name in the locations of operations of parsed text.
inline constexpr llvm::StringLiteral textName = "<module>";

/// Returns "7:3", "model.mlir:7:3" if the module names a file, or "an unknown place".
std::string locationOf(mlir::Location location);
/// Returns "'linalg.generic' at 7:3".
std::string nameAndLocationOf(mlir::Operation *op);

template <typename... Parts> Error unsupported(mlir::Operation *op, const Parts &...parts) {
  return unimplemented(nameAndLocationOf(op), " ", parts...);
}

} // namespace quern::functions

#endif // QUERN_FUNCTIONS_LOCATIONS_H
