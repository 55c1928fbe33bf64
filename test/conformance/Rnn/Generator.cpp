//===- Generator.cpp - Random RNN problems --------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Rnn/Generator.h"

#include "Desc/Target.h"
#include "Layouts.h"
#include "Primitives/Rnn/Layouts.h"
#include "Primitives/Rnn/Shape.h"

#include <algorithm>
#include <cmath>

namespace quern::cases::rnn {
namespace {

using quern::rnn::Shape;

/// Draws at most 100 channels, or 127 to 1025 if `max` exceeds 100; never more than `max`.
int64_t drawChannels(Random &random, int64_t max) {
  if (max > 100)
    return std::min(
        random.pick<int64_t>({128, 200, 256, 304, 400, 512, 800, 1024}) + random.pick<int64_t>({0, 0, -1, 1}), max);
  int64_t channels = random.oneIn(2) ? random.pick<int64_t>({1, 2, 3, 5, 7, 12, 20, 40, 80, 100})
                                     : random.pick<int64_t>({8, 16, 32, 48, 64, 96}) + random.between(-1, 1);
  return std::min(channels, max);
}

class Drawer {
public:
  Drawer(Random &random, const Cell &cell, const Target &target, Pass pass)
      : random(random), cell(cell), target(target), pass(pass) {}

  Case draw() {
    Case drawn;
    drawShape();
    drawKind();
    drawTensors();
    if (pass == Pass::Backward)
      drawGradients();
    drawData(drawn);
    drawAttributes(drawn);
    if (cell.family == LayoutFamily::Packed)
      packWeights(attr.fpmathMode);
    if (cell.family == LayoutFamily::Runtime) {
      if (mayOpenWidths() && random.oneIn(2)) // panels, which do not depend on the fpmath mode
        packWeights(FpmathMode::Strict);
      openSizes(drawn);
    }
    drawn.desc = {op, attr};
    return drawn;
  }

private:
  bool isInteger() const { return isQuantized(cell.type); }
  bool isBidirectional() const { return cell.direction >= RnnDirection::BidirectionalConcat; }
  bool hasPeephole() const { return cell.kind == Kind::LstmPeephole || cell.kind == Kind::LstmBoth; }
  bool hasProjection() const { return cell.kind == Kind::LstmProjection || cell.kind == Kind::LstmBoth; }
  bool isGru() const { return cell.kind >= Kind::Gru; }

  /// Long sequences have few channels, and wide cells have small other sizes, to limit the time of the reference.
  void drawShape() {
    bool isLong = random.oneIn(hasAttention(cell.kind) ? 8 : 40); // there are few of these
    s.steps = isLong ? random.pick<int64_t>({101, 250, 1000}) : random.pick<int64_t>({1, 1, 2, 3, 4, 5, 9});
    s.batch = isLong ? random.between(1, 2) : random.pick<int64_t>({1, 1, 2, 3, 4, 5, 7, 16, 17});
    bool isWide = !isLong && random.oneIn(50);
    if (isWide) {
      s.steps = random.between(1, 3);
      s.batch = random.pick<int64_t>({1, 2, 5});
    }
    s.directions = isBidirectional() ? 2 : 1;
    s.layers = hasAttention(cell.kind) || isLong || isWide ? 1 : random.pick<int64_t>({1, 1, 2, 3});
    int64_t maxChannels = isWide ? 1024 : isLong ? 20 : random.oneIn(4) ? 100 : 40;
    const int64_t minChannels = isInteger() && s.layers > 1 ? 5 : 1; // a single byte passes on little information
    s.dhc = std::max(drawChannels(random, maxChannels), minChannels);
    s.dic = hasProjection() ? std::max(drawChannels(random, maxChannels), minChannels) : s.dhc;
    s.sic = isGru() ? s.dhc
            : s.steps == 1 && cell.family != LayoutFamily::Runtime && random.oneIn(2)
                ? drawChannels(random, maxChannels)
                : s.dic;
    bool isConcatenated = s.layers > 1 && random.oneIn(3);
    op.flags = isConcatenated ? RnnStackConcatenated : 0;
    s.slc = s.layers == 1 ? drawChannels(random, maxChannels) : isConcatenated ? s.directions * s.dic : s.dic;
    drawEnough();
    if (random.oneIn(100))
      (random.oneIn(2) ? s.steps : s.batch) = 0;
  }

  /// With few elements of a narrow type, a wrong result may be right by chance. The same is true if a state of a stack
  /// is near a midpoint, which results do not show; with several sequences, some have no such state.
  void drawEnough() {
    if (cell.type == DataType::F32)
      return;
    if (s.steps * s.batch * std::min(s.dic, s.dhc) < 24 * s.layers)
      s.batch = 17;
    if (s.layers > 1 && std::max(s.slc, s.dhc) > 20)
      s.batch = std::max<int64_t>(s.batch, 5);
  }

  void drawKind() {
    constexpr Alg cells[] = {Alg::VanillaRnn, Alg::VanillaLstm, Alg::VanillaLstm,  Alg::VanillaLstm, Alg::VanillaLstm,
                             Alg::VanillaGru, Alg::LbrGru,      Alg::VanillaAugru, Alg::LbrAugru};
    op.cell = cells[static_cast<size_t>(cell.kind)];
    op.direction = cell.direction;
    if (cell.kind == Kind::Vanilla) {
      op.activation = random.pick({Alg::EltwiseRelu, Alg::EltwiseTanh, Alg::EltwiseLogistic});
      op.alpha = op.activation == Alg::EltwiseRelu ? random.pick({0.0f, 0.125f, 0.5f, -0.25f}) : 0.0f;
    }
    if (pass == Pass::Backward)
      op.prop = PropKind::Backward;
    if (pass == Pass::Forward)
      op.prop = !isInteger() && random.oneIn(3) ? PropKind::ForwardTraining : PropKind::ForwardInference;
    s.gates = quern::rnn::gatesOf(op.cell);
    s.biasGates = s.gates + quern::rnn::isLinearBeforeReset(op);
  }

  /// Returns a type for tensors that may be as wide as the arithmetic.
  DataType drawWide() { return isInteger() || random.oneIn(2) ? DataType::F32 : cell.type; }
  /// Returns a type for states, which may be f32 next to integers.
  DataType drawState() { return isInteger() && random.oneIn(3) ? DataType::F32 : cell.type; }

  void drawTensors() {
    const Dims states = {s.layers, s.directions, s.batch, s.dic}, cells = {s.layers, s.directions, s.batch, s.dhc};
    DataType weight = isInteger() ? DataType::S8 : cell.type;
    op.srcLayer = tensor({s.steps, s.batch, s.slc}, cell.type);
    if (cell.options & HasSrcIter) {
      op.srcIter = tensor({s.layers, s.directions, s.batch, s.sic}, drawState());
      if (isLstm(cell.kind))
        op.srcIterC = tensor(cells, drawWide());
    }
    if (hasAttention(cell.kind))
      op.attention = tensor({s.steps, s.batch, 1}, drawWide());
    if (random.oneIn(5))
      op.seqLengths = legalLayout(
          TensorDesc::fromTag(Dims{s.batch}, DataType::S32, cell.family == LayoutFamily::Any ? "any" : "a"));
    op.weightsLayer = tensor({s.layers, s.directions, s.slc, s.gates, s.dhc}, weight);
    op.weightsIter = tensor({s.layers, s.directions, s.sic, s.gates, s.dhc}, weight);
    if (hasPeephole())
      op.weightsPeephole = tensor({s.layers, s.directions, 3, s.dhc}, drawWide());
    if (hasProjection())
      op.weightsProjection = tensor({s.layers, s.directions, s.dhc, s.dic}, weight);
    if (cell.options & HasBias)
      op.bias = tensor({s.layers, s.directions, s.biasGates, s.dhc}, drawWide());
    op.dstLayer = tensor({s.steps, s.batch, s.dlc(op)}, isInteger() && random.oneIn(2) ? DataType::F32 : cell.type);
    if (cell.options & HasDstIter) {
      op.dstIter = tensor(states, drawState());
      if (isLstm(cell.kind))
        op.dstIterC = tensor(cells, drawWide());
    }
  }

  /// Usually all gradients are present. Those of weights are accumulated or, in some cases, overwritten.
  void drawGradients() {
    const bool drawsAll = !random.oneIn(4);
    const int kept = static_cast<int>(random.between(0, 8)); // at least one gradient is present
    auto gradient = [&](TensorDesc &diff, const TensorDesc &of, int number) {
      if (!of.isZero() && (drawsAll || number == kept || random.oneIn(2)))
        diff = tensor(Dims(of.dims, of.dims + of.ndims), DataType::F32);
    };
    gradient(op.diffSrcLayer, op.srcLayer, 0), gradient(op.diffSrcIter, op.srcIter, 1);
    gradient(op.diffSrcIterC, op.srcIterC, 2), gradient(op.diffAttention, op.attention, 3);
    gradient(op.diffWeightsLayer, op.weightsLayer, 4), gradient(op.diffWeightsIter, op.weightsIter, 5);
    gradient(op.diffWeightsPeephole, op.weightsPeephole, 6);
    gradient(op.diffWeightsProjection, op.weightsProjection, 7), gradient(op.diffBias, op.bias, 8);
    const bool isAny = !op.diffSrcIter.isZero() || !op.diffSrcIterC.isZero() || !op.diffAttention.isZero() ||
                       !op.diffWeightsLayer.isZero() || !op.diffWeightsIter.isZero() ||
                       !op.diffWeightsPeephole.isZero() || !op.diffWeightsProjection.isZero() || !op.diffBias.isZero();
    if (!isAny && op.diffSrcLayer.isZero())
      op.diffSrcLayer = tensor({s.steps, s.batch, s.slc}, DataType::F32);
    op.diffDstLayer = tensor({s.steps, s.batch, s.dlc(op)}, DataType::F32);
    const bool hasStates = !random.oneIn(4);
    if (!op.dstIter.isZero() && hasStates)
      op.diffDstIter = tensor({s.layers, s.directions, s.batch, s.dic}, DataType::F32);
    if (!op.dstIterC.isZero() && hasStates)
      op.diffDstIterC = tensor({s.layers, s.directions, s.batch, s.dhc}, DataType::F32);
    const bool hasWeights = !op.diffWeightsLayer.isZero() || !op.diffWeightsIter.isZero() ||
                            !op.diffWeightsPeephole.isZero() || !op.diffWeightsProjection.isZero() ||
                            !op.diffBias.isZero();
    if (hasWeights && random.oneIn(3))
      op.flags |= RnnDiffWeightsOverwrite;
  }

  TensorDesc tensor(const Dims &dims, DataType type) {
    switch (cell.family) {
    case LayoutFamily::Any:
      return legalLayout(TensorDesc::fromTag(dims, type, "any"));
    case LayoutFamily::Transposed:
      return legalLayout(TensorDesc::fromTag(dims, type,
                                             dims.size() == 3   ? "bac"
                                             : dims.size() == 5 ? "abdec"
                                                                : "abcd"));
    case LayoutFamily::Gapped:
      return drawPlain(random, dims, type, {false, true, false});
    case LayoutFamily::Mixed:
      return drawPlain(random, dims, type, {true, true, false});
    default:
      return legalLayout(TensorDesc::dense(dims, type));
    }
  }

  void drawData(Case &drawn) {
    drawn.data.fill = random.pick({FillKind::Dense, FillKind::Dense, FillKind::Designed, FillKind::Special});
    drawn.data.seed = random.bits() % 1000000;
    drawn.data.misalignment = random.oneIn(3) ? random.between(1, 15) : 0;
  }

  void drawAttributes(Case &) {
    if (random.oneIn(4) && cell.family != LayoutFamily::Runtime)
      attr.scratchpadMode = ScratchpadMode::User;
    if (random.oneIn(4))
      attr.fpmathMode = random.pick({FpmathMode::BF16, FpmathMode::F16, FpmathMode::TF32, FpmathMode::Any});
    if (!isInteger())
      return;
    RnnQuantization &q = attr.rnn;
    q.dataScale = random.pick({64.0f, 100.0f, 127.0f});
    q.dataShift = cell.type == DataType::S8 ? 0.0f : random.pick({0.0f, 100.0f, 128.0f});
    if (cell.direction == RnnDirection::BidirectionalSum) // it adds the shift twice
      q.dataShift = std::min(q.dataShift, 50.0f);
    const int64_t channels = std::min(s.dic, s.dhc);
    const bool isSmall = channels < 4 || (s.layers > 1 && s.steps * s.batch * channels < 200);
    if (cell.type == DataType::U8 && isSmall) // without a shift all values may be negative and become 0
      q.dataShift = std::max(q.dataShift, 50.0f);
    // Gates are in [-2, 2] in each layer of a stack, and a projection is in the range of the type (Rnn/TestData.cpp).
    const double size = s.layers > 1 ? 1500 : 6000;
    const int64_t products = s.slc + (s.steps > 1 || cell.options & HasSrcIter ? s.sic : 0); // without a factor of 0
    const auto weightScale =
        static_cast<float>(size * std::sqrt(static_cast<double>(products)) / static_cast<double>(q.dataScale));
    q.weightsMask = random.oneIn(2) ? 24 : 0;
    drawScales(q.weightsScales, q.weightsMask ? s.gates * s.dhc : 1, weightScale, {0.5f, 1.0f, 1.5f});
    if (!hasProjection())
      return;
    float projectionScale = static_cast<float>(73 * std::sqrt(static_cast<double>(s.dhc)));
    q.projectionMask = random.oneIn(2) ? 8 : 0;
    drawScales(q.projectionScales, q.projectionMask ? s.dic : 1, projectionScale, {1.0f, 2.0f});
  }

  void drawScales(std::vector<float> &scales, int64_t count, float scale, std::initializer_list<float> factors) {
    for (int64_t i = 0; i < count; ++i)
      scales.push_back(scale * random.pick(factors));
  }

  void packWeights(FpmathMode fpmath) {
    if (pass == Pass::Backward) {
      for (TensorDesc *weights : {&op.weightsLayer, &op.weightsIter, &op.weightsProjection})
        if (!weights->isZero())
          *weights = legalLayout(quern::rnn::packedTransposed(*weights, fpmath, target));
      return;
    }
    op.weightsLayer = legalLayout(quern::rnn::packedWeights(op, op.weightsLayer, fpmath, target));
    op.weightsIter = legalLayout(quern::rnn::packedWeights(op, op.weightsIter, fpmath, target));
    if (hasProjection())
      op.weightsProjection = legalLayout(quern::rnn::packedProjection(op.weightsProjection, fpmath, target));
  }

  bool mayOpenWidths() const {
    return op.prop == PropKind::ForwardInference && (cell.type == DataType::F32 || cell.type == DataType::BF16) &&
           s.layers == 1 && s.directions == 1 && !hasProjection() && op.attention.isZero() && op.seqLengths.isZero();
  }

  /// Opens T, N or both in all tensors, in the order of the line, or all sizes except those that are 1 or determined by
  /// the cell.
  void openSizes(Case &drawn) {
    bool openSteps = random.oneIn(2), openBatch = !openSteps || random.oneIn(2);
    const bool openWidths = mayOpenWidths() && !random.oneIn(4);
    auto open = [&](const char *, auto &value) {
      if constexpr (std::is_same_v<std::decay_t<decltype(value)>, TensorDesc>)
        openWidths ? openAll(value, drawn.sizes) : openTensor(value, openSteps, openBatch, drawn.sizes);
    };
    RnnDesc::visitFields(op, open);
  }

  void openAll(TensorDesc &desc, std::vector<int64_t> &sizes) {
    if (desc.isZero())
      return;
    const bool isState = &desc == &op.srcIter || &desc == &op.srcIterC || &desc == &op.dstIter || &desc == &op.dstIterC;
    Dims dims(desc.dims, desc.dims + desc.ndims);
    for (size_t d = 0; d < dims.size(); ++d)
      if (d + 1 == dims.size() || dims.size() == 3 || (d == 2 && (dims.size() == 5 || isState)))
        dims[d] = runtimeDim;
    TensorDesc opened = legalLayout(desc.isPlain() ? TensorDesc::dense(dims, desc.dataType)
                                                   : TensorDesc::fromTag(dims, desc.dataType, tagOfPanels(desc)));
    appendSizes(opened, desc, sizes);
    desc = opened;
  }

  /// Dims of 1 could be anywhere in the tag that the descriptor returns, so the tag is built here.
  static std::string tagOfPanels(const TensorDesc &desc) {
    const bool isPacked = desc.innerBlockCount > 1;
    return concat("abdE", isPacked ? "C" : "c", desc.innerBlocks[0], "e",
                  isPacked ? concat(desc.innerBlocks[1], "c") : "");
  }

  void openTensor(TensorDesc &desc, bool openSteps, bool openBatch, std::vector<int64_t> &sizes) {
    const TensorDesc *ofWeights[] = {&op.weightsPeephole,     &op.weightsProjection,     &op.bias,
                                     &op.diffWeightsPeephole, &op.diffWeightsProjection, &op.diffBias};
    bool isState = desc.ndims == 4 && std::ranges::find(ofWeights, &desc) == std::end(ofWeights);
    if (desc.isZero() || (desc.ndims == 4 && !isState) || desc.ndims == 5)
      return;
    Dims dims(desc.dims, desc.dims + desc.ndims);
    if (desc.ndims == 3 && openSteps)
      dims[0] = runtimeDim;
    if (openBatch)
      dims[desc.ndims == 4 ? 2 : desc.ndims == 3 ? 1 : 0] = runtimeDim;
    TensorDesc opened = legalLayout(TensorDesc::dense(dims, desc.dataType));
    appendSizes(opened, desc, sizes);
    desc = opened;
  }

  Random &random;
  const Cell &cell;
  const Target &target;
  Pass pass;
  Shape s;
  RnnDesc op;
  Attributes attr;
};

} // namespace

Case drawCase(uint64_t seed, int64_t number, const Target &target, Pass pass) {
  Random random(seed * 1000003 + static_cast<uint64_t>(number));
  Cell cell = cellOf(pass, number);
  Case drawn = Drawer(random, cell, target, pass).draw();
  drawn.number = number;
  return drawn;
}

/// Adds missing gradients: oneDNN computes all gradients or none.
static void giveGradients(RnnDesc &op) {
  auto give = [](TensorDesc &diff, const TensorDesc &of) {
    if (diff.isZero() && !of.isZero())
      diff = legalLayout(TensorDesc::dense(of.shape(), DataType::F32));
  };
  give(op.diffSrcLayer, op.srcLayer), give(op.diffSrcIter, op.srcIter), give(op.diffSrcIterC, op.srcIterC);
  give(op.diffAttention, op.attention), give(op.diffWeightsLayer, op.weightsLayer);
  give(op.diffWeightsIter, op.weightsIter), give(op.diffWeightsPeephole, op.weightsPeephole);
  give(op.diffWeightsProjection, op.weightsProjection), give(op.diffBias, op.bias);
  give(op.diffDstIter, op.dstIter), give(op.diffDstIterC, op.dstIterC);
}

void adaptToPeer(Case &drawn) {
  auto &op = *std::get<Boxed<RnnDesc>>(drawn.desc.op);
  if (!drawn.sizes.empty())
    return;
  op.seqLengths = TensorDesc();
  const Shape s = Shape::of(op);
  if (s.directions == 1)
    op.flags &= ~static_cast<uint32_t>(RnnStackConcatenated);
  const int64_t biasGates = s.gates + quern::rnn::isLinearBeforeReset(op);
  if (op.bias.isZero())
    op.bias = legalLayout(TensorDesc::dense(Dims{s.layers, s.directions, biasGates, s.dhc}, DataType::F32));
  if (op.prop == PropKind::Backward)
    giveGradients(op);
}

} // namespace quern::cases::rnn
