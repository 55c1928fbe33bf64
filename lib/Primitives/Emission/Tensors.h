//===- Tensors.h - Descriptors as memrefs and indexing maps ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A descriptor becomes a strided memref with one dim for each digit of each logical dim (the block index, then the
// inner blocks), and a map from the logical dims to these digits. Only these two depend on the layout; bodies and loops
// use logical dims.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_EMISSION_TENSORS_H
#define QUERN_PRIMITIVES_EMISSION_TENSORS_H

#include "Desc/Attributes.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace quern::emission {

/// Returns the MLIR type of an element. Integers are signless: the operations on an element determine its sign.
/// Elements of 4 bits are packed two per byte.
mlir::Type elementType(DataType type, mlir::Builder &builder);

/// One digit of a logical index in the physical address: (index floordiv weight) mod size, with `stride` elements
/// between consecutive values. The first digit of a dim is its block index; its size is the number of blocks.
struct Digit {
  int dim = 0;
  int64_t size = 0;
  int64_t stride = 0;
  int64_t weight = 0;
};

/// Returns the digits of a blocked-format descriptor: the block index of every dim, then the inner blocks in their
/// order. Open sizes, which only plain tensors have, are ShapedType::kDynamic (equal to runtimeDim).
llvm::SmallVector<Digit> digitsOf(const TensorDesc &desc);

/// Extent of a tensor's memref within its buffer.
enum class Reach {
  Elements, ///< without the padding that no map reaches: the last dim of aBcd16b with 5 channels has size 5
  Padding,  ///< the whole buffer
};

/// Returns the memref type of `desc`. Static dense row-major memrefs with offset 0 carry no layout.
mlir::MemRefType memrefOf(const TensorDesc &desc, mlir::MLIRContext *context, Reach reach = Reach::Elements);

/// Returns the map from the iteration space to the dims of memrefOf(desc). A dim of size 1 is broadcast over a longer
/// dim of `space` by constant 0.
mlir::AffineMap mapOf(const TensorDesc &desc, llvm::ArrayRef<int64_t> space, mlir::MLIRContext *context,
                      Reach reach = Reach::Elements);

/// Returns the memref type of scales or zero points of `of`: dense row-major over the masked dims, or their groups; one
/// element for mask 0.
mlir::MemRefType quantMemrefOf(const QuantParams &params, const TensorDesc &of, mlir::MLIRContext *context);

/// Returns the map from the iteration space to the dims of quantMemrefOf(params, of), for a nonzero mask.
mlir::AffineMap quantMapOf(const QuantParams &params, const TensorDesc &of, llvm::ArrayRef<int64_t> space,
                           mlir::MLIRContext *context);

} // namespace quern::emission

#endif // QUERN_PRIMITIVES_EMISSION_TENSORS_H
