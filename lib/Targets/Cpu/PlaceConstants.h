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

/// A machine pass: loads vectors of constants in front of the outermost loops all of whose innermost loops use them,
/// and in each such place anew, so that no loop in between keeps registers for them. It wants registers that are
/// virtual and written once.
llvm::Pass *createPlaceConstantsPass();

} // namespace quern

#endif // QUERN_TARGETS_CPU_PLACECONSTANTS_H
