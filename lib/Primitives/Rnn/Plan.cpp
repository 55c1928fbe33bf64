//===- Plan.cpp - How an RNN is computed ----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Primitives/Rnn/Plan.h"

#include "Primitives/Rnn/Layouts.h"
#include "Primitives/Rnn/Verify.h"
#include "Support/CheckedMath.h"

namespace quern::rnn {
namespace {

/// Returns true if backward reads these weights without a copy: they are packed, or they are f32 that is not rounded to
/// bf16 and their input channels are contiguous.
bool areReadTransposedInPlace(const RnnDesc &rnn, const TensorDesc &weights, FpmathMode fpmath, const Target &target) {
  constexpr int input = 2;
  return !weights.isPlain() || (weights.dataType == DataType::F32 && !arePairsRounded(rnn, fpmath, target) &&
                                weights.strides[input] == 1 && weights.dims[input] > 1);
}

/// Returns true if cells read these weights without a packed copy: they are packed, or too few steps read them to pay
/// for packing in each execution. `isOfLayer`: weights of the layer's input.
bool areReadInPlace(const RnnDesc &rnn, const TensorDesc &weights, bool isOfLayer, FpmathMode fpmath,
                    const Target &target) {
  if (!weights.isPlain())
    return true;
  const int output = weights.ndims - 1;
  // A single column is not vectorized.
  const bool hasContiguousColumns = weights.strides[output] == 1 && weights.dims[output] > 1;
  constexpr int64_t fewSteps = 16; // too few to pay for packing, for one sequence
  // Maximum number of rows of the product of all steps' inputs, which reads each part of the weights once for all rows.
  constexpr int64_t fewRows = 64;
  const int64_t steps = rnn.srcLayer.dims[0], batch = rnn.srcLayer.dims[1];
  const bool isReadOnce = isOfLayer && mergesInputs(rnn) && steps * batch <= fewRows;
  const bool fewReads = isReadOnce || steps == 1 || (batch == 1 && steps != runtimeDim && steps < fewSteps);
  return weights.dataType == DataType::F32 && !arePairsRounded(rnn, fpmath, target) && hasContiguousColumns && fewReads;
}

/// Returns true if products of f32 use pairs that are rounded to bf16 and an execution rounds the weights once;
/// otherwise every step rounds the weights that it reads.
bool areWeightsRounded(const RnnDesc &rnn, FpmathMode fpmath, const Target &target) {
  constexpr int64_t manySteps = 16, manyRows = 256; // enough to pay for rounding
  const int64_t steps = rnn.srcLayer.dims[0], batch = rnn.srcLayer.dims[1];
  const bool hasMany =
      steps == runtimeDim || steps >= manySteps || (steps > 1 && (batch == runtimeDim || steps * batch >= manyRows));
  return hasMany && arePairsRounded(rnn, fpmath, target);
}

/// Returns true if backward multiplies by these transposed weights; the gradient of src_layer may be absent.
bool isTransposedNeeded(const RnnDesc &rnn, int32_t argument) {
  return argument != arg::weights || rnn.weightsLayer.dims[0] > 1 || !rnn.diffSrcLayer.isZero();
}

} // namespace

bool weightsExceedCache(const RnnDesc &rnn) {
  constexpr int64_t nearBytes = int64_t(12) << 20; // part of a shared cache that is kept from step to step
  CheckedInt elements = 0;
  for (const TensorDesc *weights : {&rnn.weightsLayer, &rnn.weightsIter})
    elements += CheckedInt(weights->dims[2]) * weights->dims[3] * weights->dims[4];
  const CheckedInt bytes = elements * bytesOf(rnn.weightsLayer.dataType);
  return bytes.overflowed() || bytes.value() > nearBytes;
}

bool mergesInputs(const RnnDesc &rnn) {
  constexpr int64_t minSteps = 4;
  const int64_t fewRows = weightsExceedCache(rnn) ? 32 : 4;
  const TensorDesc &src = rnn.srcLayer;
  if (src.hasRuntimeDims() || !rnn.seqLengths.isZero()) // steps after the end of all sequences must not be computed
    return false;
  constexpr int64_t maxElements = int64_t(1) << 26; // limit of the sums, which are all in memory at once
  const CheckedInt sums = CheckedInt(src.dims[0]) * src.dims[1] * rnn.weightsLayer.dims[3] * rnn.weightsLayer.dims[4];
  if (sums.overflowed() || sums.value() > maxElements)
    return false;
  const bool hasEvenRows = src.dims[1] == 1 || src.strides[0] == src.dims[1] * src.strides[1];
  return hasEvenRows && src.dims[0] >= minSteps && src.dims[1] <= fewRows;
}

Result<void> planCopies(VerifiedProblem &problem, const Target &target) {
  const RnnDesc &rnn = std::get<Boxed<RnnDesc>>(problem.desc.op);
  const FpmathMode fpmath = problem.desc.attr.fpmathMode;
  if (hasOpenWidths(rnn)) { // weights are read in place
    const bool allPlain = rnn.weightsLayer.isPlain() && rnn.weightsIter.isPlain();
    const bool isMultiplied = target.hasPairDots() && (allPlain || !target.hasPatchDots());
    if (rnn.srcLayer.dataType == DataType::BF16 && !isMultiplied) { // rows are widened once for all products
      problem.intermediates.push_back({arg::src, "src_layer", rnn.srcLayer, false});
      problem.intermediates.back().desc.dataType = DataType::F32;
    }
    return {};
  }
  const bool isRounded = areWeightsRounded(rnn, fpmath, target);
  for (const NamedTensor &tensor : forwardTensors(rnn)) {
    if (tensor.desc.isZero() || !isPackable(tensor.name))
      continue;
    const bool isInPlace = isBackward(rnn)
                               ? areReadTransposedInPlace(rnn, tensor.desc, fpmath, target)
                               : areReadInPlace(rnn, tensor.desc, tensor.argument == arg::weights, fpmath, target);
    if ((isInPlace && !isRounded) || (isBackward(rnn) && !isTransposedNeeded(rnn, tensor.argument)))
      continue;
    Result<TensorDesc> packed = packedLayout(rnn, tensor.desc, isBackward(rnn), fpmath, target);
    if (!packed)
      return Error{packed.error().status, concat(tensor.name, ": ", packed.error().message)};
    packed->extras = {};
    packed->dataType = isRounded ? DataType::BF16 : packed->dataType;
    problem.intermediates.push_back({tensor.argument, tensor.name, *packed, false});
  }
  return {};
}

} // namespace quern::rnn
