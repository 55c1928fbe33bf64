//===- FamilyPack.h - A problem's family as a pack ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TOOLS_SUPPORT_FAMILYPACK_H
#define QUERN_TOOLS_SUPPORT_FAMILYPACK_H

#include "Primitives/Registry.h"

#include <memory>
#include <string>

namespace quern {

/// Compiles the kernel of a problem's family and adds it to the process as a pack; the destructor removes the pack.
class FamilyPack {
public:
  /// Compiles and adds the pack. Returns null if the problem has no family, or no recipe supports it with open sizes.
  static Result<std::unique_ptr<FamilyPack>> of(const VerifiedProblem &problem, const Target &target);
  ~FamilyPack();
  FamilyPack(const FamilyPack &) = delete;
  FamilyPack &operator=(const FamilyPack &) = delete;

private:
  FamilyPack() = default;
  std::string bytes;
};

} // namespace quern

#endif // QUERN_TOOLS_SUPPORT_FAMILYPACK_H
