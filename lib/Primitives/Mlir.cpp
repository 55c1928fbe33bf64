//===- Mlir.cpp - Verification of functions given as MLIR -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Constraints of a function that a compiler has read, which are checked without a compiler:
//   C1  Every tensor is well-formed; there is no dropout.
//   C2  The function was read: it has code, and its original bytes and name are dropped.
//   C3  There are 1 to 1024 arguments, and a use for each; something is written.
//   C4  Arguments are plain, of f32, f64, f16, bf16, s32, s8 or s4.
//   C5  There are no scales, zero points, post-ops or RNN quantization parameters.
//   C6  Outputs do not overlap other arguments; one argument may be both read and written.
//   C7  At most 1000 sizes are open. Each open dim may be required to equal a number or an earlier open size; the sizes
//       of an execution are as required.
//   C8  Numbers that sizes or offsets depend on are arguments of one s32 element that is read, in ascending order.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Registry.h"

#include <charconv>

namespace quern {
namespace {

constexpr size_t maxOpenSizes = 1000;

/// Entry of MlirDesc::sizes for an open size: a number, or the index of the first open size that it equals.
struct OpenSize {
  bool isNumber = false;
  int64_t value = 0;
};

/// Removes the next entry from the text; returns nothing if it is malformed.
std::optional<OpenSize> takeSize(std::string_view &text) {
  OpenSize size;
  size.isNumber = text.starts_with('=');
  text.remove_prefix(size.isNumber ? 1 : 0);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size.value);
  if (error != std::errc() || size.value < 0)
    return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (text.empty())
    return size;
  if (!text.starts_with(',') || text.size() == 1)
    return std::nullopt;
  text.remove_prefix(1);
  return size;
}

/// Calls visit(argument, number of a dim or -1, value) for each open size, in the order of the list.
template <typename Visit>
Result<void> forEachOpen(const std::vector<ArgumentInfo> &arguments, std::span<const TensorDesc *const> tensors,
                         Visit visit) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const TensorDesc &desc = arguments[i].desc;
    for (int d = 0; d < desc.ndims; ++d)
      if (desc.dims[d] == runtimeDim)
        QUERN_RETURN_IF_ERROR(visit(i, d, tensors[i]->dims[d]));
    for (int d = 0; d < desc.ndims; ++d)
      if (desc.strides[d] == runtimeDim)
        QUERN_RETURN_IF_ERROR(visit(i, -1, tensors[i]->strides[d]));
    if (desc.offset0 == runtimeDim)
      QUERN_RETURN_IF_ERROR(visit(i, -1, tensors[i]->offset0));
  }
  return {};
}

/// Checks that the sizes of an execution agree as the function requires.
Result<void> checkExecutionSizes(const VerifiedProblem &problem, std::span<const TensorDesc *const> tensors) {
  std::string_view text = std::get<MlirDesc>(problem.desc.op).sizes;
  int64_t known[maxOpenSizes];
  size_t count = 0;
  return forEachOpen(problem.arguments, tensors, [&](size_t i, int d, int64_t value) -> Result<void> {
    const std::optional<OpenSize> wanted = takeSize(text);
    if (!wanted || count == maxOpenSizes)
      return internalError("the sizes of a function differ from those that were verified");
    known[count++] = value;
    if (d < 0)
      return {};
    const int64_t expected = wanted->isNumber ? wanted->value : known[wanted->value];
    if (value != expected)
      return invalidArguments("dim ", d, " of ", problem.arguments[i].name, " is ", value, "; the other sizes require ",
                              expected);
    return {};
  });
}

/// Checks that the text has an entry for each open size.
Result<void> checkSizesText(const VerifiedProblem &problem) {
  const std::string &sizes = std::get<MlirDesc>(problem.desc.op).sizes;
  std::string_view text = sizes;
  std::vector<const TensorDesc *> descs;
  for (const ArgumentInfo &argument : problem.arguments)
    descs.push_back(&argument.desc);
  int64_t count = 0;
  Result<void> ok = forEachOpen(problem.arguments, descs, [&](size_t, int d, int64_t) -> Result<void> {
    const std::optional<OpenSize> size = takeSize(text);
    const int64_t index = count++;
    const bool isOfDim = size && (size->isNumber || size->value <= index),
               isFirst = size && !size->isNumber && size->value == index;
    if ((d < 0 ? !isFirst : !isOfDim) || count > static_cast<int64_t>(maxOpenSizes))
      return invalidArguments(
          "sizes are '", sizes,
          "'; each must be '=' and a number, or the index of the first equal size; the maximum number of sizes is ",
          maxOpenSizes);
    return {};
  });
  if (ok && !text.empty())
    return invalidArguments("sizes are '", sizes, "'; the arguments have ", count, " open sizes");
  return ok;
}

/// Checks that the text names arguments that can be numbers.
Result<void> checkNumbers(const MlirDesc &mlir) {
  const std::optional<std::vector<MlirNumber>> numbers = MlirNumber::parse(mlir.numbers);
  if (!numbers)
    return invalidArguments("numbers are '", mlir.numbers,
                            "'; each must be an argument, or an argument, a colon and its value");
  for (const MlirNumber &number : *numbers) {
    const TensorDesc *desc = number.argument < mlir.args.size() ? &mlir.args[number.argument] : nullptr;
    if (!desc || desc->dataType != DataType::S32 || desc->ndims != 1 || desc->dims[0] != 1 || desc->offset0 != 0 ||
        mlir.uses[number.argument] != 'r')
      return invalidArguments("argument ", number.argument,
                              " is not a number: it must be one element of s32 that is only read");
  }
  return {};
}

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
    return refused(unimplemented(what, " are not supported for functions, only for primitives"), "C5");
  return {};
}

Result<void> checkUses(const MlirDesc &mlir) {
  if (mlir.args.empty() || mlir.args.size() > maxSources || mlir.uses.size() != mlir.args.size())
    return invalidArguments("a function has ", mlir.args.size(), " arguments and ", mlir.uses.size(),
                            " uses; it needs 1 to ", maxSources, " of each, and the same number");
  if (mlir.uses.find_first_not_of("rwuR") != std::string::npos)
    return invalidArguments("uses are '", mlir.uses, "'; each must be r, w, u or R");
  if (mlir.uses.find_first_of("wuR") == std::string::npos)
    return invalidArguments("uses are '", mlir.uses, "'; at least one argument must be written");
  return {};
}

bool isSupported(DataType type) {
  return type == DataType::F32 || type == DataType::S32 || type == DataType::F64 || type == DataType::F16 ||
         type == DataType::BF16 || type == DataType::S8 || type == DataType::S4;
}

Result<void> checkArgument(const TensorDesc &desc, const std::string &name) {
  if (!isSupported(desc.dataType))
    return unimplemented(name, " is of ", nameOf(desc.dataType), "; it must be f32, f64, f16, bf16, s32, s8 or s4");
  if (desc.isZero() || desc.isAny() || !desc.isPlain())
    return unimplemented(name, " is not a plain tensor");
  return {};
}

} // namespace

Result<VerifiedProblem> verifyMlir(const PrimitiveDesc &desc, const Target &, const PrimitiveDesc *) {
  const auto &mlir = std::get<MlirDesc>(desc.op);
  if (!mlir.isRead() || !mlir.module.empty() || !mlir.function.empty())
    return refused(invalidArguments("the function has not been read yet, which needs a compiler"), "C2");
  if (Result<void> ok = checkUses(mlir); !ok)
    return refused(ok.takeError(), "C3");
  QUERN_RETURN_IF_ERROR(checkAttributes(desc.attr));
  VerifiedProblem problem{desc, {}, {}};
  problem.isNoop = true; // cleared below if an output has elements
  problem.citations.overlapping = " (mlir C6)";
  int32_t sources = 0, results = 0;
  for (size_t i = 0; i < mlir.args.size(); ++i) {
    const char use = mlir.uses[i];
    const bool isResult = use == 'R';
    int32_t &count = isResult ? results : sources;
    ArgumentInfo argument{(isResult ? arg::multipleDst : arg::multipleSrc) + count,
                          concat(isResult ? "result" : "arg", count), mlir.args[i], use != 'r'};
    argument.isUpdated = use == 'u';
    problem.isNoop &= use == 'r' || mlir.args[i].hasZeroDim();
    if (Result<void> ok = checkArgument(argument.desc, argument.name); !ok)
      return refused(ok.takeError(), "C4");
    problem.arguments.push_back(std::move(argument));
    ++count;
  }
  if (Result<void> ok = checkSizesText(problem); !ok)
    return refused(ok.takeError(), "C7");
  if (Result<void> ok = checkNumbers(mlir); !ok)
    return refused(ok.takeError(), "C8");
  problem.checkSizes = checkExecutionSizes;
  problem.citations.unfitting = " (mlir C7)";
  return problem;
}

} // namespace quern
