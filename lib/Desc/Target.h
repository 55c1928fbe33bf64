//===- Target.h - What code is compiled for -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A target is a value with a text form ("avx512_core_bf16", "avx2:l2=1024,l3=32768"): the instruction set and the cache sizes that
// strategies read. Two machines with equal targets run each other's kernels. Detection asks CPUID and the operating system; LLVM is not
// needed for it.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_DESC_TARGET_H
#define QUERN_DESC_TARGET_H

#include "Support/Error.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace quern {

/// Levels in the order of inclusion; names follow oneDNN's (`sse41` is accepted for sse42).
enum class CpuIsa : int32_t {
  Sse42 = 0,      ///< x86-64-v2
  Avx2 = 1,       ///< x86-64-v3: AVX2, FMA, F16C
  Avx512 = 2,     ///< x86-64-v4: F, BW, CD, DQ, VL
  Avx512Vnni = 3, ///< and VNNI
  Avx512Bf16 = 4, ///< and BF16
  Avx512Fp16 = 5, ///< and FP16
  Avx512Amx = 6,  ///< and AMX tile, int8 and bf16
};

struct Target {
  CpuIsa isa = CpuIsa::Sse42;
  int32_t l1Kib = 32;      ///< data cache of a core
  int32_t l2Kib = 1024;    ///< of a core
  int32_t l3Kib = 32768;   ///< shared

  /// This machine, capped by QUERN_MAX_CPU_ISA and setMaxCpuIsa(). Cheap after the first call; thread-safe.
  static const Target &host();
  /// "native", an ISA name, or an ISA name with ":l1=..,l2=..,l3=.." in KiB. `native` is host().
  static Result<Target> parse(std::string_view text);
  /// Complete: parse(text()) == *this.
  std::string text() const;
  /// Lanes of a vector of 32-bit elements: 4, 8 or 16.
  int lanes32() const { return isa >= CpuIsa::Avx512 ? 16 : isa >= CpuIsa::Avx2 ? 8 : 4; }
  bool operator==(const Target &) const = default;
};

std::string_view nameOfIsa(CpuIsa isa);
/// What the CPU and operating system have, before any cap.
CpuIsa detectedIsa();
/// Caps host() for the rest of the process. Fails (`invalid_arguments`) once host() has been used, as oneDNN's does; thread-safe.
Result<void> setMaxCpuIsa(CpuIsa isa);

} // namespace quern

#endif // QUERN_DESC_TARGET_H
