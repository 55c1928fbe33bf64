//===- Registry.h - What the LLVM-free half knows of each primitive -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A new primitive is a folder and a line in Desc/Primitives.def. Verification settles everything that can be settled
// without a compiler: it validates, fills defaults, resolves `any`, refuses what is not supported, and lists the
// arguments that execution takes.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_REGISTRY_H
#define QUERN_PRIMITIVES_REGISTRY_H

#include "Desc/Key.h"
#include "Desc/Target.h"
#include "Primitives/Arguments.h"

#include <string>
#include <vector>

namespace quern {

/// A verified problem.
struct VerifiedProblem {
  PrimitiveDesc desc;                  ///< defaults filled, `any` resolved, attributes as they were given
  std::vector<ArgumentInfo> arguments; ///< in the order of the emitted function's arguments
  std::string implementation;          ///< "jit:avx512_core_bf16": code made for that target; the plan names the recipe
  bool isNoop = false;                 ///< no elements: nothing to compile or to run
  /// Whether the tensors of an execution, in the order of the arguments, agree in the dims that were left open; null:
  /// as checkSharedDims() has it (runtime/Core/RuntimeSizes.h).
  Result<void> (*checkSizes)(const VerifiedProblem &problem, std::span<const TensorDesc *const> given) = nullptr;
  /// Of an argument with a grid that belongs to no tensor: that of an execution, from its tensors up to the argument;
  /// null where there is none.
  Result<TensorDesc> (*gridAt)(const VerifiedProblem &problem, std::span<const TensorDesc *const> given) = nullptr;
  /// What the input with a header begins with in an execution of these tensors; null: always with that.
  std::string (*headerAt)(const VerifiedProblem &problem, std::span<const TensorDesc *const> given) = nullptr;
  /// The constraints of an execution as messages cite them, " (reorder C13)", or nothing.
  struct Citations {
    std::string_view missing = "";     ///< every argument is given
    std::string_view overlapping = ""; ///< an output is apart from the other arguments, or in place
    std::string_view unfitting = "";   ///< sizes that are given at execution only fit each other
    std::string_view foreign = "";     ///< an input with a header is of this problem
  } citations;
  std::vector<ArgumentInfo> intermediates = {}; ///< copies of arguments in scratch, whose layout the verifier chose
};

/// The key of the kernel of a verified problem. What changes no code for this target is left out: the two kinds of
/// forward and of backward propagation where they compute the same, modes that nothing makes use of, where tensors,
/// scalars and the scratchpad are.
KernelKey keyOf(const PrimitiveDesc &verified, const Target &target);

/// `forwardHint` is the forward problem of a backward one, or null.
Result<VerifiedProblem> verify(const PrimitiveDesc &desc, const Target &target,
                               const PrimitiveDesc *forwardHint = nullptr);

// One verifier for each primitive, in Primitives/<Name>/Verify.cpp.
#define QUERN_PRIMITIVE(NAME, WORD, VALUE, TAKES_DROPOUT, IS_EXACT)                                                    \
  Result<VerifiedProblem> verify##NAME(const PrimitiveDesc &desc, const Target &target,                                \
                                       const PrimitiveDesc *forwardHint);
#include "Desc/Primitives.def"
/// Of a function of the caller's that was read; `invalid_arguments` for one that was not, which only a compiler can.
Result<VerifiedProblem> verifyMlir(const PrimitiveDesc &desc, const Target &target, const PrimitiveDesc *forwardHint);
/// Whether the fpmath mode lets the kernel round factors of products to bf16.
bool rnnRoundsFactors(const PrimitiveDesc &desc, const Target &target);

} // namespace quern

#endif // QUERN_PRIMITIVES_REGISTRY_H
