//===- Mlir.cpp - Which functions of callers are legal --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What can be said without a compiler of a function that a compiler has read:
//
//   C1  every tensor is well-formed; no dropout
//   C2  it was read: it has code, and neither bytes nor a name are left
//   C3  there is an argument, at most 1024, and a use for each; something is written
//   C4  arguments are complete and have elements, at 32 bits for each, f64, f16, bf16 or s8
//   C5  no scales, zero points, post-ops or quantization of an RNN
//   C6  outputs are apart from all other arguments, unless they are updated
//
//===----------------------------------------------------------------------===//
#include "Primitives/Registry.h"

namespace quern {
namespace {

Error refused(Error error, const char *constraint) {
  error.message += concat(" (mlir ", constraint, ")");
  return error;
}

Result<void> checkAttributes(const Attributes &attr) {
  const char *what = !attr.scales.empty()       ? "scales"
                     : !attr.zeroPoints.empty() ? "zero points"
                     : !attr.postOps.empty()    ? "post-ops"
                     : !attr.rnn.isIdentity()   ? "quantization of an RNN"
                                                : nullptr;
  if (what)
    return refused(unimplemented(what, " are for primitives; a function computes what it says"), "C5");
  return {};
}

Result<void> checkUses(const MlirDesc &mlir) {
  if (mlir.args.empty() || mlir.args.size() > maxSources || mlir.uses.size() != mlir.args.size())
    return invalidArguments("a function has ", mlir.args.size(), " arguments and ", mlir.uses.size(),
                            " uses; as many of each, 1 to ", maxSources, ", are possible");
  if (mlir.uses.find_first_not_of("rwuR") != std::string::npos)
    return invalidArguments("uses are '", mlir.uses, "'; each is r, w, u or R");
  if (mlir.uses.find_first_of("wuR") == std::string::npos)
    return invalidArguments("uses are '", mlir.uses, "'; nothing is written");
  return {};
}

bool isTaken(DataType type) {
  return type == DataType::F32 || type == DataType::S32 || type == DataType::F64 || type == DataType::F16 ||
         type == DataType::BF16 || type == DataType::S8;
}

Result<void> checkArgument(const TensorDesc &desc, const std::string &name) {
  if (!isTaken(desc.dataType))
    return unimplemented(name, " is of ", nameOf(desc.dataType), "; f32, f64, f16, bf16, s32 or s8 is possible");
  if (desc.isZero() || desc.isAny() || !desc.isPlain() || desc.hasRuntimeDims() || desc.hasZeroDim())
    return unimplemented(name, " is no complete plain tensor with elements");
  return {};
}

} // namespace

Result<VerifiedProblem> verifyMlir(const PrimitiveDesc &desc, const Target &, const PrimitiveDesc *) {
  const auto &mlir = std::get<MlirDesc>(desc.op);
  if (!mlir.isRead() || !mlir.module.empty() || !mlir.function.empty())
    return refused(invalidArguments("the function was not read yet, which takes a compiler"), "C2");
  if (Result<void> ok = checkUses(mlir); !ok)
    return refused(ok.takeError(), "C3");
  if (Result<void> ok = checkAttributes(desc.attr); !ok)
    return ok.takeError();
  VerifiedProblem problem{desc, {}, {}};
  problem.citations.overlapping = " (mlir C6)";
  int32_t sources = 0, results = 0;
  for (size_t i = 0; i < mlir.args.size(); ++i) {
    const char use = mlir.uses[i];
    const bool isResult = use == 'R';
    int32_t &count = isResult ? results : sources;
    ArgumentInfo argument{(isResult ? arg::multipleDst : arg::multipleSrc) + count,
                          concat(isResult ? "result" : "arg", count), mlir.args[i], use != 'r'};
    argument.isUpdated = use == 'u';
    if (Result<void> ok = checkArgument(argument.desc, argument.name); !ok)
      return refused(ok.takeError(), "C4");
    problem.arguments.push_back(std::move(argument));
    ++count;
  }
  return problem;
}

} // namespace quern
