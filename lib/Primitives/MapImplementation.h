//===- MapImplementation.h - What maps are called -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_MAPIMPLEMENTATION_H
#define QUERN_PRIMITIVES_MAPIMPLEMENTATION_H

#include "Primitives/Registry.h"

#include <algorithm>

namespace quern {

/// Names the implementation of an elementwise primitive whose arguments are listed: "jit:map:", but "jit:rows:" where sizes are open on a
/// CPU, whose map recipe takes none.
inline void nameMapImplementation(VerifiedProblem &problem, const Target &target) {
  const bool isOpen =
      std::any_of(problem.arguments.begin(), problem.arguments.end(), [](const ArgumentInfo &a) { return a.desc.hasRuntimeDims(); });
  problem.implementation.append(isOpen && target.isCpu() ? "jit:rows:" : "jit:map:").append(target.name());
}

} // namespace quern

#endif // QUERN_PRIMITIVES_MAPIMPLEMENTATION_H
