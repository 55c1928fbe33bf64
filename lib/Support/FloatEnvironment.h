//===- FloatEnvironment.h - Computing in the default environment ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Callers may round differently, flush denormals or enable traps. No result of Quern depends on that.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SUPPORT_FLOATENVIRONMENT_H
#define QUERN_SUPPORT_FLOATENVIRONMENT_H

#include "Support/FloatControl.h"

#include <cfenv>

namespace quern {

/// Like DefaultFloatEnvironment, but also for code of other libraries, which may use the x87 unit of x86.
class DefaultLibraryEnvironment {
public:
  DefaultLibraryEnvironment() : isSaved(!isX87Default()) {
    if (isSaved) {
      (void)std::fegetenv(&saved);
      (void)std::fesetenv(FE_DFL_ENV);
    }
  }
  ~DefaultLibraryEnvironment() {
    if (isSaved)
      (void)std::fesetenv(&saved);
  }
  DefaultLibraryEnvironment(const DefaultLibraryEnvironment &) = delete;
  DefaultLibraryEnvironment &operator=(const DefaultLibraryEnvironment &) = delete;

private:
  static bool isX87Default() {
#if defined(__x86_64__)
    uint16_t control;
    __asm__ volatile("fnstcw %0" : "=m"(control));
    return control == 0x37f;
#else
    return true;
#endif
  }
  bool isSaved;
  std::fenv_t saved;
  DefaultFloatEnvironment ofKernels;
};

} // namespace quern

#endif // QUERN_SUPPORT_FLOATENVIRONMENT_H
