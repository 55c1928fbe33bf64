//===- Target.h - Targets that code is compiled for -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A target is a value with a text form. For a CPU ("avx512_core_bf16", "avx2:l2=1024,l3=32768", "sve:vl=256") it has
// the instruction set and the cache sizes that strategies depend on; for a device
// ("spirv64:sg=16+32,group=1024,slm=65536,vec=16,f16") the limits of its kernels. Machines with equal targets can run
// each other's kernels. Detection (Machine.h) uses the CPU and the operating system, not LLVM.
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

enum class CpuArch : int32_t { X86_64, AArch64 }; // NOLINT(readability-identifier-naming): official names

/// Levels of each architecture, in ascending order. Names follow oneDNN's (`sse41` is accepted for sse42).
/// includesIsa() defines which levels include each other.
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
  Sve = 19,         ///< Neon and SVE, with vectors of the length that the target specifies
  SveBf16 = 20,     ///< Sve and NeonBf16
};

enum class TargetKind : int32_t {
  Cpu,
  Spirv, ///< a device that supports OpenCL's SPIR-V with 64-bit addresses
};

/// Limits and features of a device that kernels may use.
struct DeviceTraits {
  uint32_t subGroupSizes = 16 | 32; ///< sum of the supported sizes, each a power of two up to 128
  int32_t maxGroupSize = 1024;      ///< work-items in a group
  int32_t groupMemoryBytes = 65536; ///< memory shared by the work-items of a group
  int32_t vectorBytes = 0;          ///< bytes that a work-item should move at once; 0: the driver vectorizes work-items
  bool hasF16 = false, hasF64 = false; ///< true if the device has arithmetic in the type; f16 data does not need it

  static constexpr int32_t gpuVectorBytes = 16; ///< default of vectorBytes for a GPU
  bool hasSubGroups(int32_t size) const {
    return size > 0 && (subGroupSizes & static_cast<uint32_t>(size)) == static_cast<uint32_t>(size);
  }
  bool operator==(const DeviceTraits &) const = default;
};

/// `isa`, the cache sizes and `vectorBits` are for a CPU, `device` is for a device; members that do not apply keep
/// their defaults.
struct Target {
  CpuIsa isa = CpuIsa::Sse42;
  int32_t l1Kib = 32;    ///< data cache of a core
  int32_t l2Kib = 1024;  ///< per core
  int32_t l3Kib = 32768; ///< shared
  TargetKind kind = TargetKind::Cpu;
  DeviceTraits device{};
  int32_t vectorBits = 0; ///< vector length of SVE: 128, 256 or 512; 0 on other levels

  /// Returns this machine, limited by QUERN_MAX_CPU_ISA and setMaxCpuIsa(). Cheap after the first call; thread-safe.
  static const Target &host();
  /// Parses "native", which is host(), an ISA name, or an ISA name with ":l1=..,l2=..,l3=.." in KiB; the levels of SVE
  /// need ":vl=.." in bits. For a device: "spirv64" alone is a GPU; otherwise sub-group sizes, maximum group size,
  /// group memory and vectors in bytes, and features follow: ":sg=8+16,group=512,slm=65536,vec=16,f16,f64".
  static Result<Target> parse(std::string_view text);
  /// Returns the complete text: parse(text()) == *this.
  std::string text() const;
  bool isCpu() const { return kind == TargetKind::Cpu; }
  /// Returns the ISA's name, or "spirv64", without sizes.
  std::string_view name() const;
  /// Returns true for a CPU whose level includes `level`.
  bool has(CpuIsa level) const;
  /// Returns true if a machine of this target runs code that was compiled for `code`. A device only runs code for an
  /// equal target; a CPU runs all levels that it includes, with any cache sizes, but only with the same vector length
  /// of SVE.
  bool runs(const Target &code) const;
  bool isX86() const;
  bool isAArch64() const;
  /// Returns the number of 32-bit elements per vector: 4, 8 or 16 on a CPU; 16 is assumed for a device.
  int lanes32() const;
  /// Returns true if products of pairs of bf16 can be accumulated in f32 by one instruction.
  bool hasPairDots() const { return has(CpuIsa::Avx512Bf16) || has(CpuIsa::NeonBf16); }
  /// Returns true if one instruction multiplies two rows by two columns of eight bytes each, of bf16 or int8.
  bool hasPatchDots() const { return has(CpuIsa::NeonBf16); }
  bool hasF64() const { return isCpu() || device.hasF64; }
  bool operator==(const Target &) const = default;
};

constexpr CpuArch archOf(CpuIsa isa) { return isa >= CpuIsa::Neon ? CpuArch::AArch64 : CpuArch::X86_64; }
/// Returns true if a machine of level `all` runs code of level `part`; vector lengths of SVE are ignored.
constexpr bool includesIsa(CpuIsa all, CpuIsa part) {
  if (archOf(all) != archOf(part))
    return false;
  return all == CpuIsa::Sve ? part == CpuIsa::Sve || part == CpuIsa::Neon : all >= part;
}
constexpr bool isSve(CpuIsa isa) { return isa == CpuIsa::Sve || isa == CpuIsa::SveBf16; }
/// Returns true if code can be generated for SVE vectors of this length.
constexpr bool isSveLength(int32_t bits) { return bits == 128 || bits == 256 || bits == 512; }
/// Returns all levels of an architecture, ascending.
std::span<const CpuIsa> isasOf(CpuArch arch);
std::string_view nameOfIsa(CpuIsa isa);
/// Ignores case; returns nothing for an unknown name.
std::optional<CpuIsa> isaFromName(std::string_view name);
/// Returns a target of this level with typical cache sizes; `vectorBits` is only for SVE.
Target targetOfIsa(CpuIsa isa, int32_t vectorBits = 0);
/// Returns the level of the CPU and operating system, without any limit.
CpuIsa detectedIsa();
/// Limits host(), for the rest of the process, to the highest level of the machine that does not exceed `isa`. A level
/// of another architecture has no effect. Fails (`invalid_arguments`) after host() has been used, as in oneDNN;
/// thread-safe.
Result<void> setMaxCpuIsa(CpuIsa isa);

} // namespace quern

#endif // QUERN_DESC_TARGET_H
