//===- Cases.cpp - Softmax in the conformance program ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Cases.h"

#include "PeerDifferences.h"
#include "Reference/Elements.h"
#include "Reference/Judge.h"
#include "Softmax/Coverage.h"
#include "Softmax/Generator.h"

#include <algorithm>
#include <cmath>
#include <ostream>

namespace quern {
namespace {

using namespace cases::softmax;

/// Quern's result has been judged. The peer's may also be off by the threshold, and a narrow output may round the other
/// way.
bool isNear(const PeerComparison &with, size_t i, double ours, double theirs) {
  if (isSameValue(ours, theirs))
    return true;
  DataType type = with.exact.desc.dataType;
  double threshold = 2 * thresholdOf(with.desc, type);
  bool isWide = type == DataType::F32 || type == DataType::F64;
  double step = isWide ? 0 : isFloating(type) ? epsilonOf(type) * std::max(std::fabs(ours), 0x1p-14) : 1;
  double low = ours, high = ours;
  if (with.exact.range) { // with scales and post-ops
    double start = with.exact.beforeAttributes[i],
           around = threshold * std::max(std::fabs(start), with.exact.magnitude[i]);
    Interval range = with.exact.range(static_cast<int64_t>(i), Interval::around(start, around));
    if (std::isnan(theirs) || range.isEmpty())
      return range.mayBeNan;
    low = std::min(low, static_cast<double>(range.low)), high = std::max(high, static_cast<double>(range.high));
    step += 1e-5 * std::max(1.0, std::fabs(ours)); // each function that follows may also be slightly off
  } else {
    step += threshold * std::max(std::fabs(with.exact.exact[i]), with.exact.magnitude[i]);
  }
  return low - step <= theirs && theirs <= high + step;
}

class SoftmaxCases : public PrimitiveCases {
public:
  std::string_view name() const override { return "softmax"; }
  int64_t firstRound() const override { return static_cast<int64_t>(specialCells().size()) + cellsOfFirstRound(); }
  int64_t allRounds() const override { return static_cast<int64_t>(specialCells().size() + allCells().size()); }
  Case draw(uint64_t seed, int64_t number) const override { return drawCase(seed, number); }
  std::span<const Mistake> mistakes() const override { return cases::softmax::mistakes(); }
  std::span<const DataType> refusedTypes() const override {
    static constexpr DataType types[] = {DataType::S32, DataType::S4, DataType::U4, DataType::Boolean, DataType::E8M0};
    return types;
  }

  void count(const Case &drawn, const PrimitiveDesc &sized, ProblemData *data) override {
    const SoftmaxDesc &op = std::get<SoftmaxDesc>(sized.op);
    if (!specialCellOf(drawn.number))
      coverage.add(cellOf(drawn.number), op.alg);
    coverage.addPath(pathOf(op));
    if (!data || drawn.data.fill != FillKind::Special)
      return;
    bool forward = isForward(op.prop);
    const TensorDesc &in = forward ? op.src : op.diffDst;
    coverage.addRows(in.dataType, pathOf(op),
                     countRowKinds(in, op.axis, data->buffer(forward ? arg::src : arg::diffDst)));
  }

  void print(std::ostream &os) const override { coverage.print(os); }

  std::vector<std::string> missing(int64_t cases) const override {
    std::vector<std::string> all;
    if (cases >= firstRound())
      all = coverage.missingPairs();
    if (cases >= allRounds() && coverage.missingCells() > 0)
      all.push_back(concat(coverage.missingCells(), " cells"));
    return all;
  }

  bool agrees(const PeerComparison &with, size_t element, double ours, double theirs) const override {
    return isNear(with, element, ours, theirs);
  }

  Difference knownDifference(const PeerComparison &with, size_t element, double ours, double theirs) const override {
    const SoftmaxDesc &op = std::get<SoftmaxDesc>(with.desc.op);
    if (isF64Misread(with))
      return {"3.2 accepts f64 in a post-op, but misreads it", 0.015};
    if (std::isnan(theirs) && op.dst.dims[op.axis] == 1)
      return {"3.13 gives NaN if the axis has one element, because it reads the gaps after it", 0.005};
    const bool isMoved = isForward(op.prop) && op.src.dataType == op.dst.dataType && !op.src.samePlaces(op.dst);
    if (isOldPeer(with) && with.implementation.starts_with("ref") && isMoved)
      return {"ref of 3.2 stores intermediates in dst at the places of src", 0.006};
    const bool isRef = with.implementation.starts_with("ref");
    if (isOldPeer(with) && isRef && isForward(op.prop) && bitsOf(op.dst.dataType) < 32 &&
        !with.desc.attr.postOps.empty())
      return {"ref of 3.2 rounds to the type of dst before the post-ops", 0.006};
    if (isRef && !isForward(op.prop) && op.dst.samePlaces(op.diffDst) && !op.dst.samePlaces(op.diffSrc))
      return {"ref writes diff_src in the layout of dst if dst and diff_dst are dense", 0.004};
    if (isNanAtDomainEdge(with, element, ours, theirs))
      return {
          "the argument of sqrt, log or pow is 0 or has the opposite sign, because the post-op before is less exact",
          0.005};
    if (isRoundedTwice(with.exact.desc.dataType, ours, theirs))
      return {"f8 is rounded twice, first to f16", 0.025};
    return {};
  }

  std::string unsafeForPeer(const PrimitiveDesc &desc, std::string_view peer) const override {
    const SoftmaxDesc &op = std::get<SoftmaxDesc>(desc.op);
    const bool isPadded =
        op.dst.hasPadding() || (!isForward(op.prop) && (op.diffSrc.hasPadding() || op.diffDst.hasPadding()));
    if (!isForward(op.prop) && isPadded && op.diffSrc.dataType != DataType::F32)
      return "crashes in backward if blocks have padding and diff_src is not f32";
    if (!isForward(op.prop) && op.diffDst.paddedElements() > op.diffSrc.paddedElements())
      return "crashes in backward if diff_dst has more padding than diff_src";
    if (isOldPeer(peer) && !isForward(op.prop) && op.dst.ndims > 5 && !op.dst.samePlaces(op.diffSrc))
      return "3.2 crashes in backward with more than 5 dims if the layouts differ";
    return {};
  }

private:
  Coverage coverage;
};

} // namespace

std::unique_ptr<PrimitiveCases> makeSoftmaxCases() { return std::make_unique<SoftmaxCases>(); }

} // namespace quern
