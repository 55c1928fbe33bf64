//===- Verify.cpp - Verification of RNN problems --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every error names its constraint. L, D, SLC, SIC, DHC and DIC are taken from weights_layer, weights_iter and
// weights_projection (Shape.h). Invalid (an error of the caller):
//   C1  Each tensor and the attributes are well-formed (checked in Registry.cpp, for every primitive).
//   C2  prop is a propagation kind of RNNs: fwd_t, fwd_i or bwd.
//   C3  cell is rnn, lstm, gru, lbr_gru, augru or lbr_augru.
//   C4  direction is left2right, right2left, bidirectional_concat or bidirectional_sum.
//   C5  activation is relu, tanh or logistic for cell rnn; the other cells have none.
//   C6  flags are 1 (diff weights overwritten), 65536 (stack of both directions) or their sum.
//   C7  Forward has src_layer, weights_layer, weights_iter and dst_layer, and no gradients.
//   C8  Only lstm has src_iter_c, dst_iter_c, weights_peephole, weights_projection; src_iter and src_iter_c are given
//       together, and so are dst_iter and dst_iter_c.
//   C9  augru and lbr_augru have attention; no other cell does.
//   C10 Ranks: layers and attention 3; seq_lengths 1; weights_layer, weights_iter 5; all others 4.
//   C11 L is the same in all tensors that have it.
//   C12 D is 2 for a bidirectional direction, otherwise 1, in all tensors that have it.
//   C13 Gates: rnn 1, lstm 4, the others 3; bias has one more if the cell is linear before reset; weights_peephole
//       has 3.
//   C14 src_layer has SLC channels.
//   C15 src_iter has SIC channels.
//   C16 weights_iter, weights_peephole, weights_projection, bias, src_iter_c and dst_iter_c have DHC.
//   C17 dst_iter has DIC channels.
//   C18 dst_layer has DIC channels, 2 DIC for bidirectional_concat.
//   C19 T is the same in src_layer, dst_layer and attention.
//   C20 N is the same in all tensors that have it.
//   C21 attention has one channel.
//   C22 If L > 1, SLC is DIC; D times DIC with the flag for a stack of both directions.
//   C23 If T > 1 or T is open, SIC is DIC.
//   C24 For gru, lbr_gru, augru and lbr_augru, SIC is DHC.
//   C25 Outputs, including gradients of backward, do not broadcast: no stride 0 over more than one element.
//   C26 Scales of weights have mask 0 or 24 (gate and channel), scales of the projection 0 or 8 (channel).
//   C27 There is one scale for each combination of the masked indices.
//   C28 Scales are finite and not 0; the data shift is finite, and 0 for s8 data.
// Invalid at execution (checked by the runtime):
//   C29 Every argument is given.
//   C30 Outputs share no byte with another argument, except that dst_iter may be src_iter, and dst_iter_c src_iter_c,
//       with the same layout and type.
//   C31 Sizes known only at execution match each other.
// Unimplemented:
//   C32 Packed weights are packed for the same direction: forward's or backward's `any`.
//   C33 augru and lbr_augru have one layer and direction left2right.
//   C34 src_layer is of f32, bf16, f16, u8 or s8.
//   C35 The other tensors have types that are supported with src_layer's (docs/primitives/rnn.md).
//   C36 u8 and s8: inference, and not augru or lbr_augru.
//   C37 seq_lengths is of s32.
//   C38 In training, the strides of channels and of gradients of weights and all offsets are known.
//   C39 Weights, bias and peephole have no open sizes; the other tensors have none except T and N. Alternatively, SLC,
//       SIC and DHC are open together: for inference in f32 or bf16 with one layer and direction, without projection,
//       attention and seq_lengths. Weights are then packed like weights of some width, or plain like all other tensors,
//       with contiguous channels and known offsets.
//   C40 Tensors are plain, without padding; weights may be packed as `any` packs them for this target.
//   C41 Only s8 weights have sums appended: rnn_u8s8 with mask 27, for the projection 11.
//   C42 There are no scales, zero points or post-ops.
//   C43 RNN quantization is for u8 and s8 data; scales of a projection are for a cell that has one.
//   C44 With scratchpad mode user, all sizes are known.
//   C45 The size of the state of all steps fits 63 bits.
// Backward, invalid:
//   C46 It has src_layer, weights_layer, weights_iter, dst_layer and diff_dst_layer, and a gradient that it writes.
//   C47 The tensor of each gradient is given.
//   C48 A gradient has the rank and dims of its tensor.
//   C49 The hint is a forward_training RNN with the same cell, activation, direction, stack, dims and types.
// Backward, invalid at execution (checked by the runtime on the CPU):
//   C50 The workspace was written by forward for the same cell, activation, direction, stack, dims and types.
// Backward, unimplemented:
//   C51 Gradients are of f32.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Rnn/Verify.h"

#include "Primitives/Registry.h"
#include "Primitives/Rnn/Layouts.h"
#include "Primitives/Rnn/Plan.h"
#include "Primitives/Rnn/Workspace.h"

#include <algorithm>

namespace quern {
namespace {

using namespace rnn;

/// Resets fields that have no meaning for this problem, so that they do not distinguish two problems.
void dropMeaningless(RnnDesc &rnn) {
  rnn.beta = 0;
  if (rnn.cell != Alg::VanillaRnn || rnn.activation != Alg::EltwiseRelu)
    rnn.alpha = 0;
  const std::vector<NamedTensor> gradients = gradientTensors(rnn);
  if (std::none_of(gradients.begin(), gradients.end(),
                   [](const NamedTensor &one) { return isOfWeights(one) && !one.desc.isZero(); }))
    rnn.flags &= ~static_cast<uint32_t>(RnnDiffWeightsOverwrite);
  if (rnn.weightsLayer.dims[0] == 1)
    rnn.flags &= ~static_cast<uint32_t>(RnnStackConcatenated);
}

bool hasZeroDim(const RnnDesc &rnn) {
  for (const NamedTensor &tensor : allTensors(rnn))
    if (!tensor.desc.isZero() && tensor.desc.hasZeroDim())
      return true;
  return false;
}

const RnnDesc &rnnOf(const VerifiedProblem &problem) { return std::get<Boxed<RnnDesc>>(problem.desc.op); }

std::string bytesOfHeader(const WorkspaceHeader &header) {
  return {reinterpret_cast<const char *>(&header), sizeof(header)};
}

/// Returns the header that backward expects in its workspace.
std::shared_ptr<const std::string> headerBytesOf(const RnnDesc &rnn) {
  return std::make_shared<const std::string>(bytesOfHeader(workspaceHeaderOf(rnn)));
}

/// Returns the dim of N in a tensor of this rank; past the end if it has none. In tensors of rank 3, T precedes it.
int dimOfBatch(const TensorDesc &desc) { return desc.ndims == 1 ? 0 : desc.ndims == 3 ? 1 : desc.ndims == 4 ? 2 : 5; }

/// Returns the problem with the tensors of an execution.
RnnDesc withTensors(RnnDesc rnn, std::span<const TensorDesc *const> given) {
  size_t next = 0;
  auto take = [&](const char *, auto &value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, TensorDesc>)
      if (!value.isZero())
        value = *given[next++];
  };
  RnnDesc::visitFields(rnn, take);
  return rnn;
}

/// Checks that open T and N equal those of src_layer, the first argument, or the dims of a problem with open widths.
Result<void> checkOpenSizes(const VerifiedProblem &problem, std::span<const TensorDesc *const> given) {
  if (hasOpenWidths(rnnOf(problem)))
    return checkGivenWidths(withTensors(rnnOf(problem), given));
  for (size_t i = 1; i < problem.arguments.size(); ++i) {
    const ArgumentInfo &argument = problem.arguments[i];
    const int batch = dimOfBatch(argument.desc), steps = argument.desc.ndims == 3 ? 0 : -1;
    for (int d = 0; d < argument.desc.ndims && argument.index != arg::workspace; ++d)
      if (argument.desc.dims[d] == runtimeDim && given[i]->dims[d] != given[0]->dims[d == steps ? 0 : 1])
        return invalidArguments("dim ", d, " of ", argument.name, " is ", given[i]->dims[d], "; ",
                                d == batch ? "N" : "T", " of src_layer is ", given[0]->dims[d == steps ? 0 : 1]);
  }
  return {};
}

/// Returns the sizes that follow from T and N of src_layer. Fails if the workspace does not have the size for these.
Result<TensorDesc> gridAt(const VerifiedProblem &problem, std::span<const TensorDesc *const> given) {
  const int64_t steps = given[0]->dims[0], batch = given[0]->dims[1], bytes = given.back()->dims[0];
  constexpr int64_t most = INT32_MAX; // kernels write them into the workspace's header as s32
  if (steps > most || batch > most)
    return invalidArguments("T = ", steps, " and N = ", batch, " are open sizes; training supports at most ", most,
                            " for each");
  QUERN_ASSIGN_OR_RETURN(WorkspaceLayout wanted, workspaceOf(rnnOf(problem), steps, batch));
  if (wanted.desc.dims[0] != bytes)
    return invalidArguments("workspace has ", bytes, " bytes; for T = ", steps, " and N = ", batch, " it must have ",
                            wanted.desc.dims[0]);
  return workspaceGridOf(rnnOf(problem), steps, batch);
}

std::string headerAt(const VerifiedProblem &problem, std::span<const TensorDesc *const> given) {
  WorkspaceHeader header = workspaceHeaderOf(rnnOf(problem));
  header.steps = given[0]->dims[0], header.batch = given[0]->dims[1];
  return bytesOfHeader(header);
}

Result<void> listArguments(VerifiedProblem &problem) {
  const RnnDesc &rnn = std::get<Boxed<RnnDesc>>(problem.desc.op);
  std::vector<ArgumentInfo> &arguments = problem.arguments;
  // States at the start are read or copied before the first step, and final states are written after the last.
  const auto overwrittenBy = [&](int32_t index) {
    return isBackward(rnn) ? 0 : index == arg::src1 ? arg::dst1 : index == arg::src2 ? arg::dst2 : 0;
  };
  for (const NamedTensor &tensor : allTensors(rnn))
    if (!tensor.desc.isZero())
      arguments.push_back({tensor.argument, tensor.name, tensor.desc, tensor.isOutput,
                           isOfWeights(tensor) && !(rnn.flags & RnnDiffWeightsOverwrite),
                           overwrittenBy(tensor.argument), InPlace::Type});
  if (!isTraining(rnn))
    return {};
  QUERN_ASSIGN_OR_RETURN(WorkspaceLayout workspace, workspaceOf(rnn));
  const auto place = isBackward(rnn) ? std::find_if(arguments.begin(), arguments.end(),
                                                    [](const ArgumentInfo &argument) { return argument.isOutput; })
                                     : arguments.end();
  ArgumentInfo &listed =
      *arguments.insert(place, {arg::workspace, "workspace", workspace.desc, /*isOutput=*/!isBackward(rnn)});
  if (isBackward(rnn))
    listed.header = headerBytesOf(rnn);
  if (!Shape::of(rnn).isOpen())
    return {};
  listed.grid = std::make_shared<const TensorDesc>(workspaceGridOf(rnn));
  problem.gridAt = gridAt;
  problem.headerAt = isBackward(rnn) ? headerAt : nullptr;
  return {};
}

} // namespace

std::vector<NamedTensor> rnn::forwardTensors(const RnnDesc &rnn) {
  const bool isWritten = !isBackward(rnn);
  return {{"src_layer", arg::src, rnn.srcLayer, false},
          {"src_iter", arg::src1, rnn.srcIter, false},
          {"src_iter_c", arg::src2, rnn.srcIterC, false},
          {"attention", arg::attention, rnn.attention, false},
          {"seq_lengths", arg::seqLengths, rnn.seqLengths, false},
          {"weights_layer", arg::weights, rnn.weightsLayer, false},
          {"weights_iter", arg::weights1, rnn.weightsIter, false},
          {"weights_peephole", arg::weights2, rnn.weightsPeephole, false},
          {"weights_projection", arg::weights3, rnn.weightsProjection, false},
          {"bias", arg::bias, rnn.bias, false},
          {"dst_layer", arg::dst, rnn.dstLayer, isWritten},
          {"dst_iter", arg::dst1, rnn.dstIter, isWritten},
          {"dst_iter_c", arg::dst2, rnn.dstIterC, isWritten}};
}

std::vector<NamedTensor> rnn::gradientTensors(const RnnDesc &rnn) {
  return {{"diff_dst_layer", arg::diffDst, rnn.diffDstLayer, false},
          {"diff_dst_iter", arg::diffDst1, rnn.diffDstIter, false},
          {"diff_dst_iter_c", arg::diffDst2, rnn.diffDstIterC, false},
          {"diff_src_layer", arg::diffSrc, rnn.diffSrcLayer, true},
          {"diff_src_iter", arg::diffSrc1, rnn.diffSrcIter, true},
          {"diff_src_iter_c", arg::diffSrc2, rnn.diffSrcIterC, true},
          {"diff_attention", arg::diffAttention, rnn.diffAttention, true},
          {"diff_weights_layer", arg::diffWeights, rnn.diffWeightsLayer, true},
          {"diff_weights_iter", arg::diffWeights1, rnn.diffWeightsIter, true},
          {"diff_weights_peephole", arg::diffWeights2, rnn.diffWeightsPeephole, true},
          {"diff_weights_projection", arg::diffWeights3, rnn.diffWeightsProjection, true},
          {"diff_bias", arg::diffBias, rnn.diffBias, true}};
}

std::vector<NamedTensor> rnn::allTensors(const RnnDesc &rnn) {
  std::vector<NamedTensor> tensors;
  for (const std::vector<NamedTensor> &some : {forwardTensors(rnn), gradientTensors(rnn)})
    for (const NamedTensor &tensor : some)
      tensors.push_back(tensor);
  return tensors;
}

const NamedTensor &rnn::tensorOfGradient(int32_t gradient, const std::vector<NamedTensor> &tensors) {
  constexpr int32_t ofGradients = arg::diffSrc - arg::src; // a gradient's argument index minus its tensor's
  return *std::find_if(tensors.begin(), tensors.end(),
                       [&](const NamedTensor &tensor) { return tensor.argument == gradient - ofGradients; });
}

Result<VerifiedProblem> verifyRnn(const PrimitiveDesc &desc, const Target &target, const PrimitiveDesc *forwardHint) {
  VerifiedProblem problem;
  problem.desc = desc;
  RnnDesc &rnn = std::get<Boxed<RnnDesc>>(problem.desc.op);
  for (auto check : {checkKind, checkDims, checkTypes})
    QUERN_RETURN_IF_ERROR(check(rnn));
  QUERN_RETURN_IF_ERROR(checkHint(rnn, forwardHint));
  QUERN_RETURN_IF_ERROR(checkAttributes(rnn, desc.attr));
  QUERN_RETURN_IF_ERROR(checkLayouts(rnn, desc.attr, target));
  if (hasOpenWidths(rnn) && !target.isCpu())
    return unimplemented("rnn is not implemented for channels that are known only at execution on devices (rnn C39)");
  QUERN_RETURN_IF_ERROR(resolveLayouts(rnn, desc.attr.fpmathMode, target));
  dropMeaningless(rnn);
  QUERN_RETURN_IF_ERROR(listArguments(problem));
  QUERN_RETURN_IF_ERROR(planCopies(problem, target));
  problem.isNoop = hasZeroDim(rnn);
  problem.checkSizes = checkOpenSizes;
  problem.citations = {" (rnn C29)", " (rnn C30)", " (rnn C31)", " (rnn C50)"};
  return problem;
}

bool rnnRoundsFactors(const PrimitiveDesc &desc, const Target &target) {
  return arePairsRounded(*std::get<Boxed<RnnDesc>>(desc.op), desc.attr.fpmathMode, target);
}

} // namespace quern
