//===- RuntimeSizes.cpp - Sizes known only at execution -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Descriptors of memories were validated on creation, so the elements of a tensor do not overlap unless a stride is 0.
//
//===----------------------------------------------------------------------===//
#include "Engine/RuntimeSizes.h"

#include <algorithm>

namespace quern {
namespace {

std::string textOf(int64_t value) { return value == runtimeDim ? "?" : std::to_string(value); }

/// Checks the properties that are known at creation.
Result<void> checkFixedParts(const ArgumentInfo &declared, const TensorDesc &given) {
  const TensorDesc &wanted = declared.desc;
  if (given.dataType != wanted.dataType)
    return invalidArguments(declared.name, " is of type ", nameOf(given.dataType), "; the primitive takes ",
                            nameOf(wanted.dataType));
  if (given.ndims != wanted.ndims)
    return invalidArguments(declared.name, " is of rank ", given.ndims, "; the primitive takes ", wanted.ndims);
  if (!given.isPlain() && wanted.isPlain())
    return invalidArguments(declared.name, " is not plain; an argument with runtime dims must be plain");
  if (!given.isBlockedFormat() || given.innerBlockCount != wanted.innerBlockCount ||
      !std::equal(given.innerBlocks, given.innerBlocks + given.innerBlockCount, wanted.innerBlocks) ||
      !std::equal(given.innerIndices, given.innerIndices + given.innerBlockCount, wanted.innerIndices))
    return invalidArguments(declared.name, " has other inner blocks than the primitive takes");
  // A source may be followed by compensation.
  if (declared.isOutput ? given.extras.flags : given.extras.flags & ExtraScaleAdjust)
    return invalidArguments(declared.name,
                            " has compensation or an adjusted scale; an argument with runtime dims has none");
  int64_t blocks[maxDims];
  given.blockSizes(blocks);
  for (int d = 0; d < given.ndims; ++d)
    if (given.paddedDims[d] % blocks[d] != 0 || given.paddedDims[d] - given.dims[d] >= blocks[d] ||
        given.paddedOffsets[d] != 0)
      return invalidArguments("dim ", d, " of ", declared.name, " is ", given.dims[d], ", padded to ",
                              given.paddedDims[d], "; an argument with runtime dims has no padding",
                              blocks[d] > 1 ? " except in its last block" : "");
  return {};
}

/// Checks a value, which must be known, against the declared one; appends it to `next` if the declared one is open.
Result<void> take(const char *what, int d, const std::string &name, int64_t given, int64_t wanted, int64_t *&next) {
  if (given == runtimeDim)
    return invalidArguments(what, " ", d, " of ", name, " is not known at execution");
  if (wanted == runtimeDim)
    *next++ = given;
  else if (given != wanted)
    return invalidArguments(what, " ", d, " of ", name, " is ", given, "; the primitive takes ", textOf(wanted));
  return {};
}

Result<void> takeSizes(const std::string &name, const TensorDesc &wanted, const TensorDesc &given,
                       std::span<int64_t> sizes) {
  int64_t *next = sizes.data();
  for (int d = 0; d < given.ndims; ++d)
    QUERN_RETURN_IF_ERROR(take("dim", d, name, given.dims[d], wanted.dims[d], next));
  for (int d = 0; d < given.ndims; ++d)
    QUERN_RETURN_IF_ERROR(take("stride", d, name, given.strides[d], wanted.strides[d], next));
  QUERN_RETURN_IF_ERROR(take("offset", 0, name, given.offset0, wanted.offset0, next));
  int64_t blocks[maxDims];
  wanted.blockSizes(blocks);
  for (int d = 0; d < given.ndims; ++d)
    if (wanted.dims[d] == runtimeDim && blocks[d] > 1)
      *next++ = given.paddedDims[d] / blocks[d];
  return {};
}

/// Returns `given`; for scales and zero points in a dense row-major tensor of higher rank, returns the descriptor of
/// the vector of its elements. Problems without open sizes also accept such tensors.
TensorDesc asVector(const ArgumentInfo &declared, const TensorDesc &given) {
  const bool isVector = declared.index & (arg::scalesFlag | arg::zeroPointsFlag);
  if (!isVector || given.ndims <= 1 || !given.isPlain() || given.hasRuntimeDims() || given.hasPadding())
    return given;
  int64_t elements = 1;
  for (int d = given.ndims - 1; d >= 0; --d) {
    if (given.dims[d] != 1 && given.strides[d] != elements)
      return given;
    elements *= given.dims[d];
  }
  TensorDesc vector = given;
  vector.ndims = 1;
  vector.dims[0] = vector.paddedDims[0] = elements;
  vector.strides[0] = 1;
  return vector;
}

/// Returns the position of the tensor that a vector of scales or zero points belongs to.
size_t ownerOf(const VerifiedProblem &problem, size_t vector) {
  const std::vector<ArgumentInfo> &arguments = problem.arguments;
  const int32_t index = arguments[vector].index & ~(arg::scalesFlag | arg::zeroPointsFlag);
  const auto isOwner = [&](const ArgumentInfo &other) { return other.index == index; };
  return static_cast<size_t>(std::find_if(arguments.begin(), arguments.end(), isOwner) - arguments.begin());
}

const QuantParams &paramsOf(const VerifiedProblem &problem, size_t vector) {
  const Attributes &attr = problem.desc.attr;
  return (problem.arguments[vector].index & arg::scalesFlag ? attr.scales : attr.zeroPoints)
      .at(problem.arguments[ownerOf(problem, vector)].index);
}

} // namespace

Result<void> takeRuntimeSizes(const ArgumentInfo &declared, const TensorDesc &tensor, std::span<int64_t> sizes) {
  const TensorDesc given = asVector(declared, tensor);
  QUERN_RETURN_IF_ERROR(checkFixedParts(declared, given));
  QUERN_RETURN_IF_ERROR(takeSizes(declared.name, declared.desc, given, sizes));
  if (declared.isOutput && given.hasBroadcast())
    return invalidArguments(declared.name, " has stride 0 over a dim greater than 1; only a source may broadcast");
  return {};
}

Result<void> takeGridSizes(const VerifiedProblem &problem, size_t i, std::span<const TensorDesc *const> given,
                           std::span<int64_t> sizes) {
  const ArgumentInfo &vector = problem.arguments[i];
  const TensorDesc flat = asVector(vector, *given[i]);
  QUERN_RETURN_IF_ERROR(checkFixedParts(vector, flat));
  if (flat.strides[0] != 1 || flat.offset0 != 0)
    return invalidArguments(vector.name, " has stride ", flat.strides[0], " and offset ", flat.offset0,
                            "; it must be dense");
  if (!problem.gridAt)
    return takeSizes(vector.name, *vector.grid, arg::gridOf(paramsOf(problem, i), *given[ownerOf(problem, i)]), sizes);
  Result<TensorDesc> grid = problem.gridAt(problem, given);
  return grid ? takeSizes(vector.name, *vector.grid, *grid, sizes) : grid.takeError();
}

Result<void> checkSharedDims(const VerifiedProblem &problem, std::span<const TensorDesc *const> given) {
  const std::vector<ArgumentInfo> &arguments = problem.arguments;
  for (size_t i = 1; i < arguments.size(); ++i) {
    const bool isVector = arguments[i].index & (arg::scalesFlag | arg::zeroPointsFlag); // checkVectors() checks these
    if (given[i]->ndims != given[0]->ndims || isVector)
      continue;
    for (int d = 0; d < given[i]->ndims; ++d) {
      bool isOpen = arguments[i].desc.dims[d] == runtimeDim;
      if (isOpen && given[i]->dims[d] != given[0]->dims[d])
        return invalidArguments("dim ", d, " of ", arguments[i].name, " is ", given[i]->dims[d], ", of ",
                                arguments[0].name, " ", given[0]->dims[d],
                                "; runtime dims must be the same in all tensors");
    }
  }
  return {};
}

Result<void> checkVectors(const VerifiedProblem &problem, std::span<const TensorDesc *const> given) {
  const std::vector<ArgumentInfo> &arguments = problem.arguments;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const int32_t flag = arguments[i].index & (arg::scalesFlag | arg::zeroPointsFlag);
    if (flag == 0 || arguments[i].desc.dims[0] != runtimeDim)
      continue;
    const size_t owner = ownerOf(problem, i);
    const int64_t wanted = arg::vectorOf(paramsOf(problem, i), *given[owner]).dims[0];
    if (const int64_t values = given[i]->elements(); values != wanted)
      return invalidArguments(arguments[i].name, " has ", values, " values; ", arguments[owner].name, " needs ",
                              wanted);
  }
  return {};
}

} // namespace quern
