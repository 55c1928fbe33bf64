//===- Target.cpp - Targets, and detection of the host --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The machine is queried once; the results are kept.
//
//===----------------------------------------------------------------------===//
#include "Desc/Target.h"

#include "Desc/Machine.h"
#include "Support/Forks.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <optional>

namespace quern {
namespace {

struct IsaName {
  std::string_view name;
  CpuIsa isa;
};

constexpr std::string_view nameOfUnknownIsa = "undef";

/// The first name of each level is the printed one.
constexpr IsaName isaNames[] = {
    {"sse42", CpuIsa::Sse42},
    {"avx2", CpuIsa::Avx2},
    {"avx512_core", CpuIsa::Avx512},
    {"avx512_core_vnni", CpuIsa::Avx512Vnni},
    {"avx512_core_bf16", CpuIsa::Avx512Bf16},
    {"avx512_core_fp16", CpuIsa::Avx512Fp16},
    {"avx512_core_amx", CpuIsa::Avx512Amx},
    {"neon", CpuIsa::Neon},
    {"neon_dotprod", CpuIsa::NeonDotprod},
    {"neon_bf16", CpuIsa::NeonBf16},
    {"sve", CpuIsa::Sve},
    {"sve_bf16", CpuIsa::SveBf16},
    // oneDNN's other names, each for the highest level that it includes.
    {"sse41", CpuIsa::Sse42},
    {"avx", CpuIsa::Sse42},
    {"avx2_vnni", CpuIsa::Avx2},
    {"avx2_vnni_2", CpuIsa::Avx2},
    {"avx10_1_512", CpuIsa::Avx512Fp16},
    {"avx10_2", CpuIsa::Avx512Fp16},
    {"avx10_2_512", CpuIsa::Avx512Fp16},
    {"avx512_core_amx_fp16", CpuIsa::Avx512Amx},
    {"avx10_1_512_amx", CpuIsa::Avx512Amx},
    {"avx10_1_512_amx_fp16", CpuIsa::Avx512Amx},
    {"avx10_2_amx_2", CpuIsa::Avx512Amx},
    {"avx10_2_512_amx_2", CpuIsa::Avx512Amx},
    {"default", machine::arch == CpuArch::X86_64 ? CpuIsa::Avx512Amx : CpuIsa::SveBf16},
    {"all", machine::arch == CpuArch::X86_64 ? CpuIsa::Avx512Amx : CpuIsa::SveBf16},
};

constexpr CpuIsa x86Isas[] = {CpuIsa::Sse42,      CpuIsa::Avx2,       CpuIsa::Avx512,   CpuIsa::Avx512Vnni,
                              CpuIsa::Avx512Bf16, CpuIsa::Avx512Fp16, CpuIsa::Avx512Amx};
constexpr CpuIsa armIsas[] = {CpuIsa::Neon, CpuIsa::NeonDotprod, CpuIsa::NeonBf16, CpuIsa::Sve, CpuIsa::SveBf16};

/// Limit of host(), which may be changed until host() is used.
struct HostCap {
  ForkMutex mutex;
  std::optional<CpuIsa> set;
  bool isUsed = false;
};

HostCap &hostCap() {
  static constinit HostCap cap;
  return cap;
}

/// Returns the highest level of the machine that does not exceed the limit. A limit of another architecture is ignored.
CpuIsa cappedIsa(std::optional<CpuIsa> limit, int32_t vectorBits) {
  const CpuIsa detected = detectedIsa();
  CpuIsa best = isasOf(archOf(detected)).front();
  for (CpuIsa isa : isasOf(archOf(detected)))
    if (includesIsa(detected, isa) && (!limit || archOf(*limit) != archOf(isa) || isa <= *limit) &&
        (!isSve(isa) || isSveLength(vectorBits)))
      best = isa;
  return best;
}

Target makeHost() {
  HostCap &cap = hostCap();
  std::lock_guard lock(cap.mutex);
  cap.isUsed = true;
  std::optional<CpuIsa> limit = cap.set;
  if (const char *variable = limit ? nullptr : secure_getenv("QUERN_MAX_CPU_ISA"))
    limit = isaFromName(variable);
  const int32_t vectorBits = machine::detectVectorBits();
  const CpuIsa isa = cappedIsa(limit, vectorBits);
  Target target = targetOfIsa(isa, isSve(isa) ? vectorBits : 0);
  machine::detectCaches(target);
  return target;
}

} // namespace

std::string_view nameOfIsa(CpuIsa isa) {
  for (const IsaName &entry : isaNames)
    if (entry.isa == isa)
      return entry.name;
  return nameOfUnknownIsa;
}

std::optional<CpuIsa> isaFromName(std::string_view name) {
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  for (const IsaName &entry : isaNames)
    if (std::equal(name.begin(), name.end(), entry.name.begin(), entry.name.end(),
                   [&](char a, char b) { return lower(a) == b; }))
      return entry.isa;
  return std::nullopt;
}

std::span<const CpuIsa> isasOf(CpuArch arch) {
  return arch == CpuArch::X86_64 ? std::span<const CpuIsa>(x86Isas) : std::span<const CpuIsa>(armIsas);
}

Target targetOfIsa(CpuIsa isa, int32_t vectorBits) {
  Target target{isa};
  target.vectorBits = vectorBits;
  if (archOf(isa) == CpuArch::AArch64) // as in Neoverse cores
    target.l1Kib = 64;
  return target;
}

CpuIsa detectedIsa() {
  return immortal([] { return new const CpuIsa(machine::detectIsa()); });
}

bool Target::has(CpuIsa level) const { return isCpu() && includesIsa(isa, level); }
bool Target::runs(const Target &code) const {
  if (!isCpu() || !code.isCpu())
    return *this == code;
  return includesIsa(isa, code.isa) && (!isSve(code.isa) || vectorBits == code.vectorBits);
}
bool Target::isX86() const { return isCpu() && archOf(isa) == CpuArch::X86_64; }
bool Target::isAArch64() const { return isCpu() && archOf(isa) == CpuArch::AArch64; }

int Target::lanes32() const {
  constexpr int laneBits = 32, widest = 16;
  if (!isCpu())
    return widest;
  return isSve(isa) ? vectorBits / laneBits : has(CpuIsa::Avx512) ? widest : has(CpuIsa::Avx2) ? 8 : 4;
}

const Target &Target::host() {
  return immortal([] { return new const Target(makeHost()); });
}

Result<void> setMaxCpuIsa(CpuIsa isa) {
  if (nameOfIsa(isa) == nameOfUnknownIsa)
    return invalidArguments("instruction set ", static_cast<int32_t>(isa), " is unknown");
  HostCap &cap = hostCap();
  std::lock_guard lock(cap.mutex);
  if (cap.isUsed)
    return invalidArguments("the instruction set cannot be capped to ", nameOfIsa(isa), ": it is in use already");
  if (archOf(isa) == machine::arch) // otherwise an earlier limit and the variable remain in effect
    cap.set = isa;
  return {};
}

} // namespace quern
