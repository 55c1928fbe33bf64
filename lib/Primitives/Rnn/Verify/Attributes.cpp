//===- Attributes.cpp - Attributes that an RNN supports -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Verify.cpp lists the constraints. The modes fpmath, accumulation and deterministic are permissions and always
// accepted.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Rnn/Verify.h"

#include "Desc/Text/TextForm.h"

#include <cmath>

namespace quern::rnn {
namespace {

/// Checks C42 to C44.
Result<void> checkSupported(const RnnDesc &rnn, const Attributes &attr) {
  for (const auto &[what, all] : {std::pair{"scales", &attr.scales}, std::pair{"zero points", &attr.zeroPoints}})
    if (!all->empty())
      return unimplemented("rnn does not support ", what, "; argument ", nameOfArgument(all->begin()->first),
                           " has some (rnn C42)");
  if (!attr.postOps.empty())
    return unimplemented("rnn does not support post-ops; ", attr.postOps.size(), " are given (rnn C42)");
  if (!isQuantized(rnn) && !attr.rnn.isIdentity())
    return unimplemented("rnn quantization is for src_layer of type u8 or s8; it is ", nameOf(rnn.srcLayer.dataType),
                         " (rnn C43)");
  RnnQuantization ofProjection;
  ofProjection.projectionMask = attr.rnn.projectionMask, ofProjection.projectionScales = attr.rnn.projectionScales;
  if (!ofProjection.isIdentity() && rnn.weightsProjection.isZero())
    return unimplemented("scales of weights_projection are given, but it is absent (rnn C43)");
  if (attr.scratchpadMode == ScratchpadMode::User && Shape::of(rnn).isOpen())
    return unimplemented(
        "rnn does not support a caller-owned scratchpad if T or N are known only at execution: its size depends "
        "on them (rnn C44)");
  return {};
}

/// Checks C26 to C28 for one list of scales.
Result<void> checkScales(const char *name, int32_t mask, const std::vector<float> &scales, int32_t perChannel,
                         int64_t channels) {
  if (mask != 0 && mask != perChannel)
    return invalidArguments("scales of ", name, " have mask ", mask, "; it may be 0 or ", perChannel, " (rnn C26)");
  int64_t wanted = mask == 0 ? 1 : channels;
  if ((mask != 0 || !scales.empty()) && static_cast<int64_t>(scales.size()) != wanted)
    return invalidArguments("scales of ", name, " have ", scales.size(), " values; for mask ", mask, " they must have ",
                            wanted, " (rnn C27)");
  for (float scale : scales)
    if (!std::isfinite(scale) || scale == 0)
      return invalidArguments("scales of ", name, " have the value ", scale, "; it must be finite and not 0 (rnn C28)");
  return {};
}

} // namespace

Result<void> checkAttributes(const RnnDesc &rnn, const Attributes &attr) {
  QUERN_RETURN_IF_ERROR(checkSupported(rnn, attr));
  if (!isQuantized(rnn))
    return {};
  const RnnQuantization &q = attr.rnn;
  const Shape s = Shape::of(rnn);
  if (Result<void> ok =
          checkScales("weights_layer and weights_iter", q.weightsMask, q.weightsScales, 24, s.gates * s.dhc);
      !ok)
    return ok;
  if (!rnn.weightsProjection.isZero())
    QUERN_RETURN_IF_ERROR(checkScales("weights_projection", q.projectionMask, q.projectionScales, 8, s.dic));
  if (!std::isfinite(q.dataScale) || q.dataScale == 0 || !std::isfinite(q.dataShift))
    return invalidArguments("data scale is ", q.dataScale, " and data shift ", q.dataShift,
                            "; both must be finite and the scale not 0 (rnn C28)");
  if (rnn.srcLayer.dataType == DataType::S8 && q.dataShift != 0)
    return invalidArguments("data shift is ", q.dataShift, "; data of type s8 needs 0 (rnn C28)");
  return {};
}

} // namespace quern::rnn
