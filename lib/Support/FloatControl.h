//===- FloatControl.h - Floating-point control of a thread ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Rounding, denormals, traps and the sticky exception flags as one word: MXCSR on x86, FPCR with FPSR above it on
// AArch64.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SUPPORT_FLOATCONTROL_H
#define QUERN_SUPPORT_FLOATCONTROL_H

#include <cstdint>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace quern::floatControl {

#if defined(__x86_64__)

using Word = uint32_t;
/// Rounds to nearest, keeps denormals, traps nothing; no flag is set.
constexpr Word standard = 0x1f80;
/// Sticky exception flags.
constexpr Word flags = 0x3f;

inline Word read() { return _mm_getcsr(); }
inline void write(Word word) { _mm_setcsr(word); }

#elif defined(__aarch64__)

using Word = uint64_t;
constexpr Word standard = 0;
constexpr Word flags = 0xffffffffull << 32;

inline Word read() {
  uint64_t control, status;
  __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(control), "=r"(status));
  return control | status << 32;
}
inline void write(Word word) {
  const uint64_t control = word & ~flags, status = word >> 32;
  __asm__ volatile("msr fpcr, %0\n\tmsr fpsr, %1" : : "r"(control), "r"(status) : "memory");
}

#endif

} // namespace quern::floatControl

namespace quern {

/// Sets the thread's arithmetic to round-to-nearest with denormals kept and all exceptions masked. The destructor
/// restores the caller's state, including sticky flags.
class DefaultFloatEnvironment {
public:
  DefaultFloatEnvironment() : saved(floatControl::read()) {
    if ((saved & ~floatControl::flags) != floatControl::standard)
      floatControl::write(floatControl::standard);
  }
  ~DefaultFloatEnvironment() {
    if (floatControl::read() != saved)
      floatControl::write(saved);
  }
  DefaultFloatEnvironment(const DefaultFloatEnvironment &) = delete;
  DefaultFloatEnvironment &operator=(const DefaultFloatEnvironment &) = delete;

private:
  floatControl::Word saved;
};

} // namespace quern

#endif // QUERN_SUPPORT_FLOATCONTROL_H
