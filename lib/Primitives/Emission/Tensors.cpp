//===- Tensors.cpp - Descriptors as memrefs and indexing maps -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// If one block holds a whole dim, its block index is 0 and the index inside is the dim itself, so the tensor looks
// plain.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Emission/Tensors.h"

#include "IR/Strides.h"
#include "Primitives/Arguments.h"
#include "Support/CheckedMath.h"

using namespace mlir;
using namespace quern;
using namespace quern::emission;

static_assert(ShapedType::kDynamic == runtimeDim, "sizes and strides pass unchanged");

Type emission::elementType(DataType type, Builder &builder) {
  switch (type) {
  case DataType::F64:
    return builder.getF64Type();
  case DataType::BF16:
    return builder.getBF16Type();
  case DataType::F16:
    return builder.getF16Type();
  case DataType::F8E5M2:
    return Float8E5M2Type::get(builder.getContext());
  case DataType::F8E4M3:
    return Float8E4M3FNType::get(builder.getContext());
  case DataType::E8M0:
    return Float8E8M0FNUType::get(builder.getContext());
  case DataType::F4E2M1:
    return Float4E2M1FNType::get(builder.getContext());
  case DataType::S4:
  case DataType::U4:
    return builder.getIntegerType(4);
  case DataType::S8:
  case DataType::U8:
    return builder.getI8Type();
  case DataType::S32:
    return builder.getI32Type();
  case DataType::S64:
    return builder.getI64Type();
  default:
    return builder.getF32Type();
  }
}

SmallVector<Digit> emission::digitsOf(const TensorDesc &desc) {
  int64_t blocks[maxDims];
  desc.blockSizes(blocks);
  SmallVector<Digit> digits(desc.ndims + desc.innerBlockCount);
  for (int d = 0; d < desc.ndims; ++d) {
    int64_t padded = desc.paddedDims[d];
    digits[d] = {d, padded == runtimeDim ? padded : ceilDivide(padded, blocks[d]), desc.strides[d], blocks[d]};
  }
  int64_t stride = 1;
  SmallVector<int64_t, maxDims> weights(desc.ndims, 1);
  for (int b = desc.innerBlockCount - 1; b >= 0; --b) {
    int dim = desc.innerIndices[b];
    digits[desc.ndims + b] = {dim, desc.innerBlocks[b], stride, weights[dim]};
    weights[dim] *= desc.innerBlocks[b];
    stride *= desc.innerBlocks[b];
  }
  return digits;
}

namespace {

/// Returns the number of values of a digit that elements use. A runtime dim has one digit, which has all values of the
/// dim.
int64_t reachedSize(const Digit &digit, int64_t dim) {
  if (dim == runtimeDim)
    return runtimeDim;
  int64_t needed = (dim + digit.weight - 1) / digit.weight;
  return std::min(needed, digit.size);
}

/// Returns the index expression of a digit whose memory includes padding. It is never a plain dim, because that would
/// determine the extent of the loop, which ends before the padding.
AffineExpr paddedDigitExpr(const Digit &digit, int64_t padded, MLIRContext *context) {
  if (digit.size == 1)
    return getAffineConstantExpr(0, context);
  AffineExpr shifted = getAffineDimExpr(digit.dim, context).floorDiv(digit.weight);
  bool isOutermost = digit.weight > 1 && digit.weight * digit.size == padded;
  return isOutermost ? shifted : shifted % digit.size;
}

AffineExpr digitExpr(const Digit &digit, int64_t dim, MLIRContext *context) {
  AffineExpr index = getAffineDimExpr(digit.dim, context);
  if (dim == runtimeDim)
    return index;
  if (digit.weight > 1 && dim <= digit.weight)
    return getAffineConstantExpr(0, context);
  AffineExpr shifted = index.floorDiv(digit.weight);
  return dim > digit.size * digit.weight ? shifted % digit.size : shifted;
}

bool broadcasts(const TensorDesc &desc, int dim, ArrayRef<int64_t> space) {
  return desc.dims[dim] == 1 && space[dim] != 1;
}

} // namespace

MemRefType emission::memrefOf(const TensorDesc &desc, MLIRContext *context, Reach reach) {
  Builder builder(context);
  Type element = elementType(desc.dataType, builder);
  SmallVector<int64_t> shape, strides;
  for (const Digit &digit : digitsOf(desc)) {
    const bool isPadded = reach == Reach::Padding && desc.paddedDims[digit.dim] != desc.dims[digit.dim];
    shape.push_back(isPadded ? digit.size : reachedSize(digit, desc.dims[digit.dim]));
    strides.push_back(digit.stride);
  }
  auto dense = MemRefType::get(shape, element);
  auto [denseStrides, denseOffset] = stridesOf(dense);
  bool isStatic = dense.hasStaticShape();
  if (isStatic && desc.offset0 == denseOffset && strides == denseStrides)
    return dense;
  return MemRefType::get(shape, element, StridedLayoutAttr::get(context, desc.offset0, strides));
}

AffineMap emission::mapOf(const TensorDesc &desc, ArrayRef<int64_t> space, MLIRContext *context, Reach reach) {
  SmallVector<AffineExpr> results;
  for (const Digit &digit : digitsOf(desc)) {
    int64_t dim = desc.dims[digit.dim], padded = desc.paddedDims[digit.dim];
    if (broadcasts(desc, digit.dim, space))
      results.push_back(getAffineConstantExpr(0, context));
    else if (reach == Reach::Padding && dim < padded)
      results.push_back(paddedDigitExpr(digit, padded, context));
    else
      results.push_back(digitExpr(digit, dim, context));
  }
  return AffineMap::get(space.size(), 0, results, context);
}

MemRefType emission::quantMemrefOf(const QuantParams &params, const TensorDesc &of, MLIRContext *context) {
  Builder builder(context);
  const TensorDesc grid = arg::gridOf(params, of);
  const ArrayRef<int64_t> shape(grid.dims, grid.ndims), strides(grid.strides, grid.ndims);
  auto dense = MemRefType::get(shape, elementType(params.dataType, builder));
  if (!llvm::is_contained(strides, runtimeDim))
    return dense;
  return MemRefType::get(shape, dense.getElementType(), StridedLayoutAttr::get(context, 0, strides));
}

AffineMap emission::quantMapOf(const QuantParams &params, const TensorDesc &of, ArrayRef<int64_t> space,
                               MLIRContext *context) {
  SmallVector<AffineExpr> results;
  for (int d = 0; d < of.ndims; ++d)
    if (params.mask >> d & 1)
      results.push_back(broadcasts(of, d, space)
                            ? getAffineConstantExpr(0, context)
                            : getAffineDimExpr(d, context).floorDiv(arg::groupAlong(params, of.ndims, d)));
  return AffineMap::get(space.size(), 0, results, context);
}
