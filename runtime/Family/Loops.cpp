//===- Loops.cpp - Common loops over the dims of several tensors ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Family/Loops.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace quern {
namespace {

bool isRun(const Loop &outer, const Loop &inner) {
  for (size_t i = 0; i < outer.strides.size(); ++i)
    if (!outer.joined.empty() && outer.joined[i] == 1)
      continue; // its stride is irrelevant
    else if (outer.isBroadcast[i] != inner.isBroadcast[i] ||
             (!outer.isBroadcast[i] && outer.strides[i] != inner.strides[i] * inner.size))
      return false;
  return true;
}

/// Merges adjacent loops that are one run of memory in every tensor.
std::vector<Loop> merged(const std::vector<Loop> &loops) {
  std::vector<Loop> result;
  for (const Loop &loop : loops) {
    const bool mayTake = !result.empty() && (!result.back().isKept || !result.back().joined.empty());
    if (mayTake && !loop.isKept && isRun(result.back(), loop)) {
      Loop &outer = result.back();
      outer.size *= loop.size; // cannot overflow: at most the elements of a tensor
      for (int64_t &size : outer.joined)
        size *= loop.size;
      outer.strides = loop.strides;
    } else {
      result.push_back(loop);
    }
  }
  return result;
}

/// A part of a dim with one stride: a block, or the rest of the dim outside all blocks.
struct Part {
  int64_t begin;  ///< number of elements in the parts inside it
  int64_t stride; ///< in elements
};

/// Returns the parts of a dim, innermost first.
std::vector<Part> partsOf(const TensorDesc &tensor, int32_t dim) {
  std::vector<Part> parts;
  int64_t begin = 1, stride = 1;
  for (int32_t i = tensor.innerBlockCount; i-- > 0;) {
    if (tensor.innerIndices[i] == dim) {
      parts.push_back({begin, stride});
      begin *= tensor.innerBlocks[i];
    }
    stride *= tensor.innerBlocks[i];
  }
  parts.push_back({begin, tensor.strides[dim]});
  return parts;
}

/// Returns the stride between consecutive multiples of `begin` along a dim.
int64_t strideAt(const std::vector<Part> &parts, int64_t begin) {
  const auto part = std::find_if(parts.rbegin(), parts.rend(), [&](const Part &one) { return one.begin <= begin; });
  return part->stride * (begin / part->begin);
}

/// Appends the loops of one dim, split at the blocks of every tensor. Returns false if sizes differ and are not 1, if a
/// kept dim has blocks, or if blocks do not divide one another.
bool appendLoops(std::vector<Loop> &loops, const std::vector<TensorDesc *> &tensors, int32_t dim, bool isKept) {
  int64_t size = 1;
  for (const TensorDesc *tensor : tensors)
    size = std::max(size, tensor->dims[dim]);
  std::vector<std::vector<Part>> parts;
  std::set<int64_t> begins{1}; // number of elements inside each loop
  for (const TensorDesc *tensor : tensors) {
    if (tensor->dims[dim] != size && tensor->dims[dim] != 1)
      return false;
    for (const Part &part : parts.emplace_back(partsOf(*tensor, dim)))
      if (part.begin < size)
        begins.insert(part.begin);
  }
  if (isKept && begins.size() > 1)
    return false;
  for (auto begin = begins.begin(); begin != begins.end(); ++begin) {
    const auto next = std::next(begin);
    const int64_t end = next == begins.end() ? size : *next;
    if (end % *begin)
      return false;
    Loop loop{end / *begin, isKept};
    for (size_t i = 0; i < tensors.size(); ++i) {
      loop.strides.push_back(strideAt(parts[i], *begin));
      loop.isBroadcast.push_back(tensors[i]->dims[dim] != size);
    }
    if (loop.size > 1 || isKept)
      loops.push_back(std::move(loop));
  }
  return true;
}

/// Appends the loops of the dim along which the last tensor concatenates the others: one over blocks, and those inside
/// a block. Returns false if a tensor does not consist of whole blocks.
bool appendJoined(std::vector<Loop> &loops, const std::vector<TensorDesc *> &tensors, int32_t dim) {
  std::vector<TensorDesc> blocks; // one block of each tensor
  int64_t block = 1;
  for (const TensorDesc *tensor : tensors)
    block = std::max(block, partsOf(*tensor, dim).back().begin);
  std::vector<TensorDesc *> inside;
  Loop outside{tensors.back()->dims[dim] / block, /*isKept=*/true};
  for (const TensorDesc *tensor : tensors) {
    if (tensor->dims[dim] % block)
      return false;
    outside.strides.push_back(strideAt(partsOf(*tensor, dim), block));
    outside.joined.push_back(tensor->dims[dim] / block);
    blocks.push_back(*tensor);
    blocks.back().dims[dim] = block;
  }
  outside.isBroadcast.assign(tensors.size(), false);
  for (TensorDesc &tensor : blocks)
    inside.push_back(&tensor);
  loops.push_back(std::move(outside));
  return appendLoops(loops, inside, dim, /*isKept=*/false);
}

} // namespace

bool isOrdinary(const TensorDesc &tensor) {
  return tensor.isBlockedFormat() && !tensor.hasPadding() && !tensor.hasRuntimeDims() && !tensor.hasZeroDim() &&
         tensor.extras.flags == 0;
}

std::optional<std::vector<Loop>> loopsOf(const std::vector<TensorDesc *> &tensors, KeptDim kept) {
  std::vector<Loop> loops;
  const int32_t rank = tensors.back()->ndims;
  for (const TensorDesc *tensor : tensors)
    if (tensor->ndims != rank || !isOrdinary(*tensor))
      return std::nullopt;
  for (int32_t d = 0; d < rank; ++d)
    if (kept.joinsTensors && d == kept.dim ? !appendJoined(loops, tensors, d)
                                           : !appendLoops(loops, tensors, d, d == kept.dim))
      return std::nullopt;
  std::sort(loops.begin(), loops.end(), [](const Loop &a, const Loop &b) {
    return std::tie(a.strides.back(), a.size) > std::tie(b.strides.back(), b.size);
  });
  return merged(loops);
}

Loop emptyLoop(const std::vector<Loop> &loops, size_t tensors) {
  Loop loop;
  loop.strides.assign(tensors, 1);
  loop.isBroadcast.assign(tensors, false);
  for (size_t i = 0; i < tensors; ++i)
    for (const Loop &other : loops)
      loop.strides[i] = std::max(loop.strides[i], other.strides[i] * other.sizeIn(i));
  return loop;
}

} // namespace quern
