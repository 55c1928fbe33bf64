//===- Family.cpp - Problems that one kernel of open sizes serves ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The canonical form is made twice, with the sizes and with them open. Both are verified, and the one is bound to the
// other by what binds the memories of an execution to open sizes: so nothing is served that such an execution would not
// be.
//
//===----------------------------------------------------------------------===//
#include "Tiers/Family.h"

#include "Core/Overlap.h"
#include "Core/RuntimeSizes.h"
#include "Tiers/Loops.h"

#include <algorithm>
#include <bit>

namespace quern {
namespace {

/// The tensors of an operation in the order of its fields; the last is its result.
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

/// Of scales and zero points.
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
  const bool isColumn = !loops.back().joined.empty() && loops.back().sizeIn(position) == 1; // with rows of any stride
  for (size_t d = 0; d < loops.size(); ++d) {
    const Loop &loop = loops[d];
    const bool isInnermost = d + 1 == loops.size();
    const int64_t size = loop.sizeIn(position);
    // Of one element the stride is as it was, which says nothing: the innermost is told as contiguous.
    const int64_t stride = loop.isBroadcast[position] || (size == 1 && isInnermost) ? 1 : loop.strides[position];
    bool isFixed = loop.isBroadcast[position] || (stride == 1 && (isInnermost || (size > 1 && !isColumn)));
    for (const Loop &few : loops) // what follows them is packed
      isFixed |= few.isFew && few.strides[position] == 1 && stride == few.size;
    tensor.dims[d] = loop.isBroadcast[position] ? 1 : isOpen && !loop.isFew ? runtimeDim : size;
    tensor.paddedDims[d] = tensor.dims[d];
    tensor.strides[d] = isOpen && !isFixed ? runtimeDim : stride;
  }
  return tensor;
}

/// Gives the operation the tensors of these loops, and the kept one's place to what names it.
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

/// Of short rows of a softmax the length is not open, since several share a vector. Nor is that of a few lanes that are
/// packed in one of result and first source, and apart in the other: as many vectors are interleaved.
void markFew(std::vector<Loop> &loops, bool hasAxis) {
  constexpr int64_t mostInRow = 15, mostLanes = 8;
  const size_t result = loops.empty() ? 0 : loops.front().strides.size() - 1;
  for (Loop &few : loops) {
    if (hasAxis) {
      few.isFew = few.isKept && few.size > 1 && few.size <= mostInRow &&
                  std::all_of(few.strides.begin(), few.strides.end(), [](int64_t stride) { return stride == 1; });
      continue;
    }
    for (auto [packed, other] : {std::pair(result, size_t(0)), std::pair(size_t(0), result)})
      few.isFew |= few.size <= mostLanes && few.strides[packed] == 1 && few.strides[other] != 1 &&
                   std::any_of(loops.begin(), loops.end(), [&](const Loop &many) {
                     return many.strides[packed] == few.size && many.strides[other] == 1;
                   });
  }
}

/// A few elements lie side by side in the result, apart in the source, and are no lanes to interleave, as in weights
/// that dots read in pairs and fours: with every size open no vector is filled.
bool fillsNoVector(const std::vector<Loop> &loops) {
  constexpr int64_t mostBeside = 4;
  if (loops.size() < 2)
    return false;
  const Loop &last = loops.back();
  return last.size > 1 && last.size <= mostBeside && !last.isFew && last.strides.back() == 1 &&
         last.strides.front() != 1 && !last.isBroadcast.front();
}

/// The same problem in its canonical form, with its sizes and with them open.
struct Forms {
  PrimitiveDesc sized, open;
};

/// The dim that is to stay as it is: an axis, or what scales and zero points tell apart. Nothing if those are several.
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
  // One form for rows, and for lanes, with and without others around them.
  const bool areLanes = !hasAxis && loops->size() == 2 && loops->front().isFew != loops->back().isFew;
  if (loops->empty() || loops->front().isKept || areLanes)
    loops->insert(loops->begin(), emptyLoop(*loops, tensors.size()));
  if (loops->size() > static_cast<size_t>(maxDims))
    return std::nullopt;
  reshape(forms.sized, *loops, /*isOpen=*/false);
  reshape(forms.open, *loops, /*isOpen=*/true);
  return forms;
}

/// Opens what belongs to steps and sequences: the outer two dims of what has a time, and that of the sequences of
/// states.
void openSequences(TensorDesc &tensor, int32_t first, int32_t end) {
  if (tensor.isZero())
    return;
  for (int32_t d = first; d < end; ++d)
    tensor.dims[d] = tensor.paddedDims[d] = runtimeDim;
  for (int32_t d = 0; d < end - 1; ++d)
    tensor.strides[d] = runtimeDim; // they are products with an open dim behind them
}

/// Opens all but the layers, directions, gates, the strides of channels and what lies within panels of packed weights.
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

/// Whether open widths cost less than about two fifths of the speed: channels fill a tile of the products, steps have
/// some work; enough sequences share plain weights, and few of their columns are beyond whole tiles.
bool areWidthsOpened(const RnnDesc &rnn) {
  constexpr int64_t tile = 64, leastOfPlain = 4, leastWork = 192;
  const int64_t sequences = rnn.srcLayer.dims[1], channels = rnn.weightsLayer.dims[4];
  if (channels < tile)
    return false;
  if (rnn.weightsLayer.isPlain() || rnn.weightsIter.isPlain())
    return sequences >= leastOfPlain && channels % tile * 4 <= channels;
  return sequences * channels >= leastWork;
}

/// With all sizes open (rnn C39) if that serves; else with steps and sequences.
std::vector<Forms> recurrentForms(const PrimitiveDesc &desc) {
  Forms forms{desc, desc};
  for (const TensorDesc *tensor : tensorsOf(forms.sized))
    if (tensor->hasRuntimeDims() || tensor->hasZeroDim())
      return {};
  RnnDesc &rnn = *std::get<HeldDesc<RnnDesc>>(forms.open.op);
  if (rnn.prop != PropKind::ForwardInference)
    return {};
  std::vector<Forms> all;
  if (areWidthsOpened(rnn))
    openWidths(*std::get<HeldDesc<RnnDesc>>(all.emplace_back(forms).open.op));
  for (TensorDesc *tensor : {&rnn.srcLayer, &rnn.dstLayer, &rnn.attention})
    openSequences(*tensor, 0, 2);
  for (TensorDesc *tensor : {&rnn.srcIter, &rnn.srcIterC, &rnn.dstIter, &rnn.dstIterC})
    openSequences(*tensor, 2, 3);
  openSequences(rnn.seqLengths, 0, 1);
  all.push_back(std::move(forms));
  return all;
}

/// The problem of a call of the function: every size and leading dimension is open, and where a row or column is
/// contiguous is not. The dims of a product do not merge.
std::optional<Forms> productForms(const PrimitiveDesc &desc) {
  Forms forms{desc, desc};
  const std::vector<TensorDesc *> tensors = tensorsOf(forms.open);
  for (TensorDesc *tensor : tensors) {
    if (tensor->ndims != 2 || !tensor->isPlain() || !isOrdinary(*tensor) || tensor->offset0 != 0)
      return std::nullopt;
    const int32_t row = tensor->strides[1] == 1 ? 0 : 1; // whose stride is the leading dimension
    if (tensor->strides[1 - row] != 1 || (tensor == tensors.back() && row == 1))
      return std::nullopt;
    for (int32_t d = 0; d < 2; ++d)
      tensor->dims[d] = tensor->paddedDims[d] = runtimeDim;
    tensor->strides[row] = runtimeDim;
  }
  return forms;
}

/// Attributes without tensors but scales and zero points, of one value or, of a reorder, one for each index of a dim,
/// and that leave memory to the library. What quantizes for an RNN is of dims in their places, which merging moves.
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

/// Those of which the first that can be verified is its family.
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

/// What executions of the problem may do, its family must allow.
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

/// The open sizes of a family, given the same problem with its sizes; nothing if it does not take them.
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
