//===- Cases.cpp - Random sums --------------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "SourceCases.h"

#include "Reference/Elements.h"

#include <algorithm>
#include <cmath>

namespace quern {
namespace {

constexpr SourceFamily families[] = {SourceFamily::Plain,     SourceFamily::Permuted, SourceFamily::Gapped,
                                     SourceFamily::Submemory, SourceFamily::Blocked,  SourceFamily::Nested,
                                     SourceFamily::Padded,    SourceFamily::Mixed,    SourceFamily::Broadcast,
                                     SourceFamily::Chosen,    SourceFamily::Runtime};

constexpr Mistake all[] = {
    {"no source", "sum dst=f32:@nx@m:ab", "C2"},
    {"too few scales", "sum scales=1 srcs=f32:@nx@m:ab,f32:@nx@m:ab dst=f32:@nx@m:ab", "C2"},
    {"a source with layout any", "sum scales=1,1 srcs=f32:@nx@m:ab,f32:@nx@m:any dst=f32:@nx@m:ab", "C3"},
    {"an absent source", "sum scales=1,1 srcs=none,f32:@nx@m:ab dst=f32:@nx@m:ab", "C3"},
    {"a source of other dims", "sum scales=1,1 srcs=f32:@nx@m:ab,f32:@nx1@m:ab dst=f32:@nx@m:ab", "C4"},
    {"a source of another rank", "sum scales=1,1 srcs=f32:@nx@m:ab,f32:@n:a dst=f32:@nx@m:ab", "C4"},
    {"a dst of other dims", "sum scales=1 srcs=f32:@nx@m:ab dst=f32:@nx1@m:ab", "C4"},
    {"a dst that broadcasts", "sum scales=1 srcs=f32:@nx@m:ab dst=f32:@nx@m:s0x1", "C5"},
    {"any beside open strides", "sum scales=1 srcs=f32:@nx@m:s?x1 dst=f32:@nx@m:any", "C6"},
    {"unsupported type", "sum scales=1,2 srcs=f32:@nx@m:ab,@t:@nx@m:ab dst=f32:@nx@m:ab", "C10"},
    {"unsupported type of dst", "sum scales=1 srcs=f32:@nx@m:ab dst=@t:@nx@m:ab", "C10"},
    {"blocks with open sizes", "sum scales=1 srcs=f32:?x@m:aB16b dst=f32:?x@m:ab", "C11"},
    {"compensation", "sum scales=1 srcs=f32:@nx@m:ab dst=s8:@nx@m:ab:s8s8@1", "C12"},
    {"padded offsets", "sum scales=1 srcs=f32:@nx@m:ab dst=f32:@nx@m:s64x1:pad@nx64:at0x1", "C13"},
    {"many sources with open sizes",
     "sum scales=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1 "
     "srcs=f32:?:a,f32:?:a,f32:?:a,f32:?:a,f32:?:a,f32:?:a,f32:?:a,f32:?:a,f32:?:a,f32:?:a,"
     "f32:?:a,f32:?:a,f32:?:a,f32:?:a,f32:?:a,f32:?:a,f32:?:a dst=f32:?:a",
     "C14"},
    {"scales among the attributes", "sum scales=1 srcs=f32:@nx@m:ab dst=f32:@nx@m:ab attr.scales=srcs.0", "C15"},
    {"post-ops", "sum scales=1 srcs=f32:@nx@m:ab dst=f32:@nx@m:ab attr.post_ops=eltwise(alg=relu)", "C15"},
};

/// With integer scales, a sum of integers is computed exactly.
float drawScale(Random &random, bool isInteger) {
  if (isInteger)
    return random.oneIn(2) ? 1 : random.pick<float>({-1, 2, -3, 1000, 0, 65537, 1 << 24});
  return random.oneIn(3) ? 1 : random.pick<float>({-1, 0.5f, 2, 0.1f, -3.75f, 1000, 0, 1.0f / 3});
}

class SumCases : public SourceCases<SumDesc> {
public:
  SumCases() : SourceCases("sum", families, all) {}
  Case draw(uint64_t seed, int64_t number) const override;
  void adaptToPeer(Case &drawn) const override;
  std::string unsafeForPeer(const PrimitiveDesc &desc, std::string_view peer) const override {
    return cases::sum::unsafeForPeer(std::get<SumDesc>(desc.op), peer);
  }
  Difference knownDifference(const PeerComparison &with, size_t element, double ours, double theirs) const override {
    return cases::sum::knownDifference(with, element, ours, theirs);
  }

private:
  void drawLayouts(Random &random, SourceFamily family, SumDesc &sum, const std::vector<DataType> &types, DataType to,
                   Dims dims) const;

  SourceCells cells{families};
};

void SumCases::drawLayouts(Random &random, SourceFamily family, SumDesc &sum, const std::vector<DataType> &types,
                           DataType to, Dims dims) const {
  const bool allSame = random.oneIn(2);
  const SourceFamily ofDst = family == SourceFamily::Broadcast ? SourceFamily::Plain : family;
  for (DataType type : types) {
    sum.srcs.push_back(allSame && !sum.srcs.empty() ? sum.srcs[0] : drawSourceLayout(random, family, dims, type));
    sum.srcs.back().dataType = type;
  }
  if (family == SourceFamily::Chosen && to == types[0] && random.oneIn(2))
    return;
  if (family == SourceFamily::Chosen)
    sum.dst = legalLayout(TensorDesc::fromTag(dims, to, "any"));
  else if (allSame && ofDst == family && family != SourceFamily::Mixed)
    sum.dst = sum.srcs[0];
  else
    sum.dst = drawSourceLayout(random, ofDst == SourceFamily::Mixed ? SourceFamily::Padded : ofDst, dims, to);
  sum.dst.dataType = to;
}

Case SumCases::draw(uint64_t seed, int64_t number) const {
  Random random(seed * 1000033 + static_cast<uint64_t>(number));
  const SourceCell cell = cells.at(number);
  Case drawn;
  drawn.number = number;
  SumDesc sum;
  std::vector<DataType> types = drawTypes(random, cell);
  if (cell.family == SourceFamily::Runtime)
    types.resize(std::min<size_t>(types.size(), 12));
  Dims dims = drawSourceShape(random, random.pick<int64_t>({64, 512, 2048}));
  if (random.oneIn(50))
    dims[static_cast<size_t>(drawDim(random, dims))] = 0;
  const bool hasIntegerFactors = random.oneIn(2);
  for (size_t i = 0; i < types.size(); ++i)
    sum.scales.push_back(drawScale(random, hasIntegerFactors));
  if (cell.family == SourceFamily::Runtime) {
    std::vector<DataType> withDst = types;
    withDst.push_back(cell.to);
    RuntimeTensors tensors = drawRuntimeTensors(random, dims, withDst);
    sum.dst = tensors.open.back();
    sum.srcs.assign(tensors.open.begin(), tensors.open.end() - 1);
    for (size_t i = 0; i < tensors.open.size(); ++i)
      appendSizes(tensors.open[i], tensors.actual[i], drawn.sizes);
  } else {
    drawLayouts(random, cell.family, sum, types, cell.to, dims);
  }
  drawn.data.inPlace = drawn.sizes.empty() && std::find(sum.srcs.begin(), sum.srcs.end(), sum.dst) != sum.srcs.end() &&
                       !sum.dst.hasBroadcast() && random.oneIn(2);
  drawn.desc = {std::move(sum), {}};
  drawData(random, drawn.data);
  return drawn;
}

/// In place, dst must be the first source: oneDNN's reference code writes dst before it reads the other sources.
void SumCases::adaptToPeer(Case &drawn) const {
  const SumDesc &op = std::get<SumDesc>(drawn.desc.op);
  drawn.data.inPlace = drawn.data.inPlace && op.srcs[0] == op.dst;
}

} // namespace

std::unique_ptr<PrimitiveCases> makeSumCases() { return std::make_unique<SumCases>(); }

} // namespace quern
