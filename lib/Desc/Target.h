//===- Target.h - What code is compiled for -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A target is a value with a text form: of a CPU ("avx512_core_bf16", "avx2:l2=1024,l3=32768", "sve:vl=256") the
// instruction set and the cache sizes that strategies read, of a device ("spirv64:sg=16+32,group=1024,slm=65536,vec=16,
// f16") the limits that its kernels keep. Two machines with equal targets run each other's kernels. Detection
// (Machine.h) asks the CPU and the operating system; LLVM is not needed for it.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_DESC_TARGET_H
#define QUERN_DESC_TARGET_H

#include "Support/Error.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace quern {

enum class CpuArch : int32_t { X86_64, AArch64 }; // NOLINT(readability-identifier-naming): as they are called

/// Levels of each architecture, a higher one with a higher number; names follow oneDNN's (`sse41` is accepted for
/// sse42). What includes what is includesIsa()'s to say.
enum class CpuIsa : int32_t {
  Sse42 = 0,      ///< x86-64-v2
  Avx2 = 1,       ///< x86-64-v3: AVX2, FMA, F16C
  Avx512 = 2,     ///< x86-64-v4: F, BW, CD, DQ, VL
  Avx512Vnni = 3, ///< and VNNI
  Avx512Bf16 = 4, ///< and BF16
  Avx512Fp16 = 5, ///< and FP16
  Avx512Amx = 6,  ///< and AMX tile, int8 and bf16

  Neon = 16,        ///< Armv8.2-A with Advanced SIMD
  NeonDotprod = 17, ///< and DotProd
  NeonBf16 = 18,    ///< and BF16 and I8MM
  Sve = 19,         ///< Neon and SVE, whose vectors have the length that the target names
  SveBf16 = 20,     ///< Sve and NeonBf16
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

/// `isa`, the caches and `vectorBits` are a CPU's, `device` is a device's; each keeps its defaults where it says
/// nothing.
struct Target {
  CpuIsa isa = CpuIsa::Sse42;
  int32_t l1Kib = 32;    ///< data cache of a core
  int32_t l2Kib = 1024;  ///< of a core
  int32_t l3Kib = 32768; ///< shared
  TargetKind kind = TargetKind::Cpu;
  DeviceTraits device{};
  int32_t vectorBits = 0; ///< of SVE: 128, 256 or 512; 0 on other levels

  /// This machine, capped by QUERN_MAX_CPU_ISA and setMaxCpuIsa(). Cheap after the first call; thread-safe.
  static const Target &host();
  /// "native", an ISA name, or an ISA name with ":l1=..,l2=..,l3=.." in KiB; `native` is host(), and the levels of SVE
  /// need ":vl=.." in bits. Of a device: "spirv64" alone is a GPU; else with sub-group sizes, the greatest group, group
  /// memory and vectors in bytes and features that it has: ":sg=8+16,group=512,slm=65536,vec=16,f16,f64".
  static Result<Target> parse(std::string_view text);
  /// Complete: parse(text()) == *this.
  std::string text() const;
  bool isCpu() const { return kind == TargetKind::Cpu; }
  /// Without sizes: the ISA's name, or "spirv64".
  std::string_view name() const;
  /// A CPU that has all of `level`.
  bool has(CpuIsa level) const;
  /// Whether a machine of this target runs what was compiled for `code`: a device only its own, a CPU what its level
  /// includes, whatever the caches, with SVE's vectors of the same length.
  bool runs(const Target &code) const;
  bool isX86() const;
  bool isAArch64() const;
  /// 32-bit elements that are computed as one: 4, 8 or 16 in a CPU's vector, 16 in what a device is taken to have.
  int lanes32() const;
  /// Products of pairs of bf16 that add up in f32.
  bool hasPairDots() const { return has(CpuIsa::Avx512Bf16) || has(CpuIsa::NeonBf16); }
  /// Products of two rows and two columns, of eight bytes of bf16 or bytes each.
  bool hasPatchDots() const { return has(CpuIsa::NeonBf16); }
  bool hasF64() const { return isCpu() || device.hasF64; }
  bool operator==(const Target &) const = default;
};

constexpr CpuArch archOf(CpuIsa isa) { return isa >= CpuIsa::Neon ? CpuArch::AArch64 : CpuArch::X86_64; }
/// Whether a machine of level `all` runs code of level `part`; SVE's length is not looked at.
constexpr bool includesIsa(CpuIsa all, CpuIsa part) {
  if (archOf(all) != archOf(part))
    return false;
  return all == CpuIsa::Sve ? part == CpuIsa::Sve || part == CpuIsa::Neon : all >= part;
}
constexpr bool isSve(CpuIsa isa) { return isa == CpuIsa::Sve || isa == CpuIsa::SveBf16; }
/// The lengths of SVE's vectors that code is made for, in bits.
constexpr bool isSveLength(int32_t bits) { return bits == 128 || bits == 256 || bits == 512; }
/// All levels, ascending.
std::span<const CpuIsa> isasOf(CpuArch arch);
std::string_view nameOfIsa(CpuIsa isa);
/// In any case; nothing for an unknown name.
std::optional<CpuIsa> isaFromName(std::string_view name);
/// A target of this level with the caches that are usual for it; `vectorBits` only for SVE.
Target targetOfIsa(CpuIsa isa, int32_t vectorBits = 0);
/// What the CPU and operating system have, before any cap.
CpuIsa detectedIsa();
/// Caps host() for the rest of the process: to the highest level that is no higher and that the machine has. A level
/// of another architecture caps nothing. Fails (`invalid_arguments`) once host() has been used, as oneDNN's does;
/// thread-safe.
Result<void> setMaxCpuIsa(CpuIsa isa);

} // namespace quern

#endif // QUERN_DESC_TARGET_H
