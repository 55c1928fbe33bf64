//===- RandomDesc.cpp - Random legal descriptors --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Draws tensors field by field and keeps those that validate() accepts, so that the constructors do not limit the range
// of drawn tensors.
//
//===----------------------------------------------------------------------===//
#include "RandomDesc.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace quern::test {

float RandomDesc::anyFloat() {
  switch (below(4)) {
  case 0:
    return std::bit_cast<float>(static_cast<uint32_t>(engine())); // includes NaNs, infinities and denormals
  case 1:
    return -0.0f;
  default:
    return static_cast<float>(below(2000)) / 16 - 60;
  }
}

DataType RandomDesc::anyType() { return static_cast<DataType>(1 + below(15)); }

void RandomDesc::drawBlocks(TensorDesc &desc) {
  for (uint64_t count = below(4); count > 0; --count) {
    desc.innerBlocks[desc.innerBlockCount] = static_cast<int64_t>(1 + below(16));
    desc.innerIndices[desc.innerBlockCount++] = static_cast<int64_t>(below(static_cast<uint64_t>(desc.ndims)));
  }
}

void RandomDesc::drawStrides(TensorDesc &desc) {
  int64_t blocks[maxDims];
  desc.blockSizes(blocks);
  int order[maxDims];
  std::iota(order, order + desc.ndims, 0);
  if (chance(50))
    for (int i = desc.ndims - 1; i > 0; --i)
      std::swap(order[i], order[below(static_cast<uint64_t>(i) + 1)]);
  int64_t stride = 1;
  for (int b = 0; b < desc.innerBlockCount; ++b)
    stride *= desc.innerBlocks[b];
  bool isGapped = chance(30), isRuntime = false;
  for (int i = desc.ndims - 1; i >= 0; --i) {
    int d = order[i];
    if (isGapped && chance(30))
      stride += static_cast<int64_t>(below(10));
    desc.strides[d] = isRuntime ? runtimeDim : chance(5) ? 0 : stride;
    if (desc.dims[d] == runtimeDim) {
      isRuntime |= chance(80);
      desc.paddedDims[d] = runtimeDim;
      continue;
    }
    if (isGapped && chance(10))
      desc.paddedOffsets[d] = static_cast<int64_t>(below(3));
    int64_t minPadded =
        desc.dims[d] + desc.paddedOffsets[d] + static_cast<int64_t>(isGapped && chance(10) ? below(40) : 0);
    desc.paddedDims[d] = (minPadded + blocks[d] - 1) / blocks[d] * blocks[d];
    stride *= std::max<int64_t>(desc.paddedDims[d] / blocks[d], 1);
  }
}

void RandomDesc::drawExtras(TensorDesc &desc) {
  desc.extras.flags = below(32);
  auto mask = [&] { return static_cast<int32_t>(below(1ull << desc.ndims)); };
  if (desc.extras.flags & (ExtraS8S8 | ExtraRnnU8S8 | ExtraRnnS8S8))
    desc.extras.compensationMask = mask();
  if (desc.extras.flags & ExtraAsymmetricSource)
    desc.extras.asymmetricCompensationMask = mask();
  if (desc.extras.flags & ExtraScaleAdjust)
    desc.extras.scaleAdjust = anyFloat();
}

TensorDesc RandomDesc::drawTensor() {
  TensorDesc desc;
  desc.ndims = static_cast<int32_t>(chance(80) ? 1 + below(4) : 1 + below(maxDims));
  desc.dataType = anyType();
  bool isSmall = desc.ndims > 6;
  for (int d = 0; d < desc.ndims; ++d) {
    int64_t dim = static_cast<int64_t>(below(isSmall ? 4 : 40));
    desc.dims[d] = desc.paddedDims[d] = chance(4) ? runtimeDim : dim == 0 && chance(80) ? 1 : dim;
  }
  desc.formatKind = chance(10) ? FormatKind::Any : FormatKind::Blocked;
  if (desc.isAny())
    return desc;
  if (chance(40))
    drawBlocks(desc);
  drawStrides(desc);
  if (chance(20))
    desc.offset0 = chance(10) ? runtimeDim : static_cast<int64_t>(below(1000));
  if (chance(20))
    drawExtras(desc);
  return desc;
}

TensorDesc RandomDesc::tensor() {
  for (;;)
    if (TensorDesc desc = drawTensor(); desc.validate())
      return desc;
}

std::map<int32_t, QuantParams> RandomDesc::quantParams() {
  constexpr int32_t arguments[] = {
      1, 2, 17, 33, 41, 77, 4096, 32768 | 2, 32768 * 32 | 17, 32768 * 33 | 1, 32768 * 2 | 999};
  std::map<int32_t, QuantParams> all;
  for (uint64_t count = below(4); count > 0; --count) {
    QuantParams &params = all[arguments[below(std::size(arguments))]];
    params = {};
    params.mask = static_cast<int32_t>(below(4096));
    params.dataType = anyType();
    if (chance(20)) {
      params.isOnHost = true;
      params.mask = 0;
      continue;
    }
    if (chance(30))
      params.groups = {static_cast<int64_t>(1 + below(64)), static_cast<int64_t>(1 + below(64))};
  }
  return all;
}

PostOp RandomDesc::postOp() {
  PostOp op;
  op.kind = static_cast<PostOp::Kind>(below(4));
  switch (op.kind) {
  case PostOp::Kind::Eltwise:
    op.alg = static_cast<Alg>(static_cast<int32_t>(chance(70) ? Alg::EltwiseRelu : Alg::EltwiseReluDst) +
                              static_cast<int32_t>(below(7)));
    op.alpha = anyFloat();
    op.beta = anyFloat();
    break;
  case PostOp::Kind::Binary:
    op.alg = static_cast<Alg>(static_cast<int32_t>(Alg::BinaryAdd) + static_cast<int32_t>(below(13)));
    op.src1 = tensor();
    if (op.alg == Alg::BinarySelect)
      op.src2 = tensor();
    break;
  case PostOp::Kind::Sum:
    op.scale = anyFloat();
    op.zeroPoint = static_cast<int32_t>(engine());
    op.dataType = chance(50) ? DataType::Undef : anyType();
    break;
  case PostOp::Kind::Prelu:
    op.mask = static_cast<int32_t>(below(4096));
    break;
  case PostOp::Kind::Depthwise: // has no text form
    break;
  }
  return op;
}

Attributes RandomDesc::attributes() {
  Attributes attr;
  if (chance(30))
    return attr;
  attr.scratchpadMode = static_cast<ScratchpadMode>(below(2));
  attr.fpmathMode = static_cast<FpmathMode>(below(5));
  attr.fpmathApplyToInt = chance(30);
  attr.accumulationMode = static_cast<AccumulationMode>(below(6));
  attr.deterministic = chance(30);
  attr.naive = chance(10);
  attr.scales = quantParams();
  attr.zeroPoints = quantParams();
  for (uint64_t count = chance(10) ? maxPostOps : below(4); count > 0; --count)
    attr.postOps.push_back(postOp());
  if (chance(40)) {
    attr.rnn.dataScale = anyFloat();
    attr.rnn.dataShift = anyFloat();
    attr.rnn.weightsMask = static_cast<int32_t>(below(4096));
    attr.rnn.projectionMask = static_cast<int32_t>(below(4096));
    for (uint64_t count = below(20); count > 0; --count)
      attr.rnn.weightsScales.push_back(anyFloat());
    for (uint64_t count = below(20); count > 0; --count)
      attr.rnn.projectionScales.push_back(anyFloat());
  }
  return attr;
}

namespace {

/// Draws every field of an operation; algorithms and kinds are drawn from all values.
struct FieldDrawer {
  RandomDesc &random;
  void operator()(const char *, PropKind &value) {
    constexpr PropKind all[] = {PropKind::Undef,       PropKind::ForwardTraining, PropKind::ForwardInference,
                                PropKind::Backward,    PropKind::BackwardData,    PropKind::BackwardWeights,
                                PropKind::BackwardBias};
    value = all[random.below(std::size(all))];
  }
  void operator()(const char *, Alg &value) {
    constexpr Alg all[] = {Alg::Undef,      Alg::EltwiseLog,      Alg::EltwiseTanh, Alg::BinaryAdd,
                           Alg::VanillaRnn, Alg::VanillaLstm,     Alg::VanillaGru,  Alg::VanillaAugru,
                           Alg::LbrGru,     Alg::SoftmaxAccurate, Alg::SoftmaxLog,  Alg::LbrAugru};
    value = all[random.below(std::size(all))];
  }
  void operator()(const char *, RnnDirection &value) { value = static_cast<RnnDirection>(random.below(5)); }
  void operator()(const char *, EngineKind &value) { value = static_cast<EngineKind>(random.below(3)); }
  void operator()(const char *, GemmOffset &value) { value = static_cast<GemmOffset>(random.below(4)); }
  void operator()(const char *, bool &value) { value = random.chance(50); }
  void operator()(const char *, int32_t &value) { value = static_cast<int32_t>(random.below(UINT32_MAX)); }
  void operator()(const char *, uint32_t &value) { value = static_cast<uint32_t>(random.below(UINT32_MAX)); }
  void operator()(const char *, float &value) { value = static_cast<float>(random.below(100)) / 8; }
  void operator()(const char *, std::string &value) {
    for (uint64_t count = random.below(12); count > 0; --count)
      value += static_cast<char>(random.below(256));
  }
  void operator()(const char *, std::vector<float> &values) {
    for (uint64_t count = random.below(4); count > 0; --count)
      values.push_back(random.anyFloat());
  }
  void operator()(const char *, std::vector<TensorDesc> &values) {
    values.resize(random.chance(2) ? random.below(40) : random.below(4));
    for (TensorDesc &value : values)
      (*this)("", value);
  }
  void operator()(const char *, TensorDesc &value) {
    if (random.chance(60))
      value = random.tensor();
  }
};

} // namespace

PrimitiveDesc RandomDesc::problem() {
  PrimitiveDesc desc;
  FieldDrawer drawer{*this};
  constexpr PrimitiveKind kinds[] = {
#define QUERN_PRIMITIVE(NAME, WORD, VALUE, TAKES_DROPOUT, IS_EXACT) PrimitiveKind::NAME,
#include "Desc/Primitives.def"
      PrimitiveKind::Mlir,
  };
  desc.setKind(kinds[below(std::size(kinds))]);
  std::visit([&]<typename Op>(Op &op) { Op::visitFields(op, drawer); }, desc.op);
  desc.attr = attributes();
  return desc;
}

} // namespace quern::test
