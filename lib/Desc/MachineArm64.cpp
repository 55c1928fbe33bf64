//===- MachineArm64.cpp - Detection of an Arm machine's properties --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// User code cannot read the identification registers directly, so Linux is queried: the auxiliary vector for
// instructions, prctl() for the vector length, which Linux may have limited, and /sys for caches.
//
//===----------------------------------------------------------------------===//
#if defined(__aarch64__)

#include "Desc/Machine.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <sys/auxv.h>
#include <sys/prctl.h>

namespace quern {
namespace {

// Old versions of <asm/hwcap.h> lack the later bits.
constexpr unsigned long dotprod = 1ul << 20, sve = 1ul << 22;                                        // AT_HWCAP
constexpr unsigned long sveI8mm = 1ul << 9, sveBf16 = 1ul << 12, i8mm = 1ul << 13, bf16 = 1ul << 14; // AT_HWCAP2

constexpr int getVectorLength = 51; // PR_SVE_GET_VL
constexpr int lengthMask = 0xffff;  // bits with the length in bytes; higher bits are flags

std::string lineOf(const std::string &path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

} // namespace

CpuIsa machine::detectIsa() {
  const unsigned long words = getauxval(AT_HWCAP), more = getauxval(AT_HWCAP2);
  const auto has = [](unsigned long word, unsigned long bits) { return (word & bits) == bits; };
  const bool hasBf16 = has(words, dotprod) && has(more, i8mm | bf16);
  if (has(words, sve))
    return hasBf16 && has(more, sveI8mm | sveBf16) ? CpuIsa::SveBf16 : CpuIsa::Sve;
  return hasBf16 ? CpuIsa::NeonBf16 : has(words, dotprod) ? CpuIsa::NeonDotprod : CpuIsa::Neon;
}

int32_t machine::detectVectorBits() {
  const int length = prctl(getVectorLength);
  return length < 0 ? 0 : (length & lengthMask) * 8;
}

void machine::detectCaches(Target &target) {
  int32_t *sizes[] = {&target.l1Kib, &target.l2Kib, &target.l3Kib};
  for (int index = 0;; ++index) {
    const std::string folder = concat("/sys/devices/system/cpu/cpu0/cache/index", index);
    const std::string level = lineOf(folder + "/level"), size = lineOf(folder + "/size");
    if (level.empty())
      return;
    int kib = 0;
    if (lineOf(folder + "/type") != "Instruction" && level.size() == 1 && level[0] >= '1' && level[0] <= '3' &&
        std::sscanf(size.c_str(), "%dK", &kib) == 1 && kib > 0)
      *sizes[level[0] - '1'] = kib;
  }
}

} // namespace quern

#endif // __aarch64__
