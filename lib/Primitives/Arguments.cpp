//===- Arguments.cpp - Execution arguments by index and name --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Primitives/Arguments.h"

#include "Desc/Text/TextForm.h"

#include <algorithm>

namespace quern::arg {
namespace {

void appendVector(const std::map<int32_t, QuantParams> &all, const ArgumentInfo &of, int32_t index,
                  std::vector<ArgumentInfo> &arguments) {
  auto found = all.find(of.index);
  if (found == all.end())
    return;
  arguments.push_back({index, nameOf(index), vectorOf(found->second, of.desc), false});
  if (arguments.back().desc.dims[0] != runtimeDim)
    return;
  if (const TensorDesc grid = gridOf(found->second, of.desc); grid.runtimeSizes() > 1)
    arguments.back().grid = std::make_shared<const TensorDesc>(grid);
}

TensorDesc numberOf(DataType type, bool isOnHost) {
  QuantParams one;
  one.dataType = type;
  one.isOnHost = isOnHost;
  return vectorOf(one, {});
}

void appendDropout(const Dropout &dropout, std::vector<ArgumentInfo> &arguments) {
  const auto append = [&](int32_t index, DataType type) {
    arguments.push_back({index, nameOf(index), numberOf(type, dropout.isOnHost), false});
  };
  append(dropoutProbability, DataType::F32);
  append(dropoutSeed, dropout.seedType);
  if (dropout.usesOffset)
    append(dropoutOffset, DataType::S64);
  if (!dropout.mask.isZero())
    arguments.push_back({dropoutMask, nameOf(dropoutMask), dropout.mask, true});
}

} // namespace

std::string nameOf(int32_t index) {
  int32_t plain = index & ~(scalesFlag | zeroPointsFlag);
  return (index & scalesFlag ? "scales." : index & zeroPointsFlag ? "zero_points." : "") + nameOfArgument(plain);
}

int64_t groupAlong(const QuantParams &params, int rank, int dim) {
  int position = dim - rank + static_cast<int>(params.groups.size());
  return position >= 0 && !params.groups.empty() ? params.groups[static_cast<size_t>(position)] : 1;
}

TensorDesc vectorOf(const QuantParams &params, const TensorDesc &of) {
  TensorDesc vector;
  vector.ndims = 1;
  vector.dataType = params.dataType;
  vector.formatKind = params.isOnHost ? FormatKind::HostScalar : FormatKind::Blocked;
  vector.strides[0] = 1;
  int64_t count = 1;
  for (int dim = 0; dim < of.ndims; ++dim)
    if (params.mask >> dim & 1)
      count = count == runtimeDim || of.dims[dim] == runtimeDim
                  ? runtimeDim
                  : count * (of.dims[dim] / groupAlong(params, of.ndims, dim));
  vector.dims[0] = vector.paddedDims[0] = count;
  return vector;
}

TensorDesc gridOf(const QuantParams &params, const TensorDesc &of) {
  TensorDesc grid = vectorOf(params, of);
  grid.ndims = 0;
  for (int dim = 0; dim < of.ndims; ++dim)
    if (params.mask >> dim & 1) {
      const int64_t size = of.dims[dim] == runtimeDim ? runtimeDim : of.dims[dim] / groupAlong(params, of.ndims, dim);
      grid.dims[grid.ndims] = grid.paddedDims[grid.ndims] = size;
      ++grid.ndims;
    }
  grid.ndims = std::max(grid.ndims, 1);
  int64_t stride = 1;
  for (int dim = grid.ndims - 1; dim >= 0; --dim) {
    grid.strides[dim] = stride;
    stride = stride == runtimeDim || grid.dims[dim] == runtimeDim ? runtimeDim : stride * grid.dims[dim];
  }
  return grid;
}

void appendAttributeArguments(const Attributes &attr, std::span<const ArgumentInfo> quantized,
                              std::vector<ArgumentInfo> &arguments) {
  if (attr.scales.empty() && attr.zeroPoints.empty() && attr.postOps.empty() && !attr.dropout.isSet())
    return;
  const std::vector<ArgumentInfo> tensors(quantized.begin(), quantized.end()); // `quantized` may be part of `arguments`
  for (const ArgumentInfo &tensor : tensors)
    appendVector(attr.scales, tensor, scalesOf(tensor.index), arguments);
  for (const ArgumentInfo &tensor : tensors)
    appendVector(attr.zeroPoints, tensor, zeroPointsOf(tensor.index), arguments);
  for (size_t i = 0; i < attr.postOps.size(); ++i) {
    const PostOp &op = attr.postOps[i];
    if (op.kind != PostOp::Kind::Binary)
      continue;
    const ArgumentInfo operand{ofPostOp(i, src1), nameOf(ofPostOp(i, src1)), op.src1, false};
    arguments.push_back(operand);
    if (op.alg == Alg::BinarySelect)
      arguments.push_back({ofPostOp(i, src2), nameOf(ofPostOp(i, src2)), op.src2, false});
    appendVector(attr.scales, operand, scalesOf(operand.index), arguments);
    appendVector(attr.zeroPoints, operand, zeroPointsOf(operand.index), arguments);
  }
  if (attr.dropout.isSet())
    appendDropout(attr.dropout, arguments);
}

void allowInPlace(int32_t output, InPlace equal, std::vector<ArgumentInfo> &arguments) {
  for (ArgumentInfo &argument : arguments)
    if (!argument.isOutput && !(argument.index & (scalesFlag | zeroPointsFlag)) && !isOfDropout(argument.index)) {
      argument.overwrittenBy = output;
      argument.inPlace = equal;
    }
}

} // namespace quern::arg
