//===- DropoutChecks.cpp - Verification of dropout attributes -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Primitives/DropoutChecks.h"

#include "Desc/Text/TextForm.h"

namespace quern {

Result<void> checkDropout(Dropout &dropout, const TensorDesc &dst, const DropoutRules &rules) {
  if (!dropout.isSet())
    return {};
  if (dst.hasRuntimeDims())
    return unimplemented(rules.subject,
                         " is not implemented with dropout if sizes are known only at execution; dst is ", textOf(dst),
                         rules.support);
  TensorDesc &mask = dropout.mask;
  if (mask.isZero())
    return {};
  if (!mask.sameShape(dst))
    return invalidArguments("the mask of dropout is ", textOf(mask), "; it must have the dims of dst, ", textOf(dst),
                            rules.shape);
  Result<TensorDesc> dense = TensorDesc::dense(dst.shape(), DataType::U8);
  if (!dense)
    return Error{dense.error().status, concat("the mask of dropout: ", dense.error().message, rules.shape)};
  if (mask.isAny())
    mask = *dense;
  TensorDesc atStart = mask;
  atStart.offset0 = 0;
  const bool isDense = dst.hasZeroDim() ? mask.isPlain() : atStart.sameStorage(*dense);
  if (!isDense || mask.extras.flags)
    return unimplemented(rules.subject, " is not implemented with a dropout mask of ", textOf(mask), "; it is for ",
                         textOf(*dense), rules.support);
  return {};
}

} // namespace quern
