//===- FamilyPack.cpp - A problem's family as a pack ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "FamilyPack.h"

#include "Cache/Pack.h"
#include "Family/Family.h"
#include "Kernel.h"

namespace quern {

Result<std::unique_ptr<FamilyPack>> FamilyPack::of(const VerifiedProblem &problem, const Target &target) {
  const std::optional<Family> family = familyOf(problem, target);
  if (!family)
    return std::unique_ptr<FamilyPack>();
  Result<std::string> artifact = compileTo(family->problem.desc.text(), target.text(), quern_form_artifact);
  if (!artifact && artifact.error().status == Status::Unimplemented)
    return std::unique_ptr<FamilyPack>();
  QUERN_ASSIGN_OR_RETURN(std::string pack,
                         artifact ? writePack({*artifact}) : Result<std::string>(artifact.takeError()));
  std::unique_ptr<FamilyPack> added(new FamilyPack());
  added->bytes = std::move(pack);
  QUERN_RETURN_IF_ERROR(checked(quern_add_pack_data(added->bytes.data(), added->bytes.size())));
  return added;
}

FamilyPack::~FamilyPack() { (void)quern_remove_pack_data(bytes.data()); }

} // namespace quern
