//===- Registry.cpp - Verification and keys of all primitives -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Checks what every primitive requires, as its constraint C1: each tensor and the attributes are well-formed. A
// verifier can therefore query its descriptors without further checks.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Registry.h"

#include "Primitives/Integers.h"

namespace quern {
namespace {

using Verifier = Result<VerifiedProblem> (*)(const PrimitiveDesc &, const Target &, const PrimitiveDesc *);

struct RegisteredPrimitive {
  PrimitiveKind kind;
  Verifier verify;
  bool supportsDropout;
};

constexpr RegisteredPrimitive primitives[] = {
#define QUERN_PRIMITIVE(NAME, WORD, VALUE, TAKES_DROPOUT, IS_EXACT) {PrimitiveKind::NAME, verify##NAME, TAKES_DROPOUT},
#include "Desc/Primitives.def"
    {PrimitiveKind::Mlir, verifyMlir, false},
};

/// Returns the names of the primitives for which `holds` is true, such as "softmax, eltwise, binary".
std::string namesWhere(bool RegisteredPrimitive::*holds) {
  std::string names;
  for (const RegisteredPrimitive &primitive : primitives)
    if (primitive.*holds)
      names += concat(names.empty() ? "" : ", ", nameOf(primitive.kind));
  return names;
}

FpmathMode usedFpmath(const PrimitiveDesc &verified, const Target &target) {
  const bool rounds = verified.attr.fpmathMode != FpmathMode::Strict && verified.kind() == PrimitiveKind::Rnn;
  return rounds && rnnRoundsFactors(verified, target) ? FpmathMode::BF16 : FpmathMode::Strict;
}

AccumulationMode usedAccumulation(const PrimitiveDesc &verified) {
  const bool avoidsIntegers = verified.attr.accumulationMode == AccumulationMode::F32 && mayComputeOnIntegers(verified);
  return avoidsIntegers ? AccumulationMode::F32 : AccumulationMode::Strict;
}

/// Resets the fields that keys ignore. Returns whether any field differs; a const descriptor is not changed.
template <typename Desc> bool makeCanonical(Desc &desc, const Target &target) {
  bool changes = false;
  const auto set = [&](auto &field, auto value) {
    changes |= field != value;
    if constexpr (!std::is_const_v<std::remove_reference_t<decltype(field)>>)
      field = value;
  };
  set(desc.attr.fpmathMode, usedFpmath(desc, target));
  set(desc.attr.fpmathApplyToInt, false);
  set(desc.attr.accumulationMode, usedAccumulation(desc));
  set(desc.attr.deterministic, false);
  set(desc.attr.scratchpadMode, ScratchpadMode::Library);
  set(desc.attr.dropout.isOnHost, false);
  for (auto *all : {&desc.attr.scales, &desc.attr.zeroPoints})
    for (auto &[argument, params] : *all)
      set(params.isOnHost, false);
  std::visit(
      [&]<typename Op>(Op &op) {
        if constexpr (requires { Op::makeCanonical(op, set); })
          Op::makeCanonical(op, set);
      },
      desc.op);
  return changes;
}

/// Visits fields until the first tensor that is not well-formed.
struct TensorChecker {
  Result<void> result{};
  template <typename T> void operator()(const char *name, const T &value) {
    if constexpr (std::is_same_v<T, TensorDesc>) {
      check(value, name);
    } else if constexpr (std::is_same_v<T, std::vector<TensorDesc>>) {
      if (value.size() > maxSources)
        result = invalidArguments(name, " has ", value.size(), " tensors; at most ", maxSources, " are possible");
      for (size_t i = 0; i < value.size() && result; ++i)
        check(value[i], name, i);
    }
  }
  template <typename... Position> void check(const TensorDesc &tensor, const char *name, Position... position) {
    if (!result)
      return;
    if (Result<void> valid = tensor.validate(); !valid)
      result = Error{valid.error().status, concat(name, concat(".", position)..., ": ", valid.error().message)};
  }
};

Error illFormed(const PrimitiveDesc &desc, Error error) {
  error.message += concat(" (", nameOf(desc.kind()), " C1)");
  return error;
}

/// Refuses tensors of a type that the device cannot compute with. Narrow floats are converted with integer arithmetic,
/// so only f64 is checked.
Result<void> checkTypes(const VerifiedProblem &problem, const Target &target) {
  for (const ArgumentInfo &argument : problem.arguments)
    if (!target.hasF64() && argument.desc.dataType == DataType::F64)
      return unimplemented(argument.name, " is of f64, which ", target.text(), " lacks");
  return {};
}

} // namespace

KernelKey keyOf(const PrimitiveDesc &verified, const Target &target) {
  if (!makeCanonical(verified, target))
    return makeKey(verified, target);
  PrimitiveDesc copy = verified;
  makeCanonical(copy, target);
  return makeKey(copy, target);
}

Result<VerifiedProblem> verify(const PrimitiveDesc &desc, const Target &target, const PrimitiveDesc *forwardHint) {
  TensorChecker checker;
  std::visit([&]<typename Op>(const Op &op) { Op::visitFields(op, checker); }, desc.op);
  if (!checker.result)
    return illFormed(desc, checker.result.takeError());
  if (Result<void> valid = desc.attr.validate(); !valid)
    return illFormed(desc, valid.takeError());
  const Dropout &dropout = desc.attr.dropout;
  if (!dropout.isSet() && (dropout.usesOffset || dropout.isOnHost || !dropout.mask.isZero()))
    return illFormed(desc, invalidArguments("dropout has no seed type; it must be s32 or s64"));
  for (const RegisteredPrimitive &primitive : primitives)
    if (primitive.kind == desc.kind()) {
      if (desc.attr.dropout.isSet() && !primitive.supportsDropout)
        return illFormed(desc, unimplemented("dropout is not implemented for ", nameOf(desc.kind()), "; it is for ",
                                             namesWhere(&RegisteredPrimitive::supportsDropout)));
      if (desc.attr.naive && desc.kind() != PrimitiveKind::Mlir)
        return illFormed(desc, unimplemented("the naive lowering is not implemented for ", nameOf(desc.kind()),
                                             "; it is for callers' functions (mlir)"));
      QUERN_ASSIGN_OR_RETURN(VerifiedProblem problem, primitive.verify(desc, target, forwardHint));
      QUERN_RETURN_IF_ERROR(checkTypes(problem, target));
      problem.implementation = concat("jit:", target.name());
      return problem;
    }
  std::string implemented;
  for (const RegisteredPrimitive &primitive : primitives)
    implemented += concat(implemented.empty() ? "" : ", ", nameOf(primitive.kind));
  return unimplemented("primitive ", nameOf(desc.kind()), " has no implementation; these have: ", implemented);
}

} // namespace quern
