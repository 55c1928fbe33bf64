//===- Attributes.cpp - Random attributes of a reorder --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Masks of src and dst are drawn independently, so they usually differ.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Arguments.h"
#include "Reorder/Generator.h"

#include <algorithm>

namespace quern::cases::reorder {
namespace {

/// Attributes that the classes combine.
class Draw {
public:
  Draw(Random &random, Sides &sides, const OperandShape &shape) : random(random), sides(sides), shape(shape) {}
  AttributesDraw drawn;

  int32_t mask() { return drawMask(random, std::vector<bool>(shape.isOpen.size(), false)); }

  void addScales(bool inGroups = false) {
    int64_t which = random.between(1, 3);
    for (int32_t argument : {arg::src, arg::dst})
      if (which & (argument == arg::src ? 1 : 2))
        group(drawn.open.scales[argument] = withMask(scale()), inGroups);
  }

  /// Adds zero points to at least one of the integer sides.
  void addZeroPoints(bool inGroups = false) {
    bool isOfSrc = !isFloating(sides.src.dataType), isOfDst = !isFloating(sides.dst.dataType);
    int64_t which = isOfSrc && isOfDst ? random.between(1, 3) : isOfSrc ? 1 : isOfDst ? 2 : 0;
    for (int32_t argument : {arg::src, arg::dst})
      if (which & (argument == arg::src ? 1 : 2)) {
        QuantParams params{
            0, random.pick({DataType::S32, DataType::S32, DataType::S8, DataType::U8, DataType::F32}), {}};
        if (isClosed() && random.oneIn(5))
          params.dataType = random.pick({DataType::S4, DataType::U4});
        group(drawn.open.zeroPoints[argument] = withMask(params), inGroups);
      }
  }

  void addSum() { appendSum(random, sides.dst.dataType, drawn); }
  void addEltwise() { appendEltwise(random, drawn); }
  void addBinary() { appendBinary(random, shape, drawn); }

  void addCompensation() {
    padToBlocks(sides.dst);
    TensorExtras &extras = sides.dst.extras;
    std::vector<bool> none(shape.dims.size(), false);
    int64_t which = random.between(1, 3);
    if (which & 1)
      extras.flags |= ExtraS8S8, extras.compensationMask = drawMask(random, none);
    if (which & 2)
      extras.flags |= ExtraAsymmetricSource, extras.asymmetricCompensationMask = drawMask(random, none);
    if (random.oneIn(3))
      extras.flags |= ExtraScaleAdjust, extras.scaleAdjust = random.pick({0.5f, 1.0f, 0.3f});
  }

  void addRnnData() {
    drawn.open.rnn.dataScale = random.pick({127.0f, 63.5f, 0.7f, 1.0f});
    drawn.open.rnn.dataShift = random.pick({128.0f, 64.25f, 0.0f, -3.0f});
    if (drawn.open.rnn == RnnQuantization())
      drawn.open.rnn.dataShift = 1;
  }

  void addRnnWeights() {
    bool isProjection = shape.dims.size() == 4;
    padToBlocks(sides.dst);
    TensorExtras &extras = sides.dst.extras;
    int64_t kind = random.between(isProjection ? 1 : 0, 2);
    if (kind != 0)
      extras.flags |= kind == 1 ? ExtraRnnU8S8 : ExtraRnnS8S8, extras.compensationMask = isProjection ? 11 : 27;
    RnnQuantization &rnn = drawn.open.rnn;
    int32_t mask = random.oneIn(3) ? 0 : isProjection ? 8 : 24;
    size_t count = 1;
    for (size_t d = 0; d < shape.dims.size(); ++d)
      count *= mask >> d & 1 ? static_cast<size_t>(shape.dims[d]) : 1;
    (isProjection ? rnn.projectionMask : rnn.weightsMask) = mask;
    std::vector<float> &scales = isProjection ? rnn.projectionScales : rnn.weightsScales;
    for (size_t i = 0; i < count; ++i)
      scales.push_back(static_cast<float>(random.between(1, 200)) * 0.25f);
    if (rnn.weightsScales.empty() && rnn.projectionScales.empty()) // there is no channel
      rnn.dataScale = 2;
  }

private:
  /// A tensor with compensation must consist of whole blocks; a region that ends within a block cannot have any.
  static void padToBlocks(TensorDesc &desc) {
    int64_t blocks[maxDims];
    desc.blockSizes(blocks);
    for (int d = 0; d < desc.ndims; ++d)
      if (desc.paddedDims[d] != runtimeDim)
        desc.paddedDims[d] += (blocks[d] - desc.paddedDims[d] % blocks[d]) % blocks[d];
  }

  bool isClosed() const { return std::find(shape.isOpen.begin(), shape.isOpen.end(), true) == shape.isOpen.end(); }

  QuantParams scale() {
    QuantParams params = drawScale(random);
    if (random.oneIn(6))
      params.dataType = DataType::E8M0;
    return params;
  }

  QuantParams withMask(QuantParams params) {
    params.mask = mask();
    return params;
  }

  /// Draws group sizes that divide the last two dims, for dims that are in the mask.
  void group(QuantParams &params, bool inGroups) {
    size_t rank = shape.dims.size();
    if (!inGroups || rank < 2)
      return;
    for (size_t d = rank - 2; d < rank; ++d) {
      int64_t extent = shape.dims[d], size = 1;
      bool isKnown = !shape.isOpen[d] && extent > 0;
      for (size_t inner = d + 1; inner < rank; ++inner) // their size is the stride of a group
        isKnown = isKnown && !(shape.isOpen[inner] && params.mask >> inner & 1);
      if (isKnown && random.between(0, 3))
        params.mask |= 1 << d;
      for (int tries = 0; tries < 4 && isKnown && params.mask >> d & 1 && size == 1; ++tries)
        if (int64_t candidate = random.pick<int64_t>({2, 4, 8, 16, 32, 3, 5, extent}); extent % candidate == 0)
          size = candidate;
      params.groups.push_back(size);
    }
  }

  Random &random;
  Sides &sides;
  const OperandShape &shape;
};

} // namespace

AttributesDraw drawAttributes(Random &random, AttributeClass attribute, Sides &sides, const OperandShape &shape) {
  Draw draw(random, sides, shape);
  switch (attribute) {
  case AttributeClass::None:
    break;
  case AttributeClass::Scales:
    draw.addScales();
    break;
  case AttributeClass::ZeroPoints:
    draw.addZeroPoints();
    if (random.oneIn(2))
      draw.addScales();
    break;
  case AttributeClass::Groups:
    draw.addScales(/*inGroups=*/true);
    if (random.oneIn(2))
      draw.addZeroPoints(/*inGroups=*/true);
    break;
  case AttributeClass::Sum:
    draw.addSum();
    if (random.oneIn(3))
      draw.addScales();
    if (random.oneIn(3))
      draw.addZeroPoints();
    break;
  case AttributeClass::Eltwise:
  case AttributeClass::Binary:
    for (int64_t i = random.between(1, 3); i > 0; --i)
      attribute == AttributeClass::Eltwise ? draw.addEltwise() : draw.addBinary();
    break;
  case AttributeClass::Mixed:
    draw.addScales(random.oneIn(4));
    if (random.oneIn(2))
      draw.addZeroPoints(random.oneIn(4));
    for (int64_t i = random.between(1, 4), sum = random.between(0, 4); i > 0; --i)
      i == sum ? draw.addSum() : random.oneIn(2) ? draw.addEltwise() : draw.addBinary();
    break;
  case AttributeClass::Compensation:
    draw.addCompensation();
    if (random.oneIn(2))
      draw.addScales();
    break;
  case AttributeClass::RnnData:
    draw.addRnnData();
    break;
  case AttributeClass::RnnWeights:
    draw.addRnnWeights();
    break;
  }
  if (random.oneIn(6))
    drawModes(random, draw.drawn.open);
  if (random.oneIn(6))
    draw.drawn.open.scratchpadMode = ScratchpadMode::User;
  return draw.drawn;
}

} // namespace quern::cases::reorder
