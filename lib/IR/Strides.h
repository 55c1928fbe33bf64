//===- Strides.h - The strides of a memref --------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_IR_STRIDES_H
#define QUERN_IR_STRIDES_H

#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace quern {

/// Strides and offset in elements.
struct Strides {
  llvm::SmallVector<int64_t> strides; ///< one for each dim
  int64_t offset = 0;
};

/// Returns the result of MemRefType::getStridesAndOffset(), or nothing if the layout has no strides. The strides of an
/// identity layout without dims of size 0 are computed here, because that function builds and simplifies an affine
/// expression, which takes about 10,000 instructions per call.
std::optional<Strides> readStrides(mlir::MemRefType type);

/// Like readStrides(), for a memref that is known to have strides.
inline Strides stridesOf(mlir::MemRefType type) { return readStrides(type).value(); }

} // namespace quern

#endif // QUERN_IR_STRIDES_H
