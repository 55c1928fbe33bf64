//===- Verify.cpp - What a softmax problem must be ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Invalid (the caller's bug):
//   C1  prop is a propagation kind of softmax: fwd_t, fwd_i, bwd or bwd_d.
//   C2  alg is accurate, log or accurate_inf_as_zero.
//   C3  Forward has src and dst, and no diff tensors.
//   C4  src has a layout; a dst of layout `any` gets src's order of dims, dense.
//   C5  dst has src's dims.
//   C6  0 <= axis < rank.
//   C7  dst does not broadcast: no stride 0 over a dim greater than 1.
// Unimplemented:
//   C8  Backward propagation.
//   C9  src and dst are of f32, bf16, f16 or f64.
//   C10 src and dst are plain: no inner blocks, padding, runtime dims or compensation.
//   C11 Attributes are default but for the scratchpad mode, the fpmath and accumulation modes and determinism, which are permissions.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Registry.h"

namespace quern {
namespace {

constexpr int32_t argumentSrc = 1, argumentDst = 17;

/// C1, C2, C8.
Result<void> checkKind(const SoftmaxDesc &softmax) {
  switch (softmax.prop) {
  case PropKind::ForwardTraining:
  case PropKind::ForwardInference:
    break;
  case PropKind::Backward:
  case PropKind::BackwardData:
    return unimplemented("softmax is not implemented for backward propagation; it is for fwd_t and fwd_i");
  default:
    return invalidArguments("propagation kind '", nameOf(softmax.prop), "' (", static_cast<int32_t>(softmax.prop),
                            ") is not one of softmax: fwd_t, fwd_i, bwd, bwd_d");
  }
  if (softmax.alg < Alg::SoftmaxAccurate || softmax.alg > Alg::SoftmaxAccurateInfAsZero)
    return invalidArguments("algorithm '", nameOf(softmax.alg), "' (", static_cast<int32_t>(softmax.alg),
                            ") is not one of softmax: accurate, log, accurate_inf_as_zero");
  return {};
}

/// C3 to C7 but for the layout of dst.
Result<void> checkTensors(const SoftmaxDesc &softmax) {
  const TensorDesc &src = softmax.src, &dst = softmax.dst;
  if (src.isZero() || dst.isZero())
    return invalidArguments("softmax needs ", src.isZero() ? "src" : "dst", ", which is absent");
  if (!softmax.diffSrc.isZero() || !softmax.diffDst.isZero())
    return invalidArguments("forward softmax takes no ", softmax.diffSrc.isZero() ? "diff_dst" : "diff_src");
  if (src.isAny())
    return invalidArguments("src has layout `any`; forward softmax needs to know src's layout");
  if (src.ndims != dst.ndims)
    return invalidArguments("dst is of rank ", dst.ndims, ", src of rank ", src.ndims);
  for (int d = 0; d < src.ndims; ++d)
    if (src.dims[d] != dst.dims[d])
      return invalidArguments("dim ", d, " of dst is ", dst.dims[d], ", of src ", src.dims[d]);
  if (softmax.axis < 0 || softmax.axis >= src.ndims)
    return invalidArguments("axis is ", softmax.axis, "; a tensor of rank ", src.ndims, " allows 0 to ", src.ndims - 1);
  if (dst.hasBroadcast())
    return invalidArguments("dst has stride 0 over a dim greater than 1; only a source may broadcast");
  return {};
}

/// C9, C10.
Result<void> checkSupported(const char *name, const TensorDesc &tensor) {
  switch (tensor.dataType) {
  case DataType::F32:
  case DataType::BF16:
  case DataType::F16:
  case DataType::F64:
    break;
  default:
    return unimplemented("softmax is not implemented for ", name, " of type ", nameOf(tensor.dataType), "; it is for f32, bf16, f16, f64");
  }
  if (tensor.isAny())
    return {};
  if (tensor.hasRuntimeDims())
    return unimplemented("softmax is not implemented for runtime dims, which ", name, " has");
  if (!tensor.isPlain())
    return unimplemented("softmax is not implemented for blocked layouts; ", name, " has ", tensor.innerBlockCount, " inner blocks");
  for (int d = 0; d < tensor.ndims; ++d)
    if (tensor.paddedDims[d] != tensor.dims[d])
      return unimplemented("softmax is not implemented for padded tensors; dim ", d, " of ", name, " is ", tensor.dims[d], ", padded to ",
                           tensor.paddedDims[d]);
  if (tensor.extras.flags != 0)
    return unimplemented("softmax is not implemented for tensors with compensation; the flags of ", name, " are ", tensor.extras.flags);
  return {};
}

/// C11.
Result<void> checkAttributes(const Attributes &attr) {
  if (!attr.scales.empty())
    return unimplemented("softmax is not implemented with scales, which argument ", attr.scales.begin()->first, " has");
  if (!attr.zeroPoints.empty())
    return unimplemented("softmax is not implemented with zero points, which argument ", attr.zeroPoints.begin()->first, " has");
  if (!attr.postOps.empty())
    return unimplemented("softmax is not implemented with post-ops; ", attr.postOps.size(), " are given, the first is ",
                         nameOf(attr.postOps[0].kind));
  if (!(attr.rnn == RnnQuantization()))
    return unimplemented("softmax does not take RNN quantization parameters");
  return {};
}

} // namespace

Result<VerifiedProblem> verifySoftmax(const PrimitiveDesc &desc, const Target &target, const PrimitiveDesc *) {
  VerifiedProblem problem{desc, {}, {}, false};
  auto &softmax = std::get<SoftmaxDesc>(problem.desc.op);
  for (auto check : {checkKind, checkTensors})
    if (Result<void> ok = check(softmax); !ok)
      return ok.takeError();
  if (Result<void> ok = checkAttributes(desc.attr); !ok)
    return ok.takeError();
  if (Result<void> ok = checkSupported("src", softmax.src); !ok)
    return ok.takeError();
  if (Result<void> ok = checkSupported("dst", softmax.dst); !ok)
    return ok.takeError();
  if (softmax.dst.isAny()) {
    Result<TensorDesc> dst = softmax.src.denseLike(softmax.dst.dataType);
    if (!dst)
      return dst.takeError();
    softmax.dst = *dst;
  }
  problem.arguments.reserve(2);
  problem.arguments.push_back({argumentSrc, "src", softmax.src, false});
  problem.arguments.push_back({argumentDst, "dst", softmax.dst, true});
  problem.implementation.append("jit:rows:").append(nameOfIsa(target.isa));
  problem.isNoop = softmax.src.hasZeroDim();
  return problem;
}

} // namespace quern
