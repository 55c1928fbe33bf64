//===- Target.h - What code is compiled for -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A target is a value with a text form: of a CPU ("avx512_core_bf16", "avx2:l2=1024,l3=32768") the instruction set and
// the cache sizes that strategies read, of a device ("spirv64:sg=16+32,group=1024,slm=65536,vec=16,f16") the limits
// that its kernels keep. Two machines with equal targets run each other's kernels. Detection asks CPUID and the
// operating system; LLVM is not needed for it.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_DESC_TARGET_H
#define QUERN_DESC_TARGET_H

#include "Support/Error.h"

#include <cstdint>
#include <optional>
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

enum class TargetKind : int32_t {
  Cpu,
  Spirv, ///< a device that takes OpenCL's SPIR-V with 64-bit addresses
};

/// What a kernel on a device may ask for.
struct DeviceTraits {
  uint32_t subGroupSizes = 16 | 32; ///< each a power of two up to 128, added up
  int32_t maxGroupSize = 1024;      ///< work-items in a group
  int32_t groupMemoryBytes = 65536; ///< that the work-items of a group share
  int32_t vectorBytes = 0; ///< that one work-item should move at once; 0 where the driver makes vectors of work-items
  bool hasF16 = false, hasF64 = false; ///< arithmetic in the type; f16 data needs none

  static constexpr int32_t gpuVectorBytes = 16; ///< of a GPU
  bool hasSubGroups(int32_t size) const {
    return size > 0 && (subGroupSizes & static_cast<uint32_t>(size)) == static_cast<uint32_t>(size);
  }
  bool operator==(const DeviceTraits &) const = default;
};

/// The first four members are a CPU's, `device` is a device's; each keeps its defaults where it says nothing.
struct Target {
  CpuIsa isa = CpuIsa::Sse42;
  int32_t l1Kib = 32;    ///< data cache of a core
  int32_t l2Kib = 1024;  ///< of a core
  int32_t l3Kib = 32768; ///< shared
  TargetKind kind = TargetKind::Cpu;
  DeviceTraits device{};

  /// This machine, capped by QUERN_MAX_CPU_ISA and setMaxCpuIsa(). Cheap after the first call; thread-safe.
  static const Target &host();
  /// "native", an ISA name, or an ISA name with ":l1=..,l2=..,l3=.." in KiB. `native` is host(). Of a device: "spirv64"
  /// alone is a GPU; else with sub-group sizes, the greatest group, group memory and vectors in bytes and features that
  /// it has: ":sg=8+16,group=512,slm=65536,vec=16,f16,f64".
  static Result<Target> parse(std::string_view text);
  /// Complete: parse(text()) == *this.
  std::string text() const;
  bool isCpu() const { return kind == TargetKind::Cpu; }
  /// Without sizes: the ISA's name, or "spirv64".
  std::string_view name() const;
  /// 32-bit elements that are computed as one: 4, 8 or 16 in a CPU's vector, 16 in what a device is taken to have.
  int lanes32() const { return !isCpu() || isa >= CpuIsa::Avx512 ? 16 : isa >= CpuIsa::Avx2 ? 8 : 4; }
  /// Products of pairs of bf16 that add up in f32.
  bool hasPairDots() const { return isCpu() && isa >= CpuIsa::Avx512Bf16; }
  bool hasF64() const { return isCpu() || device.hasF64; }
  bool operator==(const Target &) const = default;
};

std::string_view nameOfIsa(CpuIsa isa);
/// In any case; nothing for an unknown name.
std::optional<CpuIsa> isaFromName(std::string_view name);
/// What the CPU and operating system have, before any cap.
CpuIsa detectedIsa();
/// Caps host() for the rest of the process. Fails (`invalid_arguments`) once host() has been used, as
/// oneDNN's does; thread-safe.
Result<void> setMaxCpuIsa(CpuIsa isa);

} // namespace quern

#endif // QUERN_DESC_TARGET_H
