//===- MachineX86.cpp - Detection of an x86 machine's properties ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An instruction set counts only if the operating system saves its registers (XGETBV); for AMX, Linux must also permit
// the process to use tile data.
//
//===----------------------------------------------------------------------===//
#if defined(__x86_64__)

#include "Desc/Machine.h"

#include <algorithm>
#include <cpuid.h>
#include <initializer_list>
#include <sys/syscall.h>
#include <unistd.h>

namespace quern {
namespace {

struct CpuidWords {
  uint32_t a = 0, b = 0, c = 0, d = 0;
};

CpuidWords cpuid(uint32_t leaf, uint32_t subleaf) {
  CpuidWords words;
  __get_cpuid_count(leaf, subleaf, &words.a, &words.b, &words.c, &words.d); // zeros if the leaf does not exist
  return words;
}

/// Returns the register state that the operating system saves (XCR0); 0 without XSAVE.
uint64_t savedState() {
  constexpr uint32_t osxsave = 1u << 27;
  if (!(cpuid(1, 0).c & osxsave))
    return 0;
  uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<uint64_t>(high) << 32 | low;
}

/// Requests permission from Linux to use tile data in all threads of the process. Returns false if it is denied or
/// Linux does not implement this request.
bool kernelGivesTiles() {
  constexpr long requestPermission = 0x1023, tileData = 18; // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, requestPermission, tileData) == 0;
}

} // namespace

CpuIsa machine::detectIsa() {
  auto has = [](uint32_t word, std::initializer_list<int> bits) {
    return std::all_of(bits.begin(), bits.end(), [&](int bit) { return word >> bit & 1; });
  };
  CpuidWords one = cpuid(1, 0), seven = cpuid(7, 0), sevenOne = cpuid(7, 1);
  uint64_t state = savedState();
  constexpr uint64_t avxState = 0x6, avx512State = 0xe6, amxState = 0x60000;
  // FMA, MOVBE, AVX, F16C; BMI1, AVX2, BMI2; LZCNT.
  bool avx2 = (state & avxState) == avxState && has(one.c, {12, 22, 28, 29}) && has(seven.b, {3, 5, 8}) &&
              has(cpuid(0x80000001, 0).c, {5});
  if (!avx2)
    return CpuIsa::Sse42;
  // F, DQ, CD, BW, VL.
  if ((state & avx512State) != avx512State || !has(seven.b, {16, 17, 28, 30, 31}))
    return CpuIsa::Avx2;
  if (!has(seven.c, {11}))
    return CpuIsa::Avx512;
  if (!has(sevenOne.a, {5}))
    return CpuIsa::Avx512Vnni;
  if (!has(seven.d, {23}))
    return CpuIsa::Avx512Bf16;
  // AMX-BF16, AMX-TILE, AMX-INT8.
  if ((state & amxState) != amxState || !has(seven.d, {22, 24, 25}) || !kernelGivesTiles())
    return CpuIsa::Avx512Fp16;
  return CpuIsa::Avx512Amx;
}

void machine::detectCaches(Target &target) {
  bool isAmd = cpuid(0x80000001, 0).c >> 22 & 1; // topology extensions: leaf 0x8000001d has the form of Intel's leaf 4
  uint32_t leaf = isAmd ? 0x8000001d : 4;
  int32_t *sizes[] = {&target.l1Kib, &target.l2Kib, &target.l3Kib};
  for (uint32_t index = 0; index < 16; ++index) {
    CpuidWords words = cpuid(leaf, index);
    uint32_t type = words.a & 31, level = words.a >> 5 & 7;
    if (type == 0)
      break;
    if (type == 2 || level < 1 || level > 3) // 2: instruction cache
      continue;
    uint64_t ways = (words.b >> 22) + 1, partitions = (words.b >> 12 & 1023) + 1, line = (words.b & 4095) + 1,
             sets = uint64_t(words.c) + 1;
    uint64_t kib = ways * partitions * line * sets / 1024;
    if (kib > 0 && kib <= INT32_MAX)
      *sizes[level - 1] = static_cast<int32_t>(kib);
  }
}

int32_t machine::detectVectorBits() { return 0; }

} // namespace quern

#endif // __x86_64__
