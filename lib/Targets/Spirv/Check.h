//===- Check.h - Checking input of the SPIR-V back end --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_SPIRV_CHECK_H
#define QUERN_TARGETS_SPIRV_CHECK_H

#include "Desc/Target.h"
#include "Support/Error.h"

namespace llvm {
class Module;
}

namespace quern {

/// Accepts a module if all of its types, instructions, functions and address spaces can be translated and are supported
/// by the device. Otherwise returns `unimplemented` with the first one that is not.
Result<void> checkForSpirv(const llvm::Module &module, const DeviceTraits &device);

} // namespace quern

#endif // QUERN_TARGETS_SPIRV_CHECK_H
