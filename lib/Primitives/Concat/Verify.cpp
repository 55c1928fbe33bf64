//===- Verify.cpp - Verification of concat problems -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every error names its constraint. Invalid (an error of the caller):
//   C1  Each tensor and the attributes are well-formed (checked in Registry.cpp, for every primitive).
//   C2  There is at least one source.
//   C3  Every source is given and has a layout other than `any`.
//   C4  The axis is one of the dims.
//   C5  All tensors have the same dims, except along the axis: the dim of dst is the sum of the sources' dims, and is
//       open (known only at execution) if one of them is.
//   C6  dst does not broadcast: no stride 0 over more than one element or block.
//   C7  If dst has layout `any`, the sizes of all sources are known; it gets the layout of a source or row-major order.
//   C8  Scales are for sources that the problem has; their masks do not exceed the tensor's rank.
// Invalid at execution (checked by the runtime):
//   C9  Every argument is given.
//   C10 dst shares no byte with another argument, unless the other is a source at the same address with the same layout
//       and element size.
//   C11 Sizes known only at execution match each other.
// Unimplemented:
//   C12 Tensors are of f64, f32, bf16, f16, f8_e5m2, f8_e4m3, e8m0, s32, s8 or u8.
//   C13 A tensor with an open dim, stride or offset is plain, without padding.
//   C14 There are at most 64 sources if dst's offset, or its dim or stride along the axis, is open.
//   C15 No tensor has compensation.
//   C16 No tensor has padded offsets.
//   C17 A source has at most one scale (mask 0), of f32, bf16 or f16, without groups.
//   C18 There are no zero points, post-ops or RNN parameters among the attributes.
//   C19 At most 128 sources differ in more than their position in dst.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Concat/Places.h"
#include "Primitives/PostOpChecks.h"
#include "Primitives/Registry.h"
#include "Primitives/SourceChecks.h"
#include "Support/CheckedMath.h"

#include <algorithm>

namespace quern {
namespace {

/// Maximum number of kernels; each takes milliseconds to compile.
constexpr size_t maxKernels = 128;
/// Maximum number of sources with open positions; each is a term in the position of all sources after it.
constexpr size_t maxOpenSources = 64;

constexpr SourceRules rules = {
    {"a concat", " (concat C13)", " (concat C15)", " (concat C16)"}, " (concat C3)", " (concat C12)"};

/// Checks C2 to C5, C12, C13, C15 and C16. Returns the size of dst along the axis, or runtimeDim.
Result<int64_t> checkSources(const ConcatDesc &concat) {
  if (concat.srcs.empty())
    return invalidArguments("a concat has no sources; it needs at least one (concat C2)");
  CheckedInt along = 0;
  bool isOpen = false;
  for (size_t i = 0; i < concat.srcs.size(); ++i) {
    const TensorDesc &source = concat.srcs[i];
    std::string name = arg::nameOf(arg::sourceAt(i));
    QUERN_RETURN_IF_ERROR(checkSource(source, i, rules));
    if (concat.axis < 0 || concat.axis >= source.ndims)
      return invalidArguments("the axis is ", concat.axis, "; ", name, " of rank ", source.ndims, " allows 0 to ",
                              source.ndims - 1, " (concat C4)");
    QUERN_RETURN_IF_ERROR(checkSameDims(name, source, concat.srcs[0], concat.axis, " (concat C5)"));
    if (source.dims[concat.axis] == runtimeDim)
      isOpen = true;
    else
      along += source.dims[concat.axis];
  }
  if (along.overflowed())
    return invalidArguments("the sources have more than ", INT64_MAX, " indices along the axis (concat C5)");
  return isOpen ? runtimeDim : along.value();
}

/// Checks C14.
Result<void> checkOpenPlaces(const ConcatDesc &concat) {
  if (concatenation::hasOpenPlaces(concat) && concat.srcs.size() > maxOpenSources)
    return unimplemented(
        "a concat of ", concat.srcs.size(),
        " sources is not implemented for a dst whose offset, dim or stride along the axis is known only at "
        "execution; it is for at most ",
        maxOpenSources, " (concat C14)");
  return {};
}

/// Checks C5 for the tensors of an execution.
Result<void> checkExecutionDims(const VerifiedProblem &problem, std::span<const TensorDesc *const> tensors) {
  const auto &concat = std::get<ConcatDesc>(problem.desc.op);
  CheckedInt along = 0;
  const size_t dst = concat.srcs.size();
  for (size_t i = 0; i <= dst; ++i) {
    QUERN_RETURN_IF_ERROR(checkSameDims(problem.arguments[i].name, *tensors[i], *tensors[0], concat.axis, ""));
    if (i < dst)
      along += tensors[i]->dims[concat.axis];
  }
  if (along.overflowed())
    return invalidArguments("the sources have more than ", INT64_MAX, " indices along the axis");
  if (tensors[dst]->dims[concat.axis] != along.value())
    return invalidArguments("dim ", concat.axis, " of dst is ", tensors[dst]->dims[concat.axis], "; it must be ",
                            along.value(), ", the sum of the sources' dims");
  return {};
}

/// Returns a dense tensor with the dims of `dst` and the order of dims and the blocks of `source`.
Result<TensorDesc> shapedLike(const TensorDesc &source, const TensorDesc &dst) {
  TensorDesc like = source;
  int64_t blocks[maxDims];
  like.blockSizes(blocks);
  for (int d = 0; d < dst.ndims; ++d) {
    CheckedInt padded = roundUp(dst.dims[d], blocks[d]);
    if (padded.overflowed())
      return invalidArguments("dim ", d, " of dst, padded to blocks of ", blocks[d], ", exceeds ", INT64_MAX);
    like.dims[d] = dst.dims[d];
    like.paddedDims[d] = padded.value();
  }
  return like.denseLike(dst.dataType);
}

/// Returns true if every source starts at a block boundary.
bool beginWithBlocks(const ConcatDesc &concat, const TensorDesc &layout) {
  int64_t blocks[maxDims], index = 0;
  layout.blockSizes(blocks);
  for (const TensorDesc &source : concat.srcs) {
    if (index % blocks[concat.axis] != 0 && source.dims[concat.axis] != 0)
      return false;
    index += source.dims[concat.axis];
  }
  return true;
}

/// C7: returns the layout of the first source with blocks, if all sources start at block boundaries in it; otherwise
/// that of the first plain source with elements; otherwise dense row-major.
Result<TensorDesc> chosenLayout(const ConcatDesc &concat) {
  const TensorDesc &dst = concat.dst;
  size_t blocked = firstBlocked(concat.srcs);
  if (blocked < concat.srcs.size()) {
    Result<TensorDesc> like = shapedLike(concat.srcs[blocked], dst);
    if (like && beginWithBlocks(concat, *like))
      return like;
  }
  for (const TensorDesc &source : concat.srcs)
    if (source.isPlain() && !source.hasZeroDim())
      return shapedLike(source, dst);
  return TensorDesc::dense(dst.shape(), dst.dataType);
}

/// Checks C5 to C7 and C12 to C16.
Result<void> resolveDestination(ConcatDesc &concat, int64_t along) {
  TensorDesc &dst = concat.dst;
  const TensorDesc &first = concat.srcs[0];
  if (dst.isZero()) {
    int64_t dims[maxDims];
    std::copy(first.dims, first.dims + maxDims, dims);
    dims[concat.axis] = along;
    Result<TensorDesc> any = TensorDesc::fromTag({dims, static_cast<size_t>(first.ndims)}, first.dataType, "any");
    if (!any)
      return Error{any.error().status, quern::concat("dst: ", any.error().message, " (concat C5)")};
    dst = *any;
  }
  QUERN_RETURN_IF_ERROR(checkSameDims("dst", dst, first, concat.axis, " (concat C5)"));
  if (dst.dims[concat.axis] != along)
    return invalidArguments("dim ", concat.axis, " of dst is ", textOfDim(dst.dims[concat.axis]), "; it must be ",
                            textOfDim(along), ", like the sum of the sources' dims (concat C5)");
  for (size_t i = 0; i < concat.srcs.size() && dst.isAny(); ++i)
    if (concat.srcs[i].hasRuntimeDims())
      return invalidArguments("dst has layout `any`, which cannot follow ", arg::nameOf(arg::sourceAt(i)),
                              ": its sizes are known only at execution (concat C7)");
  if (dst.isAny()) {
    Result<TensorDesc> chosen = chosenLayout(concat);
    if (!chosen)
      return Error{chosen.error().status, quern::concat("dst: ", chosen.error().message, " (concat C7)")};
    dst = *chosen;
  }
  QUERN_RETURN_IF_ERROR(checkOutput("dst", dst, " (concat C6)"));
  QUERN_RETURN_IF_ERROR(checkElements("dst", dst, rules));
  return checkOpenPlaces(concat);
}

/// Checks C8 and C17.
Result<void> checkScales(const ConcatDesc &concat, int32_t argument, const QuantParams &params) {
  const Quantization scales{true, argument, params};
  const int32_t source = argument - arg::multipleSrc;
  if (source < 0 || static_cast<size_t>(source) >= concat.srcs.size())
    return invalidArguments(scales.of(), " (argument ", argument, ") are given; only the ", concat.srcs.size(),
                            " sources may have scales (concat C8)");
  const int rank = concat.srcs[static_cast<size_t>(source)].ndims;
  if (params.mask >> rank != 0)
    return invalidArguments(scales.of(), " have mask ", params.mask, "; a tensor of rank ", rank, " allows 0 to ",
                            (1 << rank) - 1, " (concat C8)");
  const DataType type = params.dataType;
  if (params.mask != 0 || !params.groups.empty() ||
      (type != DataType::F32 && type != DataType::BF16 && type != DataType::F16))
    return unimplemented("a concat is not implemented with ", scales.of(), " of mask ", params.mask, ", type ",
                         nameOf(type), params.groups.empty() ? "" : " and with groups",
                         "; it is for one scale of f32, bf16 or f16 (concat C17)");
  return {};
}

/// Checks C8, C17 and C18.
Result<void> checkAttributes(const ConcatDesc &concat, const Attributes &attr) {
  for (const auto &[argument, params] : attr.scales)
    QUERN_RETURN_IF_ERROR(checkScales(concat, argument, params));
  const char *found = !attr.zeroPoints.empty() ? "zero points"
                      : !attr.postOps.empty()  ? "post-ops"
                      : attr.rnn.isIdentity()  ? nullptr
                                               : "RNN quantization parameters";
  if (found)
    return unimplemented("a concat does not support ", found, " (concat C18)");
  return {};
}

} // namespace

Result<VerifiedProblem> verifyConcat(const PrimitiveDesc &desc, const Target &, const PrimitiveDesc *) {
  VerifiedProblem problem;
  problem.desc = desc;
  ConcatDesc &concat = std::get<ConcatDesc>(problem.desc.op);
  QUERN_ASSIGN_OR_RETURN(int64_t along, checkSources(concat));
  QUERN_RETURN_IF_ERROR(resolveDestination(concat, along));
  QUERN_RETURN_IF_ERROR(checkAttributes(concat, desc.attr));
  if (size_t kernels = concatenation::kernelsOf(concat, desc.attr).size(); kernels > maxKernels)
    return unimplemented("a concat is not implemented for ", kernels,
                         " sources that differ in type, layout, dims or scales; it is for at most ", maxKernels,
                         " (concat C19)");
  listSources(concat.srcs, problem.arguments);
  problem.arguments.push_back({arg::dst, "dst", concat.dst, true});
  arg::appendAttributeArguments(desc.attr, problem.arguments, problem.arguments);
  arg::allowInPlace(arg::dst, InPlace::ElementSize, problem.arguments);
  problem.checkSizes = checkExecutionDims;
  problem.isNoop = concat.dst.hasZeroDim();
  problem.citations = {" (concat C9)", " (concat C10)", " (concat C11)"};
  return problem;
}

} // namespace quern
