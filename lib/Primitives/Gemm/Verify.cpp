//===- Verify.cpp - Verification of products of matrices ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every error names its constraint. Invalid (an error of the caller):
//   C1  Each tensor and the attributes are well-formed (checked in Registry.cpp, for every primitive).
//   C2  src, weights and dst are given, have rank 2 and a layout other than `any`.
//   C3  src is M x K, weights K x N and dst M x N; a dim that is open (known only at execution) is open in both tensors
//       that have it.
//   C4  dst does not broadcast: no stride 0 over more than one element.
//   C5  Offsets are for integers: f32 has none.
// Unimplemented:
//   C6  src, weights and dst are of f32; or weights of s8, dst of s32 and src of u8 or s8.
//   C7  Tensors are plain, without padding and without compensation.
//   C8  There are no scales, zero points, post-ops or RNN quantization parameters.
//   C9  Integers are scaled only if the target computes in f64.
// Invalid at execution (checked by the runtime):
//   C10 Every argument is given.
//   C11 dst shares no byte with another argument.
//   C12 Sizes known only at execution match each other.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Arguments.h"
#include "Primitives/Registry.h"

namespace quern {
namespace {

struct NamedTensor {
  const char *name;
  const TensorDesc &desc;
};

std::array<NamedTensor, 3> tensorsOf(const GemmDesc &gemm) {
  return {NamedTensor{"src", gemm.src}, NamedTensor{"weights", gemm.weights}, NamedTensor{"dst", gemm.dst}};
}

/// Checks C2.
Result<void> checkPresence(const GemmDesc &gemm) {
  for (const auto &[name, desc] : tensorsOf(gemm)) {
    if (desc.ndims != 2)
      return invalidArguments(name, desc.isZero() ? " is absent" : concat(" is of rank ", desc.ndims),
                              "; a matrix is of rank 2 (gemm C2)");
    if (desc.isAny())
      return invalidArguments(name, " has layout `any`; gemm needs known layouts (gemm C2)");
  }
  return {};
}

std::string textOf(int64_t dim) { return dim == runtimeDim ? "known only at execution" : std::to_string(dim); }

/// A dim that two matrices share; `first` and `second` are positions in tensorsOf().
struct SharedDim {
  int first, firstDim, second, secondDim;
};
constexpr SharedDim sharedDims[] = {{0, 0, 2, 0}, {0, 1, 1, 0}, {1, 1, 2, 1}};

/// Checks C3.
Result<void> checkDims(const GemmDesc &gemm) {
  const auto tensors = tensorsOf(gemm);
  for (const SharedDim &dim : sharedDims) {
    const auto &[name, desc] = tensors[static_cast<size_t>(dim.first)];
    const auto &[otherName, other] = tensors[static_cast<size_t>(dim.second)];
    if (desc.dims[dim.firstDim] != other.dims[dim.secondDim])
      return invalidArguments("dim ", dim.firstDim, " of ", name, " is ", textOf(desc.dims[dim.firstDim]), "; dim ",
                              dim.secondDim, " of ", otherName, " is ", textOf(other.dims[dim.secondDim]),
                              " (gemm C3)");
  }
  return {};
}

/// Checks C4.
Result<void> checkOutput(const GemmDesc &gemm) {
  for (int d = 0; d < 2; ++d)
    if (gemm.dst.strides[d] == 0 && (gemm.dst.dims[d] == runtimeDim || gemm.dst.dims[d] > 1))
      return invalidArguments("dst has stride 0 over dim ", d,
                              ", which is longer than 1; only a source may broadcast (gemm C4)");
  return {};
}

/// Checks C5 and C6.
Result<void> checkTypes(const GemmDesc &gemm) {
  const DataType src = gemm.src.dataType, weights = gemm.weights.dataType, dst = gemm.dst.dataType;
  const bool isFloat = src == DataType::F32 && weights == DataType::F32 && dst == DataType::F32;
  const bool isInteger =
      (src == DataType::U8 || src == DataType::S8) && weights == DataType::S8 && dst == DataType::S32;
  if (!isFloat && !isInteger)
    return unimplemented("gemm is not implemented for src of ", nameOf(src), ", weights of ", nameOf(weights),
                         " and dst of ", nameOf(dst), "; it is for f32, f32, f32; u8, s8, s32; s8, s8, s32 (gemm C6)");
  if (isFloat && (gemm.offsets || gemm.dstOffset != GemmOffset::None))
    return invalidArguments("offsets need integer products; src is of f32 (gemm C5)");
  return {};
}

/// Checks C7.
Result<void> checkLayouts(const GemmDesc &gemm) {
  for (const auto &[name, desc] : tensorsOf(gemm)) {
    if (!desc.isPlain() || desc.hasPadding())
      return unimplemented("gemm is not implemented for ", desc.isPlain() ? "padding" : "inner blocks", " in ", name,
                           " (gemm C7)");
    if (desc.extras.flags != 0)
      return unimplemented("gemm is not implemented for tensors with compensation; the flags of ", name, " are ",
                           desc.extras.flags, " (gemm C7)");
  }
  return {};
}

/// Checks C8.
Result<void> checkAttributes(const Attributes &attr) {
  const char *what = !attr.scales.empty()       ? "scales"
                     : !attr.zeroPoints.empty() ? "zero points"
                     : !attr.postOps.empty()    ? "post-ops"
                     : !attr.rnn.isIdentity()   ? "RNN quantization parameters"
                                                : nullptr;
  return what ? Result<void>(unimplemented("gemm is not implemented with ", what, " (gemm C8)")) : Result<void>();
}

/// Checks C9.
Result<void> checkArithmetic(const GemmDesc &gemm, const Target &target) {
  if (gemm.dst.dataType == DataType::S32 && (gemm.alpha || gemm.beta) && !target.hasF64())
    return unimplemented(gemm.alpha ? "alpha" : "beta", " scales integers in f64, which ", target.text(),
                         " lacks (gemm C9)");
  return {};
}

TensorDesc vectorOf(DataType type, int64_t count) {
  TensorDesc vector;
  vector.ndims = 1;
  vector.dataType = type;
  vector.formatKind = FormatKind::Blocked;
  vector.dims[0] = vector.paddedDims[0] = count;
  vector.strides[0] = 1;
  return vector;
}

void listArguments(VerifiedProblem &problem) {
  const GemmDesc &gemm = std::get<GemmDesc>(problem.desc.op);
  std::vector<ArgumentInfo> &arguments = problem.arguments;
  arguments.push_back({arg::src, "src", gemm.src});
  arguments.push_back({arg::weights, "weights", gemm.weights});
  if (gemm.alpha)
    arguments.push_back({arg::gemmAlpha, "alpha", vectorOf(DataType::F32, 1)});
  if (gemm.beta)
    arguments.push_back({arg::gemmBeta, "beta", vectorOf(DataType::F32, 1)});
  if (gemm.offsets) {
    arguments.push_back({arg::gemmSrcOffset, "src_offset", vectorOf(gemm.src.dataType, 1)});
    arguments.push_back({arg::gemmWeightsOffset, "weights_offset", vectorOf(gemm.weights.dataType, 1)});
  }
  if (gemm.dstOffset != GemmOffset::None) {
    const int64_t count =
        gemm.dstOffset == GemmOffset::Fixed ? 1 : gemm.dst.dims[gemm.dstOffset == GemmOffset::Column ? 0 : 1];
    arguments.push_back({arg::gemmDstOffset, "dst_offset", vectorOf(DataType::S32, count)});
  }
  arguments.push_back({arg::dst, "dst", gemm.dst, true, gemm.beta});
}

/// Checks C3 for the tensors of an execution.
Result<void> checkExecutionDims(const VerifiedProblem &problem, std::span<const TensorDesc *const> tensors) {
  const TensorDesc *const matrices[] = {tensors[0], tensors[1], tensors.back()};
  const char *const names[] = {"src", "weights", "dst"};
  for (const SharedDim &dim : sharedDims)
    if (matrices[dim.first]->dims[dim.firstDim] != matrices[dim.second]->dims[dim.secondDim])
      return invalidArguments("dim ", dim.firstDim, " of ", names[dim.first], " is ",
                              matrices[dim.first]->dims[dim.firstDim], "; dim ", dim.secondDim, " of ",
                              names[dim.second], " is ", matrices[dim.second]->dims[dim.secondDim]);
  const GemmOffset offset = std::get<GemmDesc>(problem.desc.op).dstOffset;
  if (offset != GemmOffset::Column && offset != GemmOffset::Row)
    return {};
  const int64_t count = tensors[tensors.size() - 2]->dims[0],
                wanted = matrices[2]->dims[offset == GemmOffset::Column ? 0 : 1];
  return count == wanted ? Result<void>()
                         : Result<void>(invalidArguments("dst_offset has ", count, " values; dst needs ", wanted));
}

} // namespace

Result<VerifiedProblem> verifyGemm(const PrimitiveDesc &desc, const Target &target, const PrimitiveDesc *) {
  VerifiedProblem problem{desc, {}, {}, false};
  const auto &gemm = std::get<GemmDesc>(problem.desc.op);
  for (auto check : {checkPresence, checkDims, checkOutput, checkTypes, checkLayouts})
    QUERN_RETURN_IF_ERROR(check(gemm));
  QUERN_RETURN_IF_ERROR(checkAttributes(problem.desc.attr));
  QUERN_RETURN_IF_ERROR(checkArithmetic(gemm, target));
  listArguments(problem);
  problem.checkSizes = checkExecutionDims;
  problem.isNoop = gemm.dst.hasZeroDim() || gemm.src.hasZeroDim();
  problem.citations = {" (gemm C10)", " (gemm C11)", " (gemm C12)"};
  return problem;
}

} // namespace quern
