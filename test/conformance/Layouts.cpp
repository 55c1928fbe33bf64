//===- Layouts.cpp - Random layouts of one tensor -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Layouts.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace quern {

TensorDesc legalLayout(Result<TensorDesc> desc) {
  if (desc)
    return *desc;
  std::fprintf(stderr, "conformance: the generator drew an illegal layout: %s\n", desc.error().message.c_str());
  std::exit(4);
}

int64_t drawExtent(Random &random, int64_t max) {
  int64_t extent;
  switch (random.between(0, 5)) {
  case 0:
    extent = random.between(1, 4);
    break;
  case 1:
    extent = random.pick<int64_t>({4, 8, 16, 32, 64, 128, 256}) + random.between(-1, 1);
    break;
  case 2:
    extent = random.between(1, 70);
    break;
  case 3:
    extent = random.pick<int64_t>({512, 1000, 1024, 2048, 4096, 16384}) + random.between(-1, 1);
    break;
  case 4:
    extent = random.between(1, 2000);
    break;
  default:
    extent = random.pick<int64_t>({1, 2, 3, 5, 7, 10, 19, 21, 33, 100});
  }
  return std::clamp<int64_t>(extent, 1, std::max<int64_t>(max, 1));
}

TensorDesc drawPlain(Random &random, const Dims &dims, DataType type, PlainDraw draw) {
  std::vector<size_t> order(dims.size()); // from the innermost dim outward
  std::iota(order.rbegin(), order.rend(), 0);
  if (draw.permuted)
    random.shuffle(order);
  Dims strides(dims.size());
  int64_t stride = draw.gaps && random.oneIn(4) ? random.between(2, 3) : 1;
  size_t repeated =
      draw.broadcast ? static_cast<size_t>(random.between(0, static_cast<int64_t>(dims.size()) - 1)) : dims.size();
  for (size_t dim : order) {
    strides[dim] = dim == repeated ? 0 : stride;
    stride *= dim == repeated ? 1 : std::max<int64_t>(dims[dim], 1);
    if (draw.gaps && random.oneIn(2))
      stride += random.between(1, 5);
  }
  TensorDesc desc = legalLayout(TensorDesc::fromStrides(dims, type, strides));
  if (draw.gaps && random.oneIn(2))
    desc.offset0 = random.between(1, 40);
  return desc;
}

TensorDesc drawBlocked(Random &random, const Dims &dims, DataType type, const Blocks &blocks) {
  std::vector<int> order(dims.size());
  std::iota(order.begin(), order.end(), 0);
  if (random.oneIn(3))
    random.shuffle(order);
  std::string tag;
  for (int dim : order) {
    bool isBlocked = std::any_of(blocks.begin(), blocks.end(), [&](const auto &block) { return block.first == dim; });
    tag += static_cast<char>((isBlocked ? 'A' : 'a') + dim);
  }
  for (const auto &[dim, size] : blocks)
    tag += std::to_string(size) + static_cast<char>('a' + dim);
  return legalLayout(TensorDesc::fromTag(dims, type, tag));
}

int64_t drawBlock(Random &random) { return random.pick<int64_t>({2, 4, 8, 8, 16, 16, 16, 32, 64, 3}); }

int drawDim(Random &random, const Dims &dims) {
  return static_cast<int>(random.between(0, static_cast<int64_t>(dims.size()) - 1));
}

Blocks drawSeveralBlocks(Random &random, int axis, int other) {
  int64_t small = random.pick<int64_t>({2, 4, 8}), large = random.pick<int64_t>({4, 8, 16});
  switch (random.between(0, 3)) {
  case 0:
    return {{axis, large}, {other, small}};
  case 1:
    return {{other, small}, {axis, large}};
  case 2: // two levels of one dim around another, like weights
    return {{axis, small}, {other, large}, {axis, random.pick<int64_t>({2, 4})}};
  default:
    return {{other, small}, {axis, 4}, {other, 2}};
  }
}

TensorDesc drawPadded(Random &random, const Dims &dims, DataType type) {
  int dim = drawDim(random, dims);
  if (random.oneIn(6)) {
    Dims padded = dims;
    padded[static_cast<size_t>(dim)] += random.between(1, 9);
    TensorDesc desc = drawPlain(random, padded, type, {random.oneIn(2), false, false});
    std::copy(dims.begin(), dims.end(), desc.dims);
    return desc;
  }
  int64_t extent = dims[static_cast<size_t>(dim)], block = 2;
  for (int tries = 0; extent % block == 0 && tries < 20; ++tries)
    block = drawBlock(random);
  if (extent % block == 0)
    block = extent + 1; // also of 0, which is padded to nothing
  Blocks blocks = {{dim, block}};
  if (random.oneIn(3))
    blocks.insert(blocks.begin(), {drawDim(random, dims), random.pick<int64_t>({2, 4, 8})});
  return drawBlocked(random, dims, type, blocks);
}

TensorDesc drawSubmemory(Random &random, const Dims &dims, DataType type, const Blocks &blocks) {
  constexpr int64_t maxTimes = 64; // size of the parent, relative to the part
  int64_t grown = 1;
  Dims whole = dims, offsets(dims.size(), 0);
  for (size_t d = 0; d < dims.size(); ++d) {
    int64_t block = 1;
    for (const auto &[dim, size] : blocks)
      block *= static_cast<size_t>(dim) == d ? size : 1;
    bool mayEndEarly = dims[d] % block == 0 || dims[d] <= block;
    offsets[d] = random.oneIn(3) ? block * random.between(1, 2) : 0;
    whole[d] = offsets[d] + dims[d] + (mayEndEarly && random.oneIn(3) ? random.between(1, 5) : 0);
    const int64_t times = (whole[d] + block) / std::max<int64_t>(dims[d], block); // a lower bound
    if (times * grown > maxTimes) { // else many dims of 1 would become gigabytes
      offsets[d] = 0;
      whole[d] = dims[d];
    } else {
      grown *= times;
    }
  }
  TensorDesc parent = blocks.empty() ? drawPlain(random, whole, type, {random.oneIn(3), false, false})
                                     : drawBlocked(random, whole, type, blocks);
  return legalLayout(parent.submemory(dims, offsets));
}

TensorDesc drawOperand(Random &random, const Dims &dims, DataType type) {
  int axis = drawDim(random, dims);
  switch (random.between(0, 7)) {
  case 0:
    return drawBlocked(random, dims, type, drawSeveralBlocks(random, axis, drawDim(random, dims)));
  case 1:
    return drawPadded(random, dims, type);
  case 2:
    return drawPlain(random, dims, type, {true, random.oneIn(2), false});
  case 3:
    return drawPlain(random, dims, type, {random.oneIn(3), false, true});
  default:
    return drawPlain(random, dims, type, {});
  }
}

RuntimeTensor drawRuntimeTensor(Random &random, const Dims &dims, const std::vector<bool> &isOpen, DataType type,
                                const std::string &tag, bool hasGaps) {
  Dims openDims = dims;
  for (size_t d = 0; d < dims.size(); ++d)
    openDims[d] = isOpen[d] ? runtimeDim : dims[d];
  RuntimeTensor drawn{legalLayout(TensorDesc::fromTag(openDims, type, tag)),
                      legalLayout(TensorDesc::fromTag(dims, type, tag))};
  if (hasGaps) {
    drawn.actual = drawPlain(random, dims, type, {true, true, false});
    drawn.open = legalLayout(TensorDesc::fromStrides(openDims, type, drawn.actual.outerStrides()));
    for (size_t d = 0; d < dims.size(); ++d)
      drawn.open.strides[d] = random.oneIn(2) ? runtimeDim : drawn.open.strides[d];
  }
  if (random.oneIn(6))
    drawn.actual.offset0 = random.between(1, 40);
  drawn.open.offset0 = drawn.actual.offset0 && random.oneIn(2) ? runtimeDim : drawn.actual.offset0;
  return drawn;
}

RuntimeTensors drawRuntimeTensors(Random &random, const Dims &dims, const std::vector<DataType> &types) {
  RuntimeTensors drawn;
  drawn.isOpen.assign(dims.size(), false);
  for (size_t d = 0; d < dims.size(); ++d)
    drawn.isOpen[d] = random.oneIn(2);
  drawn.isOpen[static_cast<size_t>(drawDim(random, dims))] = true;
  std::string tag;
  for (size_t d = 0; d < dims.size(); ++d)
    tag += static_cast<char>('a' + d);
  bool hasGaps = random.oneIn(4), isSame = random.oneIn(2);
  for (DataType type : types) {
    if (!isSame && random.oneIn(2)) {
      std::vector<char> letters(tag.begin(), tag.end());
      random.shuffle(letters);
      tag.assign(letters.begin(), letters.end());
    }
    RuntimeTensor tensor = drawRuntimeTensor(random, dims, drawn.isOpen, type, tag, hasGaps);
    drawn.open.push_back(tensor.open);
    drawn.actual.push_back(tensor.actual);
  }
  return drawn;
}

void appendSizes(const TensorDesc &open, const TensorDesc &actual, std::vector<int64_t> &sizes) {
  if (open.isZero() || !open.isBlockedFormat())
    return;
  auto append = [&](const int64_t *values, const int64_t *known) {
    for (int d = 0; d < open.ndims; ++d)
      if (values[d] == runtimeDim)
        sizes.push_back(known[d]);
  };
  append(open.dims, actual.dims);
  if (open.tag().empty())
    append(open.strides, actual.strides);
  if (open.offset0 == runtimeDim)
    sizes.push_back(actual.offset0);
}

} // namespace quern
