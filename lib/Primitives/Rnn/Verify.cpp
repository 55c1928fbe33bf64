//===- Verify.cpp - What an RNN problem must be ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every refusal names its constraint. L, D, SLC, SIC, DHC, DIC are what weights_layer, weights_iter and
// weights_projection say (Shape.h). Invalid (the caller's bug):
//   C1  Each tensor and the attributes are well-formed (checked in Registry.cpp, for every primitive).
//   C2  prop is a propagation kind of RNNs: fwd_t, fwd_i or bwd.
//   C3  cell is rnn, lstm, gru, lbr_gru, augru or lbr_augru.
//   C4  direction is left2right, right2left, bidirectional_concat or bidirectional_sum.
//   C5  activation is relu, tanh or logistic for cell rnn; the other cells have none.
//   C6  flags are 1 (diff weights overwritten), 65536 (stack of both directions) or their sum.
//   C7  Forward has src_layer, weights_layer, weights_iter and dst_layer, and no tensor of gradients.
//   C8  Only lstm has src_iter_c, dst_iter_c, weights_peephole, weights_projection; src_iter and src_iter_c come
//       together, and so do dst_iter and dst_iter_c.
//   C9  augru and lbr_augru have attention; no other cell does.
//   C10 Ranks: layers and attention 3; seq_lengths 1; weights_layer, weights_iter 5; all others 4.
//   C11 L is the same in all tensors that have it.
//   C12 D is 2 for a bidirectional direction, otherwise 1, in all tensors that have it.
//   C13 Gates: rnn 1, lstm 4, the others 3; of a bias one more where the cell is linear before
//       reset; of weights_peephole 3.
//   C14 src_layer has SLC channels.
//   C15 src_iter has SIC channels.
//   C16 weights_iter, weights_peephole, weights_projection, bias, src_iter_c and dst_iter_c have DHC.
//   C17 dst_iter has DIC channels.
//   C18 dst_layer has DIC channels, 2 DIC for bidirectional_concat.
//   C19 T is the same in src_layer, dst_layer and attention.
//   C20 N is the same in all tensors that have it.
//   C21 attention has one channel.
//   C22 L > 1: SLC is DIC; D times DIC with the flag for a stack of both directions.
//   C23 T > 1, or not known: SIC is DIC.
//   C24 gru, lbr_gru, augru, lbr_augru: SIC is DHC.
//   C25 Outputs, gradients of backward among them, do not broadcast: no stride 0 over more than one element.
//   C26 Scales of weights have mask 0 or 24 (gate and channel), those of the projection 0 or 8 (channel).
//   C27 There is one scale for each combination of the masked indices.
//   C28 Scales are finite and not 0, the data shift is finite; of s8 data it is 0.
// Invalid at execution (the runtime checks these):
//   C29 Every argument is given.
//   C30 Outputs share no byte with another argument, unless dst_iter lies on src_iter, or dst_iter_c on
//       src_iter_c, of its layout and type.
//   C31 The sizes that are given only then fit each other.
// Unimplemented:
//   C32 Packed weights are packed for the same direction: forward's or backward's `any`.
//   C33 augru and lbr_augru have one layer and direction left2right.
//   C34 src_layer is of f32, bf16, f16, u8 or s8.
//   C35 The other tensors are of the types that go with it (docs/primitives/rnn.md).
//   C36 u8 and s8: inference, and not augru or lbr_augru.
//   C37 seq_lengths is of s32.
//   C38 Of training, channels are beside each other or a known number of elements apart.
//   C39 Of weights, bias and peephole everything is known; of the other tensors all dims but T and N. Or, of inference
//       in f32 or bf16 with one layer and direction, SLC, SIC and DHC are given at execution together: without
//       projection, attention and seq_lengths, weights packed as those of some width, or plain as all other tensors,
//       with channels beside each other and known offsets.
//   C40 Tensors are plain, without padding; weights may be packed as `any` packs them for this target.
//   C41 Only s8 weights have sums appended: rnn_u8s8 with mask 27, of the projection 11.
//   C42 There are no scales, zero points or post-ops.
//   C43 RNN quantization is for u8 and s8 data; scales of a projection are for a cell that has one.
//   C44 Scratchpad mode user knows all sizes.
//   C45 What is kept of all steps fits 63 bits.
// Of backward, invalid:
//   C46 It has src_layer, weights_layer, weights_iter, dst_layer and diff_dst_layer, and a gradient that it writes.
//   C47 A gradient is of a tensor that there is.
//   C48 A gradient has the rank and dims of its tensor.
//   C49 The hint is a forward_training RNN with the same cell, direction, stack, dims and types.
// Of backward at execution, invalid (the runtime checks it on the CPU):
//   C50 The workspace is one that forward wrote for the same cell, direction, stack, dims and types.
// Of backward, unimplemented:
//   C51 Gradients are of f32.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Rnn/Verify.h"

#include "Primitives/Registry.h"
#include "Primitives/Rnn/Layouts.h"
#include "Primitives/Rnn/Workspace.h"

#include <algorithm>

namespace quern {
namespace {

using namespace rnn;

/// Values that mean nothing for the cell do not tell two problems apart.
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

/// What backward reads of it first.
std::shared_ptr<const std::string> headerBytesOf(const RnnDesc &rnn) {
  return std::make_shared<const std::string>(bytesOfHeader(workspaceHeaderOf(rnn)));
}

/// The dim of N in a tensor of that rank; behind the last where it has none. T is in front of it in those of rank 3.
int dimOfBatch(const TensorDesc &desc) { return desc.ndims == 1 ? 0 : desc.ndims == 3 ? 1 : desc.ndims == 4 ? 2 : 5; }

/// The problem with the tensors of an execution.
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

/// T and N are those of src_layer, the first argument, wherever they are open; channels as they must be.
Result<void> checkOpenSizes(const VerifiedProblem &problem, std::span<const TensorDesc *const> given) {
  if (hasOpenWidths(rnnOf(problem)))
    return checkGivenWidths(withTensors(rnnOf(problem), given));
  for (size_t i = 1; i < problem.arguments.size(); ++i) {
    const ArgumentInfo &argument = problem.arguments[i];
    const int batch = dimOfBatch(argument.desc), steps = argument.desc.ndims == 3 ? 0 : -1;
    for (int d = 0; d < argument.desc.ndims && argument.index != arg::workspace; ++d)
      if (argument.desc.dims[d] == runtimeDim && given[i]->dims[d] != given[0]->dims[d == steps ? 0 : 1])
        return invalidArguments("dim ", d, " of ", argument.name, " is ", given[i]->dims[d], ", ",
                                d == batch ? "N" : "T", " of src_layer ", given[0]->dims[d == steps ? 0 : 1]);
  }
  return {};
}

/// Sizes that follow from T and N of src_layer, and that the workspace is as long as these ask for.
Result<TensorDesc> gridAt(const VerifiedProblem &problem, std::span<const TensorDesc *const> given) {
  const int64_t steps = given[0]->dims[0], batch = given[0]->dims[1], bytes = given.back()->dims[0];
  constexpr int64_t most = INT32_MAX; // kernels write them into the workspace's header as s32
  if (steps > most || batch > most)
    return invalidArguments("T = ", steps, " and N = ", batch, " are given at execution; training takes up to ", most,
                            " of each then");
  Result<WorkspaceLayout> wanted = workspaceOf(rnnOf(problem), steps, batch);
  if (!wanted)
    return wanted.takeError();
  if (wanted->desc.dims[0] != bytes)
    return invalidArguments("workspace has ", bytes, " bytes; for T = ", steps, " and N = ", batch, " it has ",
                            wanted->desc.dims[0]);
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
  // States are read before the first step, or copied then, and written behind the last.
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
  Result<WorkspaceLayout> workspace = workspaceOf(rnn);
  if (!workspace)
    return workspace.takeError();
  const auto place = isBackward(rnn) ? std::find_if(arguments.begin(), arguments.end(),
                                                    [](const ArgumentInfo &argument) { return argument.isOutput; })
                                     : arguments.end();
  ArgumentInfo &listed =
      *arguments.insert(place, {arg::workspace, "workspace", workspace->desc, /*isOutput=*/!isBackward(rnn)});
  if (isBackward(rnn))
    listed.header = headerBytesOf(rnn);
  if (!Shape::of(rnn).isOpen())
    return {};
  listed.grid = std::make_shared<const TensorDesc>(workspaceGridOf(rnn));
  problem.gridAt = gridAt;
  problem.headerAt = isBackward(rnn) ? headerAt : nullptr;
  return {};
}

/// Whether backward multiplies by the transposed of these weights: the gradient of src_layer may not be asked for.
bool isTransposedNeeded(const RnnDesc &rnn, int32_t argument) {
  return argument != arg::weights || rnn.weightsLayer.dims[0] > 1 || !rnn.diffSrcLayer.isZero();
}

/// Weights that a step of each execution packs or rounds.
Result<void> listPackedWeights(VerifiedProblem &problem, const Target &target) {
  const RnnDesc &rnn = std::get<Boxed<RnnDesc>>(problem.desc.op);
  const FpmathMode fpmath = problem.desc.attr.fpmathMode;
  if (hasOpenWidths(rnn)) { // weights are read as they lie
    const bool arePlain = rnn.weightsLayer.isPlain() && rnn.weightsIter.isPlain();
    const bool areMultiplied = target.hasPairDots() && (arePlain || !target.hasPatchDots());
    if (rnn.srcLayer.dataType == DataType::BF16 && !areMultiplied) { // rows are widened once for all products
      problem.intermediates.push_back({arg::src, "src_layer", rnn.srcLayer, false});
      problem.intermediates.back().desc.dataType = DataType::F32;
    }
    return {};
  }
  const bool isRounded = areWeightsRounded(rnn, fpmath, target);
  for (const NamedTensor &tensor : forwardTensors(rnn)) {
    const bool isProjection = tensor.argument == arg::weights3;
    if (tensor.desc.isZero() || (tensor.argument != arg::weights && tensor.argument != arg::weights1 && !isProjection))
      continue;
    const bool areInPlace = isBackward(rnn)
                                ? areReadTransposedInPlace(rnn, tensor.desc, fpmath, target)
                                : areReadInPlace(rnn, tensor.desc, tensor.argument == arg::weights, fpmath, target);
    if ((areInPlace && !isRounded) || (isBackward(rnn) && !isTransposedNeeded(rnn, tensor.argument)))
      continue;
    Result<TensorDesc> packed = isBackward(rnn) ? packedTransposed(tensor.desc, fpmath, target)
                                : isProjection  ? packedProjection(tensor.desc, fpmath, target)
                                                : packedWeights(rnn, tensor.desc, fpmath, target);
    if (!packed)
      return Error{packed.error().status, concat(tensor.name, ": ", packed.error().message)};
    packed->extras = {};
    packed->dataType = isRounded ? DataType::BF16 : packed->dataType;
    problem.intermediates.push_back({tensor.argument, tensor.name, *packed, false});
  }
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
  constexpr int32_t ofGradients = arg::diffSrc - arg::src; // from a tensor's argument to its gradient's
  return *std::find_if(tensors.begin(), tensors.end(),
                       [&](const NamedTensor &tensor) { return tensor.argument == gradient - ofGradients; });
}

Result<VerifiedProblem> verifyRnn(const PrimitiveDesc &desc, const Target &target, const PrimitiveDesc *forwardHint) {
  VerifiedProblem problem;
  problem.desc = desc;
  RnnDesc &rnn = std::get<Boxed<RnnDesc>>(problem.desc.op);
  for (auto check : {checkKind, checkDims, checkTypes})
    if (Result<void> ok = check(rnn); !ok)
      return ok.takeError();
  if (Result<void> ok = checkHint(rnn, forwardHint); !ok)
    return ok.takeError();
  if (Result<void> ok = checkAttributes(rnn, desc.attr); !ok)
    return ok.takeError();
  if (Result<void> ok = checkLayouts(rnn, desc.attr, target); !ok)
    return ok.takeError();
  if (hasOpenWidths(rnn) && !target.isCpu())
    return unimplemented("rnn is not implemented for channels that are given at execution on devices (rnn C39)");
  if (Result<void> ok = resolveLayouts(rnn, desc.attr.fpmathMode, target); !ok)
    return ok.takeError();
  dropMeaningless(rnn);
  if (Result<void> ok = listArguments(problem); !ok)
    return ok.takeError();
  if (Result<void> ok = listPackedWeights(problem, target); !ok)
    return ok.takeError();
  problem.isNoop = hasZeroDim(rnn);
  problem.checkSizes = checkOpenSizes;
  problem.citations = {" (rnn C29)", " (rnn C30)", " (rnn C31)", " (rnn C50)"};
  return problem;
}

bool rnnRoundsFactors(const PrimitiveDesc &desc, const Target &target) {
  return arePairsRounded(*std::get<Boxed<RnnDesc>>(desc.op), desc.attr.fpmathMode, target);
}

} // namespace quern
