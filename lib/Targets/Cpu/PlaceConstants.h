//===- PlaceConstants.h - Constants near the loops that use them ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_CPU_PLACECONSTANTS_H
#define QUERN_TARGETS_CPU_PLACECONSTANTS_H

namespace llvm {
class Pass;
}

namespace quern {

/// A machine pass that loads vectors of constants before the outermost loops in which every loop that is short of
/// registers uses them, separately at each of these places, so that no such loop keeps registers for constants that it
/// does not use. Requires virtual registers with a single definition.
llvm::Pass *createPlaceConstantsPass();

} // namespace quern

#endif // QUERN_TARGETS_CPU_PLACECONSTANTS_H
