//===- Cases.cpp - Random concats -----------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "SourceCases.h"

#include "Primitives/Arguments.h"
#include "Reference/Elements.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace quern {
namespace {

constexpr SourceFamily families[] = {SourceFamily::Plain,     SourceFamily::Permuted, SourceFamily::Gapped,
                                     SourceFamily::Submemory, SourceFamily::Blocked,  SourceFamily::Nested,
                                     SourceFamily::Padded,    SourceFamily::Mixed,    SourceFamily::Cut,
                                     SourceFamily::Broadcast, SourceFamily::Chosen,   SourceFamily::Runtime};

constexpr Mistake all[] = {
    {"no source", "concat axis=0 dst=f32:@nx@m:ab", "C2"},
    {"a source with layout any", "concat axis=1 srcs=f32:@nx@m:any dst=f32:@nx@m:ab", "C3"},
    {"an absent source", "concat axis=1 srcs=f32:@nx@m:ab,none dst=f32:@nx@m:ab", "C3"},
    {"an axis beyond the rank", "concat axis=2 srcs=f32:@nx@m:ab dst=f32:@nx@m:ab", "C4"},
    {"a negative axis", "concat axis=-1 srcs=f32:@nx@m:ab dst=f32:@nx@m:ab", "C4"},
    {"a source of other dims", "concat axis=1 srcs=f32:@nx@m:ab,f32:1@nx@m:ab dst=f32:@nx2@m:ab", "C5"},
    {"a source of another rank", "concat axis=0 srcs=f32:@nx@m:ab,f32:@n:a dst=f32:@nx@m:ab", "C5"},
    {"a dst that is too small", "concat axis=1 srcs=f32:@nx@m:ab,f32:@nx@m:ab dst=f32:@nx@m:ab", "C5"},
    {"a dst that broadcasts", "concat axis=1 srcs=f32:@nx@m:ab dst=f32:@nx@m:s0x1", "C6"},
    {"any beside open strides", "concat axis=1 srcs=f32:@nx@m:s?x1 dst=f32:@nx@m:any", "C7"},
    {"scales of dst", "concat axis=1 srcs=f32:@nx@m:ab dst=f32:@nx@m:ab attr.scales=dst", "C8"},
    {"scales of a source that is not there", "concat axis=1 srcs=f32:@nx@m:ab dst=f32:@nx@m:ab attr.scales=srcs.1",
     "C8"},
    {"a mask beyond the rank", "concat axis=1 srcs=f32:@nx@m:ab dst=f32:@nx@m:ab attr.scales=srcs.0(mask=4)", "C8"},
    {"unsupported type", "concat axis=0 srcs=f32:@nx@m:ab,@t:0x@m:ab dst=f32:@nx@m:ab", "C12"},
    {"unsupported type of dst", "concat axis=1 srcs=f32:@nx@m:ab dst=@t:@nx@m:ab", "C12"},
    {"blocks with open sizes", "concat axis=1 srcs=f32:?x@m:aB16b dst=f32:?x@m:ab", "C13"},
    {"an open dim of dst alone", "concat axis=0 srcs=f32:@nx@m:ab dst=f32:?x@m:ab", "C5"},
    {"an open dim of a source alone", "concat axis=0 srcs=f32:?x@m:ab,f32:@nx@m:ab dst=f32:@nx@m:ab", "C5"},
    {"compensation", "concat axis=1 srcs=f32:@nx@m:ab dst=s8:@nx@m:ab:s8s8@1", "C15"},
    {"padded offsets", "concat axis=1 srcs=f32:@nx@m:ab dst=f32:@nx@m:s64x1:pad@nx64:at0x1", "C16"},
    {"scales with a mask", "concat axis=1 srcs=f32:@nx@m:ab dst=f32:@nx@m:ab attr.scales=srcs.0(mask=2)", "C17"},
    {"zero points", "concat axis=1 srcs=s8:@nx@m:ab dst=s8:@nx@m:ab attr.zero_points=srcs.0", "C18"},
    {"post-ops", "concat axis=1 srcs=f32:@nx@m:ab dst=f32:@nx@m:ab attr.post_ops=sum", "C18"},
};

/// Dims, axis and sources of a concat.
struct Shape {
  Dims dims; ///< dims of dst
  int axis = 0;
  std::vector<int64_t> sizes; ///< sizes of the sources along the axis
  Dims ofSource(size_t i) const {
    Dims source = dims;
    source[static_cast<size_t>(axis)] = sizes[i];
    return source;
  }
};

class ConcatCases : public SourceCases<ConcatDesc> {
public:
  ConcatCases() : SourceCases("concat", families, all) {}
  Case draw(uint64_t seed, int64_t number) const override;
  std::string unsafeForPeer(const PrimitiveDesc &desc, std::string_view) const override {
    return cases::concat::unsafeForPeer(std::get<ConcatDesc>(desc.op));
  }
  Difference knownDifference(const PeerComparison &with, size_t element, double ours, double theirs) const override {
    return cases::concat::knownDifference(with, element, ours, theirs);
  }

private:
  SourceCells cells{families};
};

/// Returns the block along the axis at or within which sources start.
int64_t blockOf(Random &random, SourceFamily family) {
  return family == SourceFamily::Blocked || family == SourceFamily::Cut ? random.pick<int64_t>({4, 8, 8, 16, 16, 3})
                                                                        : 1;
}

Shape drawShape(Random &random, SourceFamily family, size_t count, int64_t block) {
  Shape shape;
  shape.dims = drawSourceShape(random, random.pick<int64_t>({32, 256, 1024}));
  if (family == SourceFamily::Runtime && shape.dims.size() == 1)
    shape.dims.push_back(5);
  shape.axis = drawDim(random, shape.dims);
  const bool allSame = random.oneIn(2), isBlocked = family == SourceFamily::Blocked;
  const int64_t maxSize = count > 6 ? 6 : 24;
  int64_t along = 0;
  for (size_t i = 0; i < count; ++i) {
    int64_t size = random.oneIn(12) ? 0 : random.between(1, isBlocked ? 3 : maxSize) * (isBlocked ? block : 1);
    if (isBlocked && i + 1 == count && size > 0)
      size -= random.between(0, block - 1);
    shape.sizes.push_back(allSame && i > 0 && !(isBlocked && shape.sizes[0] % block) ? shape.sizes[0] : size);
    along += shape.sizes.back();
  }
  shape.dims[static_cast<size_t>(shape.axis)] = along;
  if (random.oneIn(50))
    shape.dims[static_cast<size_t>(drawDim(random, shape.dims))] = 0;
  if (shape.dims[static_cast<size_t>(shape.axis)] != along) // the empty dim is the axis
    std::fill(shape.sizes.begin(), shape.sizes.end(), 0);
  return shape;
}

/// Draws a destination with blocks at or within which sources start; for other families, a layout of the family, or
/// one with padding, nested blocks or gaps.
TensorDesc drawDestination(Random &random, SourceFamily family, const Shape &shape, DataType type, int64_t block) {
  switch (family) {
  case SourceFamily::Blocked:
    return drawBlocked(random, shape.dims, type, {{shape.axis, block}});
  case SourceFamily::Cut:
    if (random.oneIn(3))
      return drawBlocked(random, shape.dims, type,
                         {{shape.axis, 2}, {drawDim(random, shape.dims), 4}, {shape.axis, block}});
    return drawBlocked(random, shape.dims, type, {{shape.axis, block}});
  case SourceFamily::Broadcast:
  case SourceFamily::Mixed:
    return drawSourceLayout(random, random.pick({SourceFamily::Padded, SourceFamily::Nested, SourceFamily::Gapped}),
                            shape.dims, type);
  default:
    return drawSourceLayout(random, family, shape.dims, type);
  }
}

TensorDesc drawSource(Random &random, SourceFamily family, const Shape &shape, size_t i, DataType type, int64_t block) {
  const Dims dims = shape.ofSource(i);
  if (family == SourceFamily::Blocked || (family == SourceFamily::Cut && random.oneIn(2)))
    return drawBlocked(random, dims, type, {{shape.axis, block}});
  if (family == SourceFamily::Chosen)
    return random.oneIn(2) ? drawBlocked(random, dims, type, {{shape.axis, 4}})
                           : drawPlain(random, dims, type, {true, false, false});
  return drawSourceLayout(random, family == SourceFamily::Cut ? SourceFamily::Mixed : family, dims, type);
}

/// Dims other than the axis are open in all tensors or in none; along the axis, each source is open or not.
void drawOpen(Random &random, const Shape &shape, const std::vector<DataType> &types, DataType to, ConcatDesc &concat,
              Case &drawn) {
  std::vector<char> order(shape.dims.size());
  std::iota(order.begin(), order.end(), 'a');
  random.shuffle(order);
  std::vector<bool> isOpen(shape.dims.size());
  for (size_t d = 0; d < isOpen.size(); ++d)
    isOpen[d] = random.oneIn(2);
  const auto axis = static_cast<size_t>(shape.axis);
  const bool mayAxis = random.oneIn(2) || std::count(isOpen.begin(), isOpen.end(), true) == 0,
             isAxis = mayAxis && random.oneIn(2), hasGaps = random.oneIn(3);
  bool isDstOpen = false;
  auto add = [&](const Dims &dims, DataType type) {
    RuntimeTensor tensor =
        drawRuntimeTensor(random, dims, isOpen, type, std::string(order.begin(), order.end()), hasGaps);
    appendSizes(tensor.open, tensor.actual, drawn.sizes);
    return tensor.open;
  };
  for (size_t i = 0; i < types.size(); ++i) {
    isOpen[axis] = isAxis || (mayAxis && random.oneIn(2));
    isDstOpen |= isOpen[axis];
    concat.srcs.push_back(add(shape.ofSource(i), types[i]));
  }
  isOpen[axis] = isDstOpen;
  concat.dst = add(shape.dims, to);
}

void drawScales(Random &random, size_t sources, Attributes &attr) {
  const bool drawsAll = random.oneIn(2);
  for (size_t i = 0; i < sources; ++i)
    if (drawsAll || random.oneIn(3))
      attr.scales[arg::sourceAt(i)].dataType =
          random.pick({DataType::F32, DataType::F32, DataType::BF16, DataType::F16});
}

Case ConcatCases::draw(uint64_t seed, int64_t number) const {
  Random random(seed * 1000033 + static_cast<uint64_t>(number));
  const SourceCell cell = cells.at(number);
  Case drawn;
  drawn.number = number;
  ConcatDesc concat;
  std::vector<DataType> types = drawTypes(random, cell);
  if (cell.family == SourceFamily::Runtime)
    types.resize(std::min<size_t>(types.size(), 12));
  const int64_t block = blockOf(random, cell.family);
  const Shape shape = drawShape(random, cell.family, types.size(), block);
  concat.axis = shape.axis;
  if (cell.family == SourceFamily::Runtime) {
    drawOpen(random, shape, types, cell.to, concat, drawn);
  } else {
    const bool allSame = random.oneIn(2);
    for (size_t i = 0; i < types.size(); ++i) {
      const bool repeats = allSame && i > 0 && shape.sizes[i] == shape.sizes[0];
      concat.srcs.push_back(repeats ? concat.srcs[0] : drawSource(random, cell.family, shape, i, types[i], block));
      concat.srcs.back().dataType = types[i];
    }
    if (cell.family != SourceFamily::Chosen)
      concat.dst = drawDestination(random, cell.family, shape, cell.to, block);
    else if (cell.to != types[0] || random.oneIn(2))
      concat.dst = legalLayout(TensorDesc::fromTag(shape.dims, cell.to, "any"));
  }
  Attributes attr;
  if (random.oneIn(3))
    drawScales(random, types.size(), attr);
  drawn.desc = {std::move(concat), std::move(attr)};
  drawData(random, drawn.data);
  return drawn;
}

} // namespace

std::unique_ptr<PrimitiveCases> makeConcatCases() { return std::make_unique<ConcatCases>(); }

} // namespace quern
