//===- TensorOps.cpp - Sub-tensors, reshapes and permutations -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// These functions describe views of the same buffer and move no data; views that a descriptor cannot express are
// refused.
//
//===----------------------------------------------------------------------===//
#include "Desc/Tensor/Layout.h"

namespace quern {

using layout::textOfDims;

Result<TensorDesc> TensorDesc::submemory(std::span<const int64_t> subDims, std::span<const int64_t> offsets) const {
  if (subDims.size() != static_cast<size_t>(ndims) || offsets.size() != subDims.size())
    return invalidArguments("a sub-tensor of a tensor of rank ", ndims, " has ", subDims.size(), " dims and ",
                            offsets.size(), " offsets");
  if (!isBlockedFormat())
    return unimplemented("a tensor without a layout has no sub-tensors");
  if (hasRuntimeDims())
    return unimplemented("a tensor with runtime dims has no sub-tensors");
  if (extras.flags != 0)
    return unimplemented("a tensor with compensation has no sub-tensors; its flags are ", extras.flags);
  int64_t blocks[maxDims];
  blockSizes(blocks);
  TensorDesc sub = *this;
  for (int d = 0; d < ndims; ++d) {
    int64_t size = subDims[d], offset = offsets[d];
    if (size < 0 || offset < 0 || offset > dims[d] || size > dims[d] - offset)
      return invalidArguments("sub-tensor [", offset, ", ", offset, " + ", size, ") leaves dim ", d, " of size ",
                              dims[d]);
    bool reachesEnd = offset + size == dims[d];
    if (offset % blocks[d] != 0)
      return unimplemented("offset ", offset, " of dim ", d, " is not a multiple of its block ", blocks[d]);
    if (size % blocks[d] != 0 && size > blocks[d] && !reachesEnd)
      return unimplemented("size ", size, " of dim ", d, " is not a multiple of its block ", blocks[d],
                           " and does not reach the end");
    sub.dims[d] = size;
    // Part of a block is not padded to a whole block, because the rest of the block belongs to the parent.
    sub.paddedDims[d] = reachesEnd ? paddedDims[d] - offset : size;
    sub.offset0 += offset / blocks[d] * strides[d];
  }
  QUERN_RETURN_IF_ERROR(sub.validate());
  return sub;
}

Result<TensorDesc> TensorDesc::permuteAxes(std::span<const int> permutation) const {
  if (isZero() || permutation.size() != static_cast<size_t>(ndims))
    return invalidArguments("a permutation of ", permutation.size(), " axes is given for a tensor of rank ", ndims);
  bool seen[maxDims] = {};
  for (int axis : permutation) {
    if (axis < 0 || axis >= ndims || seen[axis])
      return invalidArguments("axis ", axis, " of the permutation is repeated or not within 0 to ", ndims - 1);
    seen[axis] = true;
  }
  if (isSparse() || hasRuntimeDims() || extras.flags != 0)
    return invalidArguments("axes of a ",
                            isSparse()         ? "sparse tensor"
                            : hasRuntimeDims() ? "tensor with runtime dims"
                                               : "tensor with compensation",
                            " cannot be permuted");
  TensorDesc out = *this;
  for (int d = 0; d < ndims; ++d) {
    int to = permutation[d];
    out.dims[to] = dims[d];
    out.paddedDims[to] = paddedDims[d];
    out.paddedOffsets[to] = paddedOffsets[d];
    out.strides[to] = strides[d];
  }
  for (int b = 0; b < innerBlockCount; ++b)
    out.innerIndices[b] = permutation[innerIndices[b]];
  return out;
}

namespace {

/// Splits and merges dims from the innermost outward, in the smallest groups that have equal volumes in both shapes.
class Reshaper {
public:
  Reshaper(const TensorDesc &from, TensorDesc &to) : from(from), to(to), in(from.ndims), out(to.ndims) {
    from.blockSizes(blocks);
    layout::outerExtents(from, extents);
    rightStride = layout::innerElements(from).value();
  }

  Result<void> run() {
    while (in > 0 || out > 0) {
      bool isOneIn = in > 0 && from.dims[in - 1] == 1, isOneOut = out > 0 && to.dims[out - 1] == 1;
      if (in > 0 && out > 0 && from.dims[in - 1] == to.dims[out - 1])
        keep();
      else if (isOneIn && extents[in - 1] == 1 && blocks[in - 1] == 1)
        --in;
      else if (isOneOut)
        addOne();
      else if (Result<void> done = rearrange(); !done)
        return done;
    }
    return {};
  }

private:
  void keep() {
    --in, --out;
    to.paddedDims[out] = from.paddedDims[in];
    to.paddedOffsets[out] = from.paddedOffsets[in];
    to.strides[out] = from.strides[in];
    for (int b = 0; b < from.innerBlockCount; ++b)
      if (from.innerIndices[b] == in)
        to.innerIndices[b] = out;
    setRight(to.strides[out], extents[in]);
  }

  /// Gives a new dim of size 1 the stride that it has in a dense layout.
  void addOne() {
    --out;
    CheckedInt stride = CheckedInt(rightStride) * CheckedInt(rightExtent);
    to.strides[out] = stride.overflowed() ? 1 : stride.value();
    setRight(to.strides[out], 1);
  }

  void setRight(int64_t stride, int64_t extent) {
    rightStride = stride;
    rightExtent = extent;
  }

  Result<void> rearrange() {
    int inEnd = in, outEnd = out;
    CheckedInt inVolume = 1, outVolume = 1;
    do {
      bool growIn = in == inEnd || (out != outEnd && inVolume.value() < outVolume.value());
      if ((growIn ? in : out) == 0)
        return invalidArguments("dims ", textOfDims(from.shape()), " cannot be regrouped into ",
                                textOfDims(to.shape()));
      growIn ? inVolume *= from.dims[--in] : outVolume *= to.dims[--out];
    } while (out == outEnd || inVolume.value() != outVolume.value());
    int64_t stride = 0;
    int inner = -1; // the next inner dim of the group with more than one element
    for (int d = inEnd - 1; d >= in; --d) {
      if (blocks[d] != 1 || from.paddedDims[d] != from.dims[d])
        return invalidArguments("dim ", d, " is ", blocks[d] != 1 ? "blocked" : "padded",
                                " and cannot be split or merged");
      if (from.dims[d] == 1)
        continue;
      if (inner >= 0 && from.strides[d] != from.strides[inner] * from.dims[inner])
        return invalidArguments("dims ", d, " and ", inner, " are not dense (strides ", from.strides[d], " and ",
                                from.strides[inner], ") and cannot be merged");
      if (inner < 0)
        stride = from.strides[d];
      inner = d;
    }
    for (int d = outEnd - 1; d >= out; --d) {
      to.strides[d] = stride;
      stride *= to.dims[d];
    }
    setRight(to.strides[out], to.dims[out]);
    return {};
  }

  const TensorDesc &from;
  TensorDesc &to;
  int in, out; ///< the dims from these on are done
  int64_t blocks[maxDims], extents[maxDims];
  int64_t rightStride, rightExtent = 1; ///< stride and extent of the new dim set last
};

} // namespace

Result<TensorDesc> TensorDesc::reshape(std::span<const int64_t> newDims) const {
  if (isZero() || isSparse() || newDims.empty() || hasRuntimeDims() || extras.flags != 0)
    return invalidArguments(
        "a tensor cannot be reshaped if it is absent or sparse or has runtime dims or compensation, nor to rank 0");
  QUERN_ASSIGN_OR_RETURN(TensorDesc started, layout::startBlocked(newDims, dataType));
  TensorDesc out = started;
  CheckedInt count = 1;
  for (int64_t dim : newDims)
    count *= dim;
  if (out.hasRuntimeDims() || count.overflowed() || count.value() != elements())
    return invalidArguments("dims ", textOfDims(shape()), " cannot become ", textOfDims(newDims), ": ", elements(),
                            " elements are needed");
  if (isAny()) {
    out.formatKind = FormatKind::Any;
    return out;
  }
  if (hasZeroDim())
    return dense(newDims, dataType);
  out.offset0 = offset0;
  out.innerBlockCount = innerBlockCount;
  std::copy(innerBlocks, innerBlocks + maxDims, out.innerBlocks);
  std::copy(innerIndices, innerIndices + maxDims, out.innerIndices);
  QUERN_RETURN_IF_ERROR(Reshaper(*this, out).run());
  QUERN_RETURN_IF_ERROR(out.validate());
  return out;
}

} // namespace quern
