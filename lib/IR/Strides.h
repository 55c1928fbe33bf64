//===- Strides.h - How a memref is laid out -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_IR_STRIDES_H
#define QUERN_IR_STRIDES_H

#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace quern {

/// In elements.
struct Strides {
  llvm::SmallVector<int64_t> strides; ///< one for each dim
  int64_t offset = 0;
};

/// As MemRefType::getStridesAndOffset() has them, none if the layout has no strides. That one finds those of a memref
/// without layout by building and simplifying an affine expression, 10,000 instructions at each call.
std::optional<Strides> readStrides(mlir::MemRefType type);

/// Of a memref that is known to have them.
inline Strides stridesOf(mlir::MemRefType type) { return readStrides(type).value(); }

} // namespace quern

#endif // QUERN_IR_STRIDES_H
