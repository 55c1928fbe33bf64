//===- Reference.cpp - Reference of a product of two matrices -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// dst = alpha · (src - a) · (weights - b) + beta · dst + c. Floats: sums are in double; an alpha of 0 ignores the
// product. Integers: sums are modulo 2^32, scaled in double, rounded half away from zero and saturated; c is added
// modulo 2^32. Integer operations are exact except for this rounding. If K is 0, dst is unchanged.
//
//===----------------------------------------------------------------------===//
#include "Reference/Reference.h"
#include "Primitives/Arguments.h"
#include "Reference/Elements.h"

#include <cmath>

namespace quern {
namespace {

struct Operands {
  std::vector<double> src, weights, old, dstOffset;
  double alpha = 1, beta = 0, srcOffset = 0, weightsOffset = 0;
  int64_t rows, columns, depth;
};

int32_t wrapped(int64_t value) { return static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(value))); }

/// Returns the buffer of an argument that the problem has.
Result<const void *> bufferOf(const ReferenceInputs &inputs, int32_t argument, const char *name) {
  auto found = inputs.find(argument);
  if (found == inputs.end() || !found->second)
    return invalidArguments("gemm reference: no buffer for ", name, " (argument ", argument, ")");
  return found->second;
}

Result<void> readMatrix(const ReferenceInputs &inputs, int32_t argument, const char *name, const TensorDesc &desc,
                        std::vector<double> &to) {
  if (!desc.isBlockedFormat() || desc.hasRuntimeDims())
    return invalidArguments("gemm reference: the layout of ", name, " is not resolved");
  QUERN_ASSIGN_OR_RETURN(const void *buffer, bufferOf(inputs, argument, name));
  to = gather(desc, buffer);
  return {};
}

Result<void> readNumber(bool isGiven, const ReferenceInputs &inputs, int32_t argument, const char *name, DataType type,
                        double &to) {
  if (!isGiven)
    return {};
  QUERN_ASSIGN_OR_RETURN(const void *buffer, bufferOf(inputs, argument, name));
  to = loadElement(type, buffer, 0);
  return {};
}

Result<void> readDstOffset(const GemmDesc &gemm, const ReferenceInputs &inputs, Operands &operands) {
  if (gemm.dstOffset == GemmOffset::None)
    return {};
  QUERN_ASSIGN_OR_RETURN(const void *buffer, bufferOf(inputs, arg::gemmDstOffset, "dst_offset"));
  for (int64_t m = 0; m < operands.rows; ++m)
    for (int64_t n = 0; n < operands.columns; ++n) {
      int64_t at = gemm.dstOffset == GemmOffset::Column ? m : gemm.dstOffset == GemmOffset::Row ? n : 0;
      operands.dstOffset.push_back(loadElement(DataType::S32, buffer, at));
    }
  return {};
}

Result<Operands> readOperands(const GemmDesc &gemm, const ReferenceInputs &inputs) {
  Operands operands{.rows = gemm.dst.dims[0], .columns = gemm.dst.dims[1], .depth = gemm.src.dims[1]};
  const Result<void> steps[] = {
      readMatrix(inputs, arg::src, "src", gemm.src, operands.src),
      readMatrix(inputs, arg::weights, "weights", gemm.weights, operands.weights),
      gemm.beta ? readMatrix(inputs, arg::dst, "dst", gemm.dst, operands.old) : Result<void>(),
      readNumber(gemm.alpha, inputs, arg::gemmAlpha, "alpha", DataType::F32, operands.alpha),
      readNumber(gemm.beta, inputs, arg::gemmBeta, "beta", DataType::F32, operands.beta),
      readNumber(gemm.offsets, inputs, arg::gemmSrcOffset, "src_offset", gemm.src.dataType, operands.srcOffset),
      readNumber(gemm.offsets, inputs, arg::gemmWeightsOffset, "weights_offset", gemm.weights.dataType,
                 operands.weightsOffset),
      readDstOffset(gemm, inputs, operands),
  };
  for (const Result<void> &step : steps)
    if (!step)
      return step.error();
  return operands;
}

void computeFloat(const Operands &operands, int64_t m, int64_t n, ReferenceOutput &out) {
  double sum = 0, terms = 0;
  for (int64_t k = 0; k < operands.depth; ++k) {
    double term = operands.src[static_cast<size_t>(m * operands.depth + k)] *
                  operands.weights[static_cast<size_t>(k * operands.columns + n)];
    sum += term;
    terms += std::isfinite(term) ? std::fabs(term) : 0;
  }
  double value = operands.alpha == 0 ? 0 : operands.alpha * sum, magnitude = std::fabs(operands.alpha) * terms;
  if (!operands.old.empty()) {
    double old = operands.beta * operands.old[static_cast<size_t>(m * operands.columns + n)];
    value += old;
    magnitude += std::isfinite(old) ? std::fabs(old) : 0;
  }
  out.exact.push_back(value);
  out.magnitude.push_back(magnitude);
}

void computeInteger(const GemmDesc &gemm, const Operands &operands, int64_t m, int64_t n, ReferenceOutput &out) {
  uint32_t sum = 0;
  for (int64_t k = 0; k < operands.depth; ++k) {
    double a = operands.src[static_cast<size_t>(m * operands.depth + k)] - operands.srcOffset;
    double b = operands.weights[static_cast<size_t>(k * operands.columns + n)] - operands.weightsOffset;
    sum += static_cast<uint32_t>(static_cast<int32_t>(a * b));
  }
  int32_t value = static_cast<int32_t>(sum);
  size_t at = static_cast<size_t>(m * operands.columns + n);
  if (gemm.alpha || gemm.beta) {
    double scaled = operands.alpha * value + (gemm.beta ? operands.beta * operands.old[at] : 0);
    value = static_cast<int32_t>(roundTo(DataType::S32, std::round(scaled)));
  }
  if (!operands.dstOffset.empty())
    value = wrapped(int64_t(value) + static_cast<int64_t>(operands.dstOffset[at]));
  out.exact.push_back(value);
}

} // namespace

Result<std::vector<ReferenceOutput>> computeGemmReference(const PrimitiveDesc &desc, const ReferenceInputs &inputs) {
  const GemmDesc &gemm = std::get<GemmDesc>(desc.op);
  QUERN_ASSIGN_OR_RETURN(Operands operands, readOperands(gemm, inputs));
  ReferenceOutput out{arg::dst, gemm.dst, {}};
  const bool isFloat = gemm.dst.dataType == DataType::F32;
  out.criterion = isFloat ? Criterion::Threshold : Criterion::Value;
  if (operands.depth == 0) { // dst is unchanged, whatever its contents
    out.exact.assign(static_cast<size_t>(operands.rows * operands.columns), 0);
    out.exactOf = [dst = gemm.dst](const ReferenceInputs &results) { return gather(dst, results.at(arg::dst)); };
    return std::vector<ReferenceOutput>{std::move(out)};
  }
  for (int64_t m = 0; m < operands.rows; ++m)
    for (int64_t n = 0; n < operands.columns; ++n)
      isFloat ? computeFloat(operands, m, n, out) : computeInteger(gemm, operands, m, n, out);
  return std::vector<ReferenceOutput>{std::move(out)};
}

} // namespace quern
