//===- TensorChecks.cpp - Verification of single tensors ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Primitives/TensorChecks.h"

namespace quern {

std::string textOfDim(int64_t dim) { return dim == runtimeDim ? "known only at execution" : std::to_string(dim); }

Result<void> checkLayout(std::string_view name, const TensorDesc &tensor, const LayoutRules &rules) {
  if (tensor.isAny())
    return {};
  bool hasUnwanted = tensor.extras.flags != 0 && rules.compensation.empty();
  if (tensor.hasRuntimeDims() && (!tensor.isPlain() || tensor.hasPadding() || hasUnwanted))
    return unimplemented(rules.subject, " is not implemented for ",
                         !tensor.isPlain()     ? "inner blocks"
                         : tensor.hasPadding() ? "padding"
                                               : "compensation",
                         " in ", name, ", which has sizes that are known only at execution", rules.plain);
  if (tensor.extras.flags != 0 && !rules.compensation.empty())
    return unimplemented(rules.subject, " is not implemented for compensation in ", name, "; its flags are ",
                         tensor.extras.flags, rules.compensation);
  for (int d = 0; d < tensor.ndims; ++d)
    if (tensor.paddedOffsets[d] != 0)
      return unimplemented(rules.subject, " is not implemented for padded offsets; that of dim ", d, " of ", name,
                           " is ", tensor.paddedOffsets[d], rules.offsets);
  return {};
}

Result<void> checkOutput(std::string_view name, const TensorDesc &tensor, std::string_view citation) {
  int64_t blocks[maxDims];
  tensor.blockSizes(blocks);
  for (int d = 0; d < tensor.ndims && tensor.isBlockedFormat(); ++d)
    if (tensor.strides[d] == 0 && (tensor.paddedDims[d] == runtimeDim || tensor.paddedDims[d] > blocks[d]))
      return invalidArguments(name, " has stride 0 over dim ", d,
                              ", which is longer than 1; only a source may broadcast", citation);
  return {};
}

Result<void> resolveLike(std::string_view name, TensorDesc &tensor, std::string_view likeName, const TensorDesc &like,
                         std::string_view citation) {
  if (!tensor.isAny())
    return {};
  if (like.hasRuntimeDims())
    return invalidArguments(name, " has layout `any`, which cannot follow ", likeName,
                            ": its strides or offset are known only at execution", citation);
  Result<TensorDesc> resolved = like.denseLike(tensor.dataType);
  if (!resolved)
    return Error{resolved.error().status, concat(name, ": ", resolved.error().message, citation)};
  tensor = *resolved;
  return {};
}

} // namespace quern
