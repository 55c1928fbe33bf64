//===- Types.cpp - Types and layouts of an RNN's tensors ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Verify.cpp lists the constraints.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Rnn/Layouts.h"
#include "Primitives/Rnn/Verify.h"

#include <algorithm>

namespace quern::rnn {
namespace {

/// Returns the types that a tensor may have, given the type of src_layer.
std::vector<DataType> typesOf(std::string_view name, const RnnDesc &rnn) {
  const DataType src = rnn.srcLayer.dataType;
  const bool isWeight = isPackable(name);
  bool isState = name == "src_iter" || name == "dst_iter" || name == "dst_layer";
  if (isQuantized(rnn))
    return isWeight  ? std::vector{DataType::S8}
           : isState ? std::vector{src, DataType::F32}
                     : std::vector{DataType::F32};
  if (isWeight || isState || src == DataType::F32)
    return {src};
  return {DataType::F32, src}; // c, bias, weights_peephole, attention
}

/// Checks C34, C35 and C37.
Result<void> checkType(const NamedTensor &tensor, const RnnDesc &rnn) {
  std::string_view name = tensor.name;
  const DataType src = rnn.srcLayer.dataType, type = tensor.desc.dataType;
  if (name == "src_layer") {
    if (src == DataType::F32 || src == DataType::BF16 || src == DataType::F16 || isQuantized(rnn))
      return {};
    return unimplemented("rnn is not implemented for src_layer of type ", nameOf(src),
                         "; it is for f32, bf16, f16, u8, s8 (rnn C34)");
  }
  if (name == "seq_lengths") {
    if (type == DataType::S32)
      return {};
    return unimplemented("rnn is not implemented for seq_lengths of type ", nameOf(type), "; it is for s32 (rnn C37)");
  }
  const std::vector<DataType> allowed = typesOf(name, rnn);
  if (std::find(allowed.begin(), allowed.end(), type) != allowed.end())
    return {};
  std::string names(nameOf(allowed[0]));
  for (size_t i = 1; i < allowed.size(); ++i)
    names.append(" or ").append(nameOf(allowed[i]));
  return unimplemented("rnn is not implemented for ", name, " of type ", nameOf(type), " with src_layer of type ",
                       nameOf(src), "; it is for ", names, " (rnn C35)");
}

/// Checks C36.
Result<void> checkUse(const RnnDesc &rnn) {
  if (isQuantized(rnn) && (isTraining(rnn) || hasAttention(rnn)))
    return unimplemented("rnn is not implemented for src_layer of type ", nameOf(rnn.srcLayer.dataType), " with ",
                         hasAttention(rnn) ? "cell " : "propagation kind ",
                         hasAttention(rnn) ? nameOf(rnn.cell) : nameOf(rnn.prop), " (rnn C36)");
  return {};
}

/// Checks C38. In training, T and N may be open, and so may the strides of T, N and of the dims before them.
Result<void> checkOpenStrides(const RnnDesc &rnn) {
  for (const NamedTensor &tensor : allTensors(rnn)) {
    const TensorDesc &desc = tensor.desc;
    if (!isTraining(rnn) || desc.isZero() || desc.isAny())
      continue;
    const bool isPerSequence = !isOfWeights(tensor) && desc.ndims <= 4; // plain, with the channels last
    const int channels = desc.ndims == 1 ? 1 : desc.ndims - 1;
    for (int d = 0; d < desc.ndims; ++d)
      if (desc.strides[d] == runtimeDim && (d == channels || !isPerSequence))
        return unimplemented("rnn is not implemented for training if stride ", d, " of ", tensor.name,
                             " is known only at execution; those of T, N and the dims before them may be (rnn C38)");
    if (desc.offset0 == runtimeDim)
      return unimplemented("rnn is not implemented for training if the offset of ", tensor.name,
                           " is known only at execution (rnn C38)");
  }
  return {};
}

/// Checks C51.
Result<void> checkGradients(const RnnDesc &rnn) {
  for (const NamedTensor &gradient : gradientTensors(rnn))
    if (!gradient.desc.isZero() && gradient.desc.dataType != DataType::F32)
      return unimplemented("rnn is not implemented for ", gradient.name, " of type ", nameOf(gradient.desc.dataType),
                           "; it is for f32 (rnn C51)");
  return {};
}

/// Checks C25.
Result<void> checkOutput(const NamedTensor &tensor) {
  const TensorDesc &desc = tensor.desc;
  for (int d = 0; d < desc.ndims; ++d)
    if (desc.strides[d] == 0 && (desc.dims[d] == runtimeDim || desc.dims[d] > 1))
      return invalidArguments(tensor.name, " has stride 0 over dim ", d,
                              ", which is longer than 1; only a source may broadcast (rnn C25)");
  return {};
}

/// Checks C41.
Result<void> checkSums(const NamedTensor &tensor) {
  const TensorExtras &extras = tensor.desc.extras;
  std::string_view name = tensor.name;
  int32_t mask = name == "weights_projection" ? projectionSumMask : weightsSumMask;
  const bool isWeight = isPackable(name);
  if (extras.flags == 0 || (isWeight && tensor.desc.dataType == DataType::S8 && extras.flags == ExtraRnnU8S8 &&
                            extras.compensationMask == mask))
    return {};
  return unimplemented("rnn is not implemented for ", name, " with appended sums of flags ", extras.flags, " and mask ",
                       extras.compensationMask, "; s8 weights may have rnn_u8s8 (4) with mask ", mask, " (rnn C41)");
}

/// Returns true if `any` may become this layout for this kind of propagation, in the fpmath mode or in strict mode.
bool isPacked(const NamedTensor &tensor, bool isForBackward, const RnnDesc &rnn, const Attributes &attr,
              const Target &target) {
  if (!isPackable(tensor.name))
    return false;
  if (hasOpenWidths(rnn))
    return !isForBackward && tensor.desc.ndims == 5 && arePackedOfSomeWidth(rnn, tensor.desc, target);
  for (FpmathMode mode : {attr.fpmathMode, FpmathMode::Strict}) {
    Result<TensorDesc> packed = packedLayout(rnn, tensor.desc, isForBackward, mode, target);
    if (packed && tensor.desc.sameLayout(*packed))
      return true;
  }
  return false;
}

/// Checks C32 and C40.
Result<void> checkLayout(const NamedTensor &tensor, const RnnDesc &rnn, const Attributes &attr, const Target &target) {
  const TensorDesc &desc = tensor.desc;
  if ((desc.isPlain() && !desc.hasPadding()) || isPacked(tensor, isBackward(rnn), rnn, attr, target))
    return {};
  if (isPacked(tensor, !isBackward(rnn), rnn, attr, target))
    return unimplemented(isBackward(rnn) ? "backward" : "forward", " rnn is not implemented for ", tensor.name,
                         " of layout ", desc.tag(), ", packed for ", isBackward(rnn) ? "forward" : "backward",
                         "; it is for the layout that its own `any` resolves to (rnn C32)");
  return unimplemented("rnn is not implemented for ", tensor.name, " with ",
                       desc.isPlain() ? "padding" : "inner blocks",
                       isPackable(tensor.name) ? " other than those that `any` resolves to on this target (rnn C40)"
                                               : "; it must be plain (rnn C40)");
}

} // namespace

Result<void> checkTypes(const RnnDesc &rnn) {
  for (const NamedTensor &tensor : forwardTensors(rnn))
    if (!tensor.desc.isZero())
      QUERN_RETURN_IF_ERROR(checkType(tensor, rnn));
  for (auto check : {checkUse, checkOpenStrides})
    QUERN_RETURN_IF_ERROR(check(rnn));
  return checkGradients(rnn);
}

Result<void> checkLayouts(const RnnDesc &rnn, const Attributes &attr, const Target &target) {
  for (const NamedTensor &tensor : allTensors(rnn)) {
    if (tensor.desc.isZero() || tensor.desc.isAny())
      continue;
    QUERN_RETURN_IF_ERROR(checkSums(tensor));
    QUERN_RETURN_IF_ERROR(checkLayout(tensor, rnn, attr, target));
    QUERN_RETURN_IF_ERROR(tensor.isOutput ? checkOutput(tensor) : Result<void>());
  }
  return {};
}

} // namespace quern::rnn
