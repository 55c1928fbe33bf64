//===- Verify.cpp - Verification of reorders ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every error names its constraint. Invalid (an error of the caller):
//   C1  Each tensor and the attributes are well-formed (checked in Registry.cpp, for every primitive).
//   C2  src and dst are given.
//   C3  Neither has layout `any`.
//   C4  They have the same dims; a dim that is open (known only at execution) is open in both.
//   C5  dst does not broadcast: no stride 0 over more than one element or block.
//   C6  dst is of s8 if it has compensation or scale adjust.
//   C7  Scales and zero points are for arguments that the problem has; their masks do not exceed the tensor's rank.
//   C8  Groups are over the last two dims of a tensor of rank 2 or more; each divides its dim, and is 1 if the mask
//       does not have the dim.
//   C9  Only integers have zero points: neither src nor dst has them if it is of a floating type.
//   C10 A binary post-op's tensor has dst's rank, and each of its dims is dst's or 1.
//   C11 The type as which a sum reads dst has the size of dst's type.
//   C12 RNN weights have one scale for each combination of the masked indices.
// Invalid at execution (checked by the runtime):
//   C13 Every argument is given.
//   C14 dst shares no byte with another argument, unless the other is a tensor at the same address with the same layout
//       and element size; never scales or zero points.
//   C15 Sizes known only at execution match each other: the dims of src and dst, the lengths of scales and zero points.
// Unimplemented:
//   C16 src and dst are of f64, f32, bf16, f16, f8_e5m2, f8_e4m3, e8m0, f4_e2m1, s32, s8, u8, s4 or u4.
//   C17 Both are on the CPU, or, for a device, each on the CPU or the device. The reorder runs on one of them.
//   C18 A tensor with an open dim, stride or offset is plain: it has no inner blocks, padding or compensation.
//   C19 No tensor has padded offsets.
//   C20 Compensation for an RNN is not combined with compensation for convolutions or with scale adjust; tensors of
//       post-ops have no compensation.
//   C21 Scales are of f32, bf16, f16 or e8m0; zero points of s32, s8, u8, s4, u4 or f32.
//   C22 There are no groups along an open dim with separate values, nor along a dim before it.
//   C23 Post-ops are eltwise, binary or, once, sum.
//   C24 Tensors of binary post-ops are of the types of C16.
//   C25 Scales and zero points of a post-op are for its src_1, without groups and not along an open dim.
//   C26 RNN quantization produces u8 or s8 data of rank 3 or 4, or s8 weights of rank 4 or 5 with known dims.
//   C27 RNN quantization is not combined with scales, zero points or post-ops.
//   C28 Tensors of 4-bit elements have known dims; the elements of dst start at a whole byte and have no gaps except
//       padding.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Reorder/Verify.h"
#include "Primitives/Arguments.h"
#include "Primitives/Registry.h"
#include "Primitives/TensorChecks.h"
#include "Support/CheckedMath.h"

namespace quern {
namespace {

/// Checks C2 and C3.
Result<void> checkPresence(const ReorderDesc &reorder) {
  const NamedTensor both[] = {{"src", reorder.src}, {"dst", reorder.dst}};
  for (const auto &[name, desc] : both) {
    if (desc.isZero())
      return invalidArguments("a reorder needs ", name, ", which is absent (reorder C2)");
    if (desc.isAny())
      return invalidArguments(name, " has layout `any`; both layouts of a reorder must be known (reorder C3)");
  }
  return {};
}

/// Checks C4.
Result<void> checkDims(const ReorderDesc &reorder) {
  const TensorDesc &src = reorder.src, &dst = reorder.dst;
  if (src.ndims != dst.ndims)
    return invalidArguments("dst is of rank ", dst.ndims, ", src of rank ", src.ndims, " (reorder C4)");
  for (int d = 0; d < src.ndims; ++d)
    if (src.dims[d] != dst.dims[d])
      return invalidArguments("dim ", d, " of dst is ", textOfDim(dst.dims[d]), "; in src it is ",
                              textOfDim(src.dims[d]), " (reorder C4)");
  return {};
}

/// Checks C5.
Result<void> checkDst(const ReorderDesc &reorder) { return checkOutput("dst", reorder.dst, " (reorder C5)"); }

/// Checks C6 and C20. Data appended to src is not read.
Result<void> checkCompensation(const ReorderDesc &reorder) {
  const TensorDesc &dst = reorder.dst;
  constexpr uint64_t forRnn = ExtraRnnU8S8 | ExtraRnnS8S8,
                     others = ExtraS8S8 | ExtraAsymmetricSource | ExtraScaleAdjust;
  if (dst.extras.flags != 0 && dst.dataType != DataType::S8)
    return invalidArguments("dst is of type ", nameOf(dst.dataType), "; compensation and scale adjust (flags ",
                            dst.extras.flags, ") need s8 (reorder C6)");
  if ((dst.extras.flags & forRnn) && (dst.extras.flags & others))
    return unimplemented("a reorder is not implemented with RNN compensation combined with other compensation or scale "
                         "adjust; dst's flags are ",
                         dst.extras.flags, " (reorder C20)");
  return {};
}

/// Checks C28: from dst's first element on, every half byte is an element of dst or padding.
Result<void> checkHalfBytes(const ReorderDesc &reorder) {
  const TensorDesc &dst = reorder.dst;
  if (bitsOf(dst.dataType) >= 8 || dst.hasZeroDim())
    return {};
  if (dst.offset0 % 2 != 0)
    return unimplemented("a reorder is not implemented for dst of type ", nameOf(dst.dataType),
                         " that starts at element ", dst.offset0, ", in the middle of a byte (reorder C28)");
  int64_t blocks[maxDims], span = 1;
  dst.blockSizes(blocks);
  for (int d = 0; d < dst.ndims; ++d)
    span *= blocks[d];
  for (int d = 0; d < dst.ndims; ++d)
    span += (ceilDivide(dst.paddedDims[d], blocks[d]) - 1) * dst.strides[d];
  if (span != dst.paddedElements())
    return unimplemented("a reorder is not implemented for dst of type ", nameOf(dst.dataType),
                         " with gaps between its ", dst.paddedElements(), " elements (reorder C28)");
  return {};
}

/// Checks C16, C18 and C19.
Result<void> checkSupported(const ReorderDesc &reorder) {
  const NamedTensor both[] = {{"src", reorder.src}, {"dst", reorder.dst}};
  for (const auto &[name, desc] : both) {
    if (!reorder::types.contains(desc.dataType))
      return unimplemented("a reorder is not implemented for ", name, " of type ", nameOf(desc.dataType),
                           "; it is for ", reorder::types.names(), " (reorder C16)");
    QUERN_RETURN_IF_ERROR(reorder::checkLayout(name, desc));
  }
  return {};
}

/// Checks C17. If both engines are of the same kind, replaces both kinds by cpu, because the target implies the device.
Result<void> placeEngines(ReorderDesc &reorder, const Target &target) {
  const std::pair<const char *, EngineKind> both[] = {{"src", reorder.srcEngine}, {"dst", reorder.dstEngine}};
  for (const auto &[name, engine] : both)
    if (engine != EngineKind::Cpu && (target.isCpu() || engine != EngineKind::Gpu))
      return unimplemented("a reorder is not implemented for ", name, " on an engine of kind ", nameOf(engine), "; ",
                           target.isCpu() ? "cpu targets access only cpu engines"
                                          : "devices access cpu and gpu engines",
                           " (reorder C17)");
  if (reorder.srcEngine == reorder.dstEngine)
    reorder.srcEngine = reorder.dstEngine = EngineKind::Cpu;
  return {};
}

void listArguments(VerifiedProblem &problem) {
  const ReorderDesc &reorder = std::get<ReorderDesc>(problem.desc.op);
  std::vector<ArgumentInfo> &arguments = problem.arguments;
  arguments.reserve(6);
  arguments.push_back({arg::src, "src", reorder.src, false});
  arguments.push_back({arg::dst, "dst", reorder.dst, true});
  for (const PostOp &op : problem.desc.attr.postOps)
    arguments.back().isUpdated |= op.kind == PostOp::Kind::Sum;
  arg::appendAttributeArguments(problem.desc.attr, arguments, arguments);
  arg::allowInPlace(arg::dst, InPlace::ElementSize, arguments);
}

} // namespace

Result<void> reorder::checkLayout(std::string_view name, const TensorDesc &tensor) {
  if (bitsOf(tensor.dataType) < 8 && tensor.hasRuntimeDims())
    return unimplemented("a reorder is not implemented for ", name, " of type ", nameOf(tensor.dataType),
                         " with sizes that are known only at execution (reorder C28)");
  return quern::checkLayout(name, tensor, {"a reorder", " (reorder C18)", "", " (reorder C19)"});
}

Result<VerifiedProblem> verifyReorder(const PrimitiveDesc &desc, const Target &target, const PrimitiveDesc *) {
  VerifiedProblem problem;
  problem.desc = desc;
  auto &reorder = std::get<ReorderDesc>(problem.desc.op);
  for (auto check : {checkPresence, checkDims, checkDst, checkCompensation, checkSupported, checkHalfBytes})
    QUERN_RETURN_IF_ERROR(check(reorder));
  QUERN_RETURN_IF_ERROR(placeEngines(reorder, target));
  QUERN_RETURN_IF_ERROR(reorder::checkAttributes(reorder, problem.desc.attr));
  listArguments(problem);
  problem.isNoop = reorder.dst.hasZeroDim();
  problem.citations = {" (reorder C13)", " (reorder C14)", " (reorder C15)"};
  return problem;
}

} // namespace quern
