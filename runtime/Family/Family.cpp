//===- Family.cpp - Problems that one kernel with open sizes serves -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Builds the canonical form twice: with its sizes and with open sizes. Both are verified. The sizes are then bound to
// the open form with the same checks as the memories of an execution, so a family serves only problems that such an
// execution accepts.
//
//===----------------------------------------------------------------------===//
#include "Family/Family.h"

#include "Engine/Overlap.h"
#include "Engine/RuntimeSizes.h"
#include "Family/Loops.h"

#include <algorithm>
#include <bit>

namespace quern {
namespace {

/// Collects the tensors of an operation in the order of its fields; the last one is its result.
struct TensorList {
  std::vector<TensorDesc *> tensors{};
  template <typename T> void operator()(const char *, T &value) {
    if constexpr (std::is_same_v<T, TensorDesc>) {
      if (!value.isZero())
        tensors.push_back(&value);
    } else if constexpr (std::is_same_v<T, std::vector<TensorDesc>>) {
      for (TensorDesc &tensor : value)
        tensors.push_back(&tensor);
    }
  }
};

std::vector<TensorDesc *> tensorsOf(PrimitiveDesc &desc) {
  TensorList list;
  std::visit([&]<typename Op>(Op &op) { Op::visitFields(op, list); }, desc.op);
  return std::move(list.tensors);
}

/// Visits the masks of scales and zero points.
template <typename Visit> void forEachMask(Attributes &attr, const Visit &visit) {
  for (auto &[argument, scale] : attr.scales)
    visit(scale.mask);
  for (auto &[argument, zeroPoint] : attr.zeroPoints)
    visit(zeroPoint.mask);
}

TensorDesc tensorOf(const TensorDesc &like, const std::vector<Loop> &loops, size_t position, bool isOpen) {
  TensorDesc tensor;
  tensor.ndims = static_cast<int32_t>(loops.size());
  tensor.dataType = like.dataType;
  tensor.formatKind = FormatKind::Blocked;
  tensor.offset0 = isOpen ? runtimeDim : like.offset0;
  // If there is one column, rows may have any stride.
  const bool isColumn = !loops.back().joined.empty() && loops.back().sizeIn(position) == 1;
  for (size_t d = 0; d < loops.size(); ++d) {
    const Loop &loop = loops[d];
    const bool isInnermost = d + 1 == loops.size();
    const int64_t size = loop.sizeIn(position);
    // The stride of a dim of size 1 is irrelevant and stays, except that the innermost one becomes 1 (contiguous).
    const int64_t stride = loop.isBroadcast[position] || (size == 1 && isInnermost) ? 1 : loop.strides[position];
    bool isFixed = loop.isBroadcast[position] || (stride == 1 && (isInnermost || (size > 1 && !isColumn)));
    for (const Loop &few : loops) // the stride of the dim around packed lanes is known
      isFixed |= few.isFew && few.strides[position] == 1 && stride == few.size;
    tensor.dims[d] = loop.isBroadcast[position] ? 1 : isOpen && !loop.isFew ? runtimeDim : size;
    tensor.paddedDims[d] = tensor.dims[d];
    tensor.strides[d] = isOpen && !isFixed ? runtimeDim : stride;
  }
  return tensor;
}

/// Sets the tensors of the operation to these loops, and its axis and masks to the kept loop.
void reshape(PrimitiveDesc &desc, const std::vector<Loop> &loops, bool isOpen) {
  const std::vector<TensorDesc *> tensors = tensorsOf(desc);
  for (size_t i = 0; i < tensors.size(); ++i)
    *tensors[i] = tensorOf(*tensors[i], loops, i, isOpen);
  const auto kept = static_cast<int32_t>(
      std::find_if(loops.begin(), loops.end(), [](const Loop &loop) { return loop.isKept; }) - loops.begin());
  if (auto *softmax = std::get_if<SoftmaxDesc>(&desc.op))
    softmax->axis = kept;
  if (auto *concat = std::get_if<ConcatDesc>(&desc.op))
    concat->axis = kept;
  forEachMask(desc.attr, [&](int32_t &mask) { mask = mask ? 1 << kept : 0; });
}

/// Marks loops whose size stays fixed. These are short rows of a softmax, because several of them share a vector. They
/// are also a few lanes that are packed in the result or the first source and strided in the other: that number of
/// vectors is interleaved.
void markFew(std::vector<Loop> &loops, bool hasAxis) {
  constexpr int64_t maxInRow = 15, maxLanes = 8;
  const size_t result = loops.empty() ? 0 : loops.front().strides.size() - 1;
  for (Loop &few : loops) {
    if (hasAxis) {
      few.isFew = few.isKept && few.size > 1 && few.size <= maxInRow &&
                  std::all_of(few.strides.begin(), few.strides.end(), [](int64_t stride) { return stride == 1; });
      continue;
    }
    for (auto [packed, other] : {std::pair(result, size_t(0)), std::pair(size_t(0), result)})
      few.isFew |= few.size <= maxLanes && few.strides[packed] == 1 && few.strides[other] != 1 &&
                   std::any_of(loops.begin(), loops.end(), [&](const Loop &many) {
                     return many.strides[packed] == few.size && many.strides[other] == 1;
                   });
  }
}

/// Returns true if a few elements are contiguous in the result and strided in the source, and are not lanes to
/// interleave, as in weights for dots of pairs and fours. With every size open, no vector would be filled.
bool fillsNoVector(const std::vector<Loop> &loops) {
  constexpr int64_t maxBeside = 4;
  if (loops.size() < 2)
    return false;
  const Loop &last = loops.back();
  return last.size > 1 && last.size <= maxBeside && !last.isFew && last.strides.back() == 1 &&
         last.strides.front() != 1 && !last.isBroadcast.front();
}

/// The canonical form of a problem, with its sizes and with open sizes.
struct Forms {
  PrimitiveDesc sized, open;
};

/// Returns the dim that must not be merged: an axis, or a dim with separate scales or zero points. Nullopt if several
/// dims have these.
std::optional<KeptDim> keptDim(PrimitiveDesc &desc) {
  if (const auto *softmax = std::get_if<SoftmaxDesc>(&desc.op))
    return KeptDim{softmax->axis};
  if (const auto *concat = std::get_if<ConcatDesc>(&desc.op))
    return KeptDim{concat->axis, /*joinsTensors=*/true};
  int32_t masks = 0;
  forEachMask(desc.attr, [&](int32_t &mask) { masks |= mask; });
  if (masks & (masks - 1))
    return std::nullopt;
  return masks ? KeptDim{std::countr_zero(static_cast<uint32_t>(masks))} : KeptDim{};
}

std::optional<Forms> mergedForms(const PrimitiveDesc &desc) {
  Forms forms{desc, desc};
  const std::vector<TensorDesc *> tensors = tensorsOf(forms.sized);
  const std::optional<KeptDim> kept = keptDim(forms.sized);
  std::optional<std::vector<Loop>> loops = kept ? loopsOf(tensors, *kept) : std::nullopt;
  if (!loops)
    return std::nullopt;
  const bool hasAxis = desc.kind() == PrimitiveKind::Softmax;
  if (!kept->joinsTensors)
    markFew(*loops, hasAxis);
  if (desc.kind() == PrimitiveKind::Reorder && fillsNoVector(*loops))
    return std::nullopt;
  // Rows, and lanes, have the same form with and without dims around them.
  const bool hasLanes = !hasAxis && loops->size() == 2 && loops->front().isFew != loops->back().isFew;
  if (loops->empty() || loops->front().isKept || hasLanes)
    loops->insert(loops->begin(), emptyLoop(*loops, tensors.size()));
  if (loops->size() > static_cast<size_t>(maxDims))
    return std::nullopt;
  reshape(forms.sized, *loops, /*isOpen=*/false);
  reshape(forms.open, *loops, /*isOpen=*/true);
  return forms;
}

/// Opens the dims [first, end) for steps and sequences, and the strides of the dims before the last of them.
void openSequences(TensorDesc &tensor, int32_t first, int32_t end) {
  if (tensor.isZero())
    return;
  for (int32_t d = first; d < end; ++d)
    tensor.dims[d] = tensor.paddedDims[d] = runtimeDim;
  for (int32_t d = 0; d < end - 1; ++d)
    tensor.strides[d] = runtimeDim; // these strides are products with the size of a later, open dim
}

/// Opens all sizes except layers, directions and gates, and all strides except those of channels and inside panels of
/// packed weights.
void openWidths(RnnDesc &rnn) {
  const auto open = [](TensorDesc &tensor, std::initializer_list<int32_t> dims) {
    if (tensor.isZero())
      return;
    for (const int32_t d : dims)
      tensor.dims[d] = tensor.paddedDims[d] = runtimeDim;
    const bool isPacked = tensor.innerBlockCount > 0;
    for (int32_t d = 0; d + (isPacked ? 0 : 1) < tensor.ndims; ++d)
      if (!isPacked || d != 2)
        tensor.strides[d] = runtimeDim;
  };
  for (TensorDesc *tensor : {&rnn.srcLayer, &rnn.dstLayer})
    open(*tensor, {0, 1, 2});
  for (TensorDesc *tensor : {&rnn.srcIter, &rnn.srcIterC, &rnn.dstIter, &rnn.dstIterC})
    open(*tensor, {2, 3});
  for (TensorDesc *tensor : {&rnn.weightsLayer, &rnn.weightsIter})
    open(*tensor, {2, 4});
  for (TensorDesc *tensor : {&rnn.weightsPeephole, &rnn.bias})
    open(*tensor, {3});
}

/// Returns true if open widths cost less than about two fifths of the speed: the channels fill a tile of the products.
/// Packed weights also need enough work per step. Plain weights need enough sequences that share them, and few columns
/// beyond whole tiles.
bool opensWidths(const RnnDesc &rnn) {
  constexpr int64_t tile = 64, minOfPlain = 4, minWork = 192;
  const int64_t sequences = rnn.srcLayer.dims[1], channels = rnn.weightsLayer.dims[4];
  if (channels < tile)
    return false;
  if (rnn.weightsLayer.isPlain() || rnn.weightsIter.isPlain())
    return sequences >= minOfPlain && channels % tile * 4 <= channels;
  return sequences * channels >= minWork;
}

/// Returns the form with all sizes open (rnn C39), if it is fast enough, then the form with open steps and sequences.
std::vector<Forms> recurrentForms(const PrimitiveDesc &desc) {
  Forms forms{desc, desc};
  for (const TensorDesc *tensor : tensorsOf(forms.sized))
    if (tensor->hasRuntimeDims() || tensor->hasZeroDim())
      return {};
  RnnDesc &rnn = *std::get<HeldDesc<RnnDesc>>(forms.open.op);
  if (rnn.prop != PropKind::ForwardInference)
    return {};
  std::vector<Forms> all;
  if (opensWidths(rnn))
    openWidths(*std::get<HeldDesc<RnnDesc>>(all.emplace_back(forms).open.op));
  for (TensorDesc *tensor : {&rnn.srcLayer, &rnn.dstLayer, &rnn.attention})
    openSequences(*tensor, 0, 2);
  for (TensorDesc *tensor : {&rnn.srcIter, &rnn.srcIterC, &rnn.dstIter, &rnn.dstIterC})
    openSequences(*tensor, 2, 3);
  openSequences(rnn.seqLengths, 0, 1);
  all.push_back(std::move(forms));
  return all;
}

/// Returns the form of a quern_sgemm() call: every size and leading dimension is open; which dim is contiguous stays
/// fixed. The dims of a product are not merged.
std::optional<Forms> productForms(const PrimitiveDesc &desc) {
  Forms forms{desc, desc};
  const std::vector<TensorDesc *> tensors = tensorsOf(forms.open);
  for (TensorDesc *tensor : tensors) {
    if (tensor->ndims != 2 || !tensor->isPlain() || !isOrdinary(*tensor) || tensor->offset0 != 0)
      return std::nullopt;
    const int32_t row = tensor->strides[1] == 1 ? 0 : 1; // the dim whose stride is the leading dimension
    if (tensor->strides[1 - row] != 1 || (tensor == tensors.back() && row == 1))
      return std::nullopt;
    for (int32_t d = 0; d < 2; ++d)
      tensor->dims[d] = tensor->paddedDims[d] = runtimeDim;
    tensor->strides[row] = runtimeDim;
  }
  return forms;
}

/// Returns true if the attributes have no tensors except scales and zero points, and the library allocates scratch.
/// Scales and zero points must have one value or, in a reorder, one per index of a dim. Reorders that quantize RNN
/// weights are excluded, because merging would move the dims of their masks.
bool areSimple(const Attributes &attr, PrimitiveKind kind) {
  const auto isOther = [&](const auto &one) {
    return !one.second.groups.empty() || (one.second.mask != 0 && kind != PrimitiveKind::Reorder);
  };
  const auto hasTensor = [](const PostOp &op) {
    return op.kind != PostOp::Kind::Eltwise && op.kind != PostOp::Kind::Sum;
  };
  return (kind != PrimitiveKind::Reorder || attr.rnn.isIdentity()) && attr.scratchpadMode == ScratchpadMode::Library &&
         !attr.dropout.isSet() && !attr.naive && std::none_of(attr.scales.begin(), attr.scales.end(), isOther) &&
         std::none_of(attr.zeroPoints.begin(), attr.zeroPoints.end(), isOther) &&
         std::none_of(attr.postOps.begin(), attr.postOps.end(), hasTensor);
}

/// Returns candidates; the first one that can be verified is the family.
std::vector<Forms> formsOf(const PrimitiveDesc &desc) {
  const auto only = [](std::optional<Forms> forms) {
    return forms ? std::vector<Forms>{std::move(*forms)} : std::vector<Forms>();
  };
  switch (desc.kind()) {
  case PrimitiveKind::Softmax:
  case PrimitiveKind::Eltwise:
  case PrimitiveKind::Binary:
  case PrimitiveKind::Reorder:
  case PrimitiveKind::Sum:
  case PrimitiveKind::Concat:
    return only(mergedForms(desc));
  case PrimitiveKind::Rnn:
    return recurrentForms(desc);
  case PrimitiveKind::Gemm:
    return only(productForms(desc));
  default:
    return {};
  }
}

/// Returns true if the family allows everything that executions of the problem may do.
bool serves(const VerifiedProblem &family, const VerifiedProblem &problem) {
  const auto &own = family.arguments, &wanted = problem.arguments;
  if (family.isNoop || own.size() != wanted.size())
    return false;
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i].index != wanted[i].index || own[i].isOutput != wanted[i].isOutput || own[i].header || own[i].grid)
      return false;
    for (size_t o = 0; o < own.size() && wanted[i].overwrittenBy; ++o)
      if (wanted[o].index == wanted[i].overwrittenBy && mayBeInPlace(wanted[o].desc, wanted[i].desc) &&
          (own[i].overwrittenBy != wanted[i].overwrittenBy || !mayBeInPlace(own[o].desc, own[i].desc)))
        return false;
  }
  return true;
}

/// Returns the open sizes of a family for the same problem with its sizes; nullopt if the family does not accept them.
std::optional<std::vector<int64_t>> bind(const VerifiedProblem &family, const VerifiedProblem &sized) {
  std::vector<const TensorDesc *> given;
  int64_t count = 0;
  for (size_t i = 0; i < family.arguments.size(); ++i) {
    given.push_back(&sized.arguments[i].desc);
    count += family.arguments[i].runtimeSizes();
  }
  if (count == 0 || count > static_cast<int64_t>(maxRuntimeSizes))
    return std::nullopt;
  std::vector<int64_t> sizes(static_cast<size_t>(count));
  std::span<int64_t> left = sizes;
  for (size_t i = 0; i < given.size(); ++i)
    if (const auto own = static_cast<size_t>(family.arguments[i].runtimeSizes())) {
      if (!takeRuntimeSizes(family.arguments[i], *given[i], left))
        return std::nullopt;
      left = left.subspan(own);
    }
  const auto checkDims = family.checkSizes ? family.checkSizes : checkSharedDims;
  return checkDims(family, given) ? std::optional(std::move(sizes)) : std::nullopt;
}

std::optional<Family> familyBy(const Forms &forms, const VerifiedProblem &problem, const Target &target) {
  Result<VerifiedProblem> sized = verify(forms.sized, target), open = verify(forms.open, target);
  if (!sized || !open || !serves(*sized, problem) || !serves(*open, problem))
    return std::nullopt;
  std::optional<std::vector<int64_t>> sizes = bind(*open, *sized);
  if (!sizes)
    return std::nullopt;
  KernelKey key = keyOf(open->desc, target);
  return Family{std::move(*open), std::move(key), std::move(*sizes)};
}

} // namespace

std::optional<Family> familyOf(const VerifiedProblem &problem, const Target &target) {
  if (!target.isCpu() || problem.isNoop || !areSimple(problem.desc.attr, problem.desc.kind()))
    return std::nullopt;
  for (const Forms &forms : formsOf(problem.desc))
    if (std::optional<Family> family = familyBy(forms, problem, target))
      return family;
  return std::nullopt;
}

} // namespace quern
