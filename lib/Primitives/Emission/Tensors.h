//===- Tensors.h - Descriptors as memrefs and indexing maps ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A descriptor becomes two things: a strided memref with one dim for each digit of each logical dim (the block
// index, then what is inside), and the map from the logical dims to those digits. Layout is in the two alone; bodies
// and loops see logical dims.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_EMISSION_TENSORS_H
#define QUERN_PRIMITIVES_EMISSION_TENSORS_H

#include "Desc/Attributes.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace quern::emission {

/// Integers are signless: what is done with an element says its sign. Elements of 4 bits lie two to a byte.
mlir::Type elementType(DataType type, mlir::Builder &builder);

/// One place of a logical dim's index in the physical address: (index floordiv weight) mod size, `stride` elements
/// apart. The first digit of a dim is its block index, whose size is the number of blocks.
struct Digit {
  int dim = 0;
  int64_t size = 0;
  int64_t stride = 0;
  int64_t weight = 0;
};

/// The digits of a blocked-format descriptor: the block index of every dim, then the inner blocks in their order. A
/// size is ShapedType::kDynamic (which is runtimeDim) where it is given at execution; only plain tensors have such.
llvm::SmallVector<Digit> digitsOf(const TensorDesc &desc);

/// How much of its buffer the memref of a tensor has.
enum class Reach {
  Elements, ///< not the padding that no map reaches: dim 3 of aBcd16b with 5 channels is 5 long
  Padding,  ///< all of it
};

/// The elements of `desc`, or its padding, too. Dense row-major memrefs carry no layout.
mlir::MemRefType memrefOf(const TensorDesc &desc, mlir::MLIRContext *context, Reach reach = Reach::Elements);

/// From the iteration space's dims to those of memrefOf(desc). A dim of size 1 over a longer one of
/// `space` broadcasts: constant 0.
mlir::AffineMap mapOf(const TensorDesc &desc, llvm::ArrayRef<int64_t> space, mlir::MLIRContext *context,
                      Reach reach = Reach::Elements);

/// Scales or zero points of `of`: dense row-major over the masked dims, or their groups; one element for mask 0.
mlir::MemRefType quantMemrefOf(const QuantParams &params, const TensorDesc &of, mlir::MLIRContext *context);

/// From the iteration space's dims to those of quantMemrefOf(params, of), for a mask that is not 0.
mlir::AffineMap quantMapOf(const QuantParams &params, const TensorDesc &of, llvm::ArrayRef<int64_t> space,
                           mlir::MLIRContext *context);

} // namespace quern::emission

#endif // QUERN_PRIMITIVES_EMISSION_TENSORS_H
