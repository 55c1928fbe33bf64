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

/// A machine pass that loads vectors of constants before the outermost loops all of whose innermost loops use them,
/// separately at each of these places, so that no loop in between keeps registers for them. Requires virtual registers
/// with a single definition.
llvm::Pass *createPlaceConstantsPass();

} // namespace quern

#endif // QUERN_TARGETS_CPU_PLACECONSTANTS_H
