//===- Places.cpp - Positions of a concat's sources in its destination ----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Primitives/Concat/Places.h"
#include "Primitives/Arguments.h"

#include "Support/CheckedMath.h"

#include <algorithm>

namespace quern::concatenation {
namespace {

const QuantParams *scalesOf(const Attributes &attr, size_t source) {
  auto found = attr.scales.find(arg::sourceAt(source));
  return found == attr.scales.end() ? nullptr : &found->second;
}

bool shareKernel(const ConcatDesc &concat, const Attributes &attr, const SourcePlace &a, const SourcePlace &b) {
  const QuantParams *scalesA = scalesOf(attr, a.source), *scalesB = scalesOf(attr, b.source);
  return a.inBlock == b.inBlock && !scalesA == !scalesB && (!scalesA || *scalesA == *scalesB) &&
         concat.srcs[a.source] == concat.srcs[b.source];
}

} // namespace

bool hasOpenPlaces(const ConcatDesc &concat) {
  const TensorDesc &dst = concat.dst;
  return runtimeDim == dst.dims[concat.axis] || runtimeDim == dst.strides[concat.axis] || runtimeDim == dst.offset0;
}

std::vector<std::vector<SourcePlace>> kernelsOf(const ConcatDesc &concat, const Attributes &attr) {
  std::vector<std::vector<SourcePlace>> kernels;
  int64_t blocks[maxDims], index = 0;
  concat.dst.blockSizes(blocks);
  const bool hasOpen = hasOpenPlaces(concat);
  for (size_t i = 0; i < concat.srcs.size(); ++i) {
    const TensorDesc &source = concat.srcs[i];
    int64_t block = blocks[concat.axis];
    SourcePlace place{i};
    if (!hasOpen) {
      place.inBlock = index % block;
      place.offset = concat.dst.offset0 + index / block * concat.dst.strides[concat.axis];
      index += source.dims[concat.axis];
    }
    if (source.hasZeroDim())
      continue;
    auto same = std::find_if(kernels.begin(), kernels.end(), [&](const std::vector<SourcePlace> &kernel) {
      return shareKernel(concat, attr, kernel.front(), place);
    });
    (same == kernels.end() ? kernels.emplace_back() : *same).push_back(place);
  }
  return kernels;
}

TensorDesc viewOf(const ConcatDesc &concat, const SourcePlace &place) {
  TensorDesc view = concat.dst;
  int64_t blocks[maxDims];
  view.blockSizes(blocks);
  if (!hasOpenPlaces(concat))
    view.offset0 = 0;
  const int64_t size = concat.srcs[place.source].dims[concat.axis];
  view.dims[concat.axis] = view.paddedDims[concat.axis] = size;
  if (size == runtimeDim)
    return view;
  view.dims[concat.axis] += place.inBlock;
  view.paddedDims[concat.axis] = roundUp(view.dims[concat.axis], blocks[concat.axis]).value();
  return view;
}

} // namespace quern::concatenation
