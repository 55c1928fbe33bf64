//===- Cases.cpp - Random sums --------------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Cases.h"
#include "SourceCells.h"

#include "Primitives/Elements.h"

#include <algorithm>
#include <cmath>

namespace quern {
namespace {

constexpr SourceFamily families[] = {SourceFamily::Plain,     SourceFamily::Permuted, SourceFamily::Gapped, SourceFamily::Submemory,
                                     SourceFamily::Blocked,   SourceFamily::Nested,   SourceFamily::Padded, SourceFamily::Mixed,
                                     SourceFamily::Broadcast, SourceFamily::Chosen,   SourceFamily::Runtime};

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
     "sum scales=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1 srcs=f32:?:a,f32:?:a,f32:?:a,f32:?:a,f32:?:a,f32:?:a,f32:?:a,f32:?:a,f32:?:a,f32:?:a,"
     "f32:?:a,f32:?:a,f32:?:a,f32:?:a,f32:?:a,f32:?:a,f32:?:a dst=f32:?:a",
     "C14"},
    {"scales among the attributes", "sum scales=1 srcs=f32:@nx@m:ab dst=f32:@nx@m:ab attr.scales=srcs.0", "C15"},
    {"post-ops", "sum scales=1 srcs=f32:@nx@m:ab dst=f32:@nx@m:ab attr.post_ops=eltwise(alg=relu)", "C15"},
};

float drawScale(Random &random) { return random.oneIn(3) ? 1 : random.pick<float>({-1, 0.5f, 2, 0.1f, -3.75f, 1000, 0, 1.0f / 3}); }

bool isSame(double ours, double theirs) { return ours == theirs || (std::isnan(ours) && std::isnan(theirs)); }

class SumCases : public PrimitiveCases {
public:
  std::string_view name() const override { return "sum"; }
  int64_t firstRound() const override { return cells.firstRound(); }
  int64_t allRounds() const override { return cells.allRounds(); }
  std::span<const Mistake> mistakes() const override { return all; }
  std::span<const DataType> refusedTypes() const override {
    static constexpr DataType types[] = {DataType::Boolean, DataType::F4E3M0, DataType::F4E2M1, DataType::S4, DataType::U4};
    return types;
  }
  Case draw(uint64_t seed, int64_t number) const override;
  void count(const Case &drawn, const PrimitiveDesc &sized, ProblemData *) override {
    cells.count(drawn.number, std::get<SumDesc>(sized.op).dst.hasZeroDim());
  }
  void print(std::ostream &os) const override { cells.print(os); }
  std::vector<std::string> missing(int64_t cases) const override { return cells.missing(cases); }
  bool agrees(const PeerComparison &, size_t, double ours, double theirs) const override { return isSame(ours, theirs); }
  std::string knownDifference(const PeerComparison &with, size_t element, double ours, double theirs) const override;

private:
  void drawLayouts(Random &random, SourceFamily family, SumDesc &sum, const std::vector<DataType> &types, DataType to, Dims dims) const;

  SourceCells cells{families};
};

void SumCases::drawLayouts(Random &random, SourceFamily family, SumDesc &sum, const std::vector<DataType> &types, DataType to,
                           Dims dims) const {
  const bool areSame = random.oneIn(2);
  const SourceFamily ofDst = family == SourceFamily::Broadcast ? SourceFamily::Plain : family;
  for (DataType type : types) {
    sum.srcs.push_back(areSame && !sum.srcs.empty() ? sum.srcs[0] : drawSourceLayout(random, family, dims, type));
    sum.srcs.back().dataType = type;
  }
  if (family == SourceFamily::Chosen && to == types[0] && random.oneIn(2))
    return;
  if (family == SourceFamily::Chosen)
    sum.dst = taken(TensorDesc::fromTag(dims, to, "any"));
  else if (areSame && ofDst == family && family != SourceFamily::Mixed)
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
  for (size_t i = 0; i < types.size(); ++i)
    sum.scales.push_back(drawScale(random));
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
  drawn.data.fill = random.pick({FillKind::Dense, FillKind::Dense, FillKind::Designed, FillKind::Special});
  drawn.data.seed = random.bits() % 1000000;
  drawn.data.misalignment = random.oneIn(3) ? random.between(1, 15) : 0;
  return drawn;
}

std::string SumCases::knownDifference(const PeerComparison &with, size_t element, double ours, double theirs) const {
  const DataType to = std::get<SumDesc>(with.desc.op).dst.dataType;
  const double difference = std::fabs(ours - theirs), largest = std::max(std::fabs(ours), std::fabs(theirs));
  if (to == DataType::F8E4M3 && std::fabs(ours) == 448 && std::isnan(theirs))
    return "values beyond f8_e4m3 become NaN";
  if (to == DataType::E8M0)
    return "its reorder writes nothing to e8m0";
  const double ofTerms = 8 * epsilonOf(DataType::F32) * with.exact.magnitude[element];
  if (difference <= ofTerms + (isFloating(to) ? 2 * epsilonOf(to) * largest : 1))
    return "rounded otherwise: fused, or an intermediate in dst";
  return {};
}

} // namespace

std::unique_ptr<PrimitiveCases> makeSumCases() { return std::make_unique<SumCases>(); }

} // namespace quern
