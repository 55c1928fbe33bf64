//===- Registry.h - Verification and keys of all primitives ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Adding a primitive takes a folder and a line in Desc/Primitives.def. Verification does everything that needs no
// compiler: it validates the descriptor, fills in defaults, resolves `any`, refuses unsupported problems, and lists the
// arguments of an execution.
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
  PrimitiveDesc desc;                  ///< defaults filled in, `any` resolved, attributes as given
  std::vector<ArgumentInfo> arguments; ///< in the order of the emitted function's arguments
  std::string implementation; ///< such as "jit:avx512_core_bf16": code for that target; the plan names the recipe
  bool isNoop = false;        ///< true if there are no elements, so nothing is compiled or run
  /// Checks that the tensors of an execution, in argument order, agree in their open dims; null: checkSharedDims()
  /// (runtime/Engine/RuntimeSizes.h) does.
  Result<void> (*checkSizes)(const VerifiedProblem &problem, std::span<const TensorDesc *const> given) = nullptr;
  /// Returns the grid of an argument that has one but is not scales or zero points (the workspace), for the tensors of
  /// an execution that precede it; null if there is no such argument.
  Result<TensorDesc> (*gridAt)(const VerifiedProblem &problem, std::span<const TensorDesc *const> given) = nullptr;
  /// Returns the header that an input must have for the tensors of an execution; null if it does not depend on them.
  std::string (*headerAt)(const VerifiedProblem &problem, std::span<const TensorDesc *const> given) = nullptr;
  /// Constraint numbers for messages about executions, such as " (reorder C13)"; may be empty.
  struct Citations {
    std::string_view missing = "";     ///< an argument is missing
    std::string_view overlapping = ""; ///< an output overlaps another argument in an unsupported way
    std::string_view unfitting = "";   ///< sizes known only at execution do not match each other
    std::string_view foreign = "";     ///< the header of an input belongs to another problem
  } citations;
  std::vector<ArgumentInfo> intermediates = {}; ///< copies of arguments in scratch, in layouts that the verifier chose
};

/// Returns the key of the kernel of a verified problem. Fields that do not change the code for this target are left
/// out: the kind of forward or backward propagation if both compute the same, modes without an effect, and the location
/// of tensors, scalars and the scratchpad.
KernelKey keyOf(const PrimitiveDesc &verified, const Target &target);

/// Verifies a problem. `forwardHint` is the forward problem of a backward one, or null.
Result<VerifiedProblem> verify(const PrimitiveDesc &desc, const Target &target,
                               const PrimitiveDesc *forwardHint = nullptr);

// One verifier for each primitive, defined in Primitives/<Name>/Verify.cpp.
#define QUERN_PRIMITIVE(NAME, WORD, VALUE, TAKES_DROPOUT, IS_EXACT)                                                    \
  Result<VerifiedProblem> verify##NAME(const PrimitiveDesc &desc, const Target &target,                                \
                                       const PrimitiveDesc *forwardHint);
#include "Desc/Primitives.def"
/// Verifies a function given as MLIR. Fails with `invalid_arguments` if the compiler has not read the function yet.
Result<VerifiedProblem> verifyMlir(const PrimitiveDesc &desc, const Target &target, const PrimitiveDesc *forwardHint);
/// Returns true if the fpmath mode lets the kernel of an RNN round factors of products to bf16.
bool rnnRoundsFactors(const PrimitiveDesc &desc, const Target &target);

} // namespace quern

#endif // QUERN_PRIMITIVES_REGISTRY_H
