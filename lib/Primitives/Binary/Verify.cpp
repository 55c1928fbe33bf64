//===- Verify.cpp - Verification of binary problems -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every error names its constraint. Invalid (an error of the caller):
//   C1  Each tensor and the attributes are well-formed (checked in Registry.cpp, for every primitive).
//   C2  alg is one of the binary algorithms.
//   C3  src, src_1 and dst are given; src_2 is given with select, and only then.
//   C4  src has a layout, not `any`.
//   C5  All tensors have the same rank. Each dim of dst is src's or src_1's, whichever is not 1; src_2's is dst's or 1.
//   C6  A dim of dst that is open (known only at execution) is also open in src.
//   C7  dst does not broadcast: no stride 0 over more than one element or block.
//   C8  A layout `any` is not resolved from open strides or an open offset.
//   C9  Scales and zero points are for arguments that the problem has; their masks do not exceed the tensor's rank.
//   C10 A binary post-op's tensor has dst's rank, and each of its dims is dst's or 1.
//   C11 The type as which a sum reads dst has the size of dst's type.
// Invalid at execution (checked by the runtime):
//   C12 Every argument is given.
//   C13 dst shares no byte with another argument. Exception: an input tensor at the same address with the same layout
//       and element size. This does not apply to scales, zero points and the inputs of dropout.
//   C14 Sizes known only at execution match each other.
// Unimplemented:
//   C15 All tensors are of f64, f32, bf16, f16, f8_e5m2, f8_e4m3, s32, s8 or u8.
//   C16 A tensor with an open dim, stride or offset is plain: it has no inner blocks and no padding.
//   C17 No tensor has compensation.
//   C18 No tensor has padded offsets.
//   C19 Scales are for src and src_1, without groups and not along an open dim.
//   C20 Scales are of f32, bf16, f16 or e8m0; zero points of s32, s8, u8 or f32.
//   C21 src, src_1, src_2 and dst have no zero points.
//   C22 Post-ops are eltwise, binary or, once, sum.
//   C23 Scales and zero points of a post-op are for its src_1, without groups and not along an open dim.
//   C24 There are no RNN quantization parameters.
// Dropout, invalid and unimplemented:
//   C25 The mask has the dims of dst.
//   C26 The mask is dense and row-major, and dst has no open sizes.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Binary/Verify.h"
#include "Primitives/Arguments.h"
#include "Primitives/Registry.h"
#include "Primitives/TensorChecks.h"
#include "Primitives/TypeSets.h"

namespace quern {
namespace {

/// Checks C2 to C4.
Result<void> checkPresence(const BinaryDesc &binary) {
  if (binary.alg < Alg::BinaryAdd || binary.alg > Alg::BinarySelect)
    return invalidArguments("algorithm '", nameOf(binary.alg), "' (", static_cast<int32_t>(binary.alg),
                            ") is not a binary algorithm (binary C2)");
  const NamedTensor all[] = {{"src", binary.src}, {"src_1", binary.src1}, {"dst", binary.dst}};
  for (const auto &[name, desc] : all)
    if (desc.isZero())
      return invalidArguments("a binary needs ", name, ", which is absent (binary C3)");
  if (binary.src2.isZero() == (binary.alg == Alg::BinarySelect))
    return invalidArguments(binary.src2.isZero() ? "a select needs src_2, its condition, which is absent"
                                                 : "only a select uses src_2",
                            " (binary C3)");
  if (binary.src.isAny())
    return invalidArguments("src has layout `any`; src of a binary needs a known layout (binary C4)");
  return {};
}

/// Returns the required dim of dst.
int64_t broadcastOf(int64_t a, int64_t b) { return a == 1 ? b : a; }

/// Checks C5 and C6.
Result<void> checkDims(const BinaryDesc &binary) {
  const NamedTensor all[] = {{"src", binary.src}, {"src_1", binary.src1}, {"src_2", binary.src2}};
  const TensorDesc &dst = binary.dst;
  for (const auto &[name, desc] : all)
    if (!desc.isZero() && desc.ndims != dst.ndims)
      return invalidArguments(name, " is of rank ", desc.ndims, ", dst of rank ", dst.ndims, " (binary C5)");
  for (int d = 0; d < dst.ndims; ++d) {
    for (const auto &[name, desc] : all)
      if (!desc.isZero() && desc.dims[d] != 1 && desc.dims[d] != dst.dims[d])
        return invalidArguments("dim ", d, " of ", name, " is ", textOfDim(desc.dims[d]),
                                "; it must be 1 or that of dst, ", textOfDim(dst.dims[d]), " (binary C5)");
    if (dst.dims[d] != broadcastOf(binary.src.dims[d], binary.src1.dims[d]))
      return invalidArguments("dim ", d, " of dst is ", textOfDim(dst.dims[d]),
                              "; in src and src_1 it is 1 (binary C5)");
    if (dst.dims[d] == runtimeDim && binary.src.dims[d] != runtimeDim)
      return invalidArguments("dim ", d, " of dst is known only at execution; in src it is ", binary.src.dims[d],
                              " (binary C6)");
  }
  return {};
}

/// Checks C8 and resolves `tensor` to src's layout if the dims agree. If the tensor broadcasts, it gets src's order of
/// dims if possible, otherwise row-major order.
Result<void> resolveSource(const char *name, TensorDesc &tensor, const TensorDesc &src) {
  if (!tensor.isAny() || tensor.sameShape(src))
    return resolveLike(name, tensor, "src", src, " (binary C8)");
  const int64_t origin[maxDims] = {};
  Result<TensorDesc> like = src.submemory(tensor.shape(), {origin, static_cast<size_t>(src.ndims)});
  if (!like)
    like = TensorDesc::dense(tensor.shape(), tensor.dataType);
  if (!like)
    return Error{like.error().status, concat(name, ": ", like.error().message, " (binary C8)")};
  return resolveLike(name, tensor, "src", *like, " (binary C8)");
}

/// Checks C8 and resolves layouts.
Result<void> resolveLayouts(BinaryDesc &binary) {
  QUERN_RETURN_IF_ERROR(resolveSource("src_1", binary.src1, binary.src));
  QUERN_RETURN_IF_ERROR(resolveSource("src_2", binary.src2, binary.src));
  if (!binary.src.sameShape(binary.dst) && binary.src1.sameShape(binary.dst))
    return resolveLike("dst", binary.dst, "src_1", binary.src1, " (binary C8)");
  return resolveSource("dst", binary.dst, binary.src);
}

/// Checks C7 and C15 to C18.
Result<void> checkSupported(const BinaryDesc &binary) {
  const NamedTensor all[] = {{"src", binary.src}, {"src_1", binary.src1}, {"src_2", binary.src2}, {"dst", binary.dst}};
  for (const auto &[name, desc] : all) {
    if (desc.isZero())
      continue;
    if (!elementTypes.contains(desc.dataType))
      return unimplemented("a binary is not implemented for ", name, " of type ", nameOf(desc.dataType), "; it is for ",
                           elementTypes.names(), " (binary C15)");
    QUERN_RETURN_IF_ERROR(binary::checkLayout(name, desc));
  }
  return checkOutput("dst", binary.dst, " (binary C7)");
}

void listArguments(VerifiedProblem &problem) {
  const BinaryDesc &binary = std::get<BinaryDesc>(problem.desc.op);
  std::vector<ArgumentInfo> &arguments = problem.arguments;
  arguments.reserve(6);
  arguments.push_back({arg::src, "src", binary.src, false});
  arguments.push_back({arg::src1, "src_1", binary.src1, false});
  if (!binary.src2.isZero())
    arguments.push_back({arg::src2, "src_2", binary.src2, false});
  arguments.push_back({arg::dst, "dst", binary.dst, true});
  for (const PostOp &op : problem.desc.attr.postOps)
    arguments.back().isUpdated |= op.kind == PostOp::Kind::Sum;
  arg::appendAttributeArguments(problem.desc.attr, arguments, arguments);
  arg::allowInPlace(arg::dst, InPlace::ElementSize, arguments);
}

} // namespace

Result<void> binary::checkLayout(std::string_view name, const TensorDesc &tensor) {
  return quern::checkLayout(name, tensor, {"a binary", " (binary C16)", " (binary C17)", " (binary C18)"});
}

Result<VerifiedProblem> verifyBinary(const PrimitiveDesc &desc, const Target &, const PrimitiveDesc *) {
  VerifiedProblem problem;
  problem.desc = desc;
  auto &binary = std::get<BinaryDesc>(problem.desc.op);
  for (auto check : {checkPresence, checkDims})
    QUERN_RETURN_IF_ERROR(check(binary));
  QUERN_RETURN_IF_ERROR(resolveLayouts(binary));
  QUERN_RETURN_IF_ERROR(checkSupported(binary));
  QUERN_RETURN_IF_ERROR(binary::checkAttributes(binary, problem.desc.attr));
  listArguments(problem);
  problem.isNoop = binary.dst.hasZeroDim();
  problem.citations = {" (binary C12)", " (binary C13)", " (binary C14)"};
  return problem;
}

} // namespace quern
