//===- Relocations.cpp - Applying the relocations of an object ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Elf/Relocations.h"

#include <cstring>
#include <elf.h>

namespace quern {
namespace {

constexpr bool fitsSigned(uint64_t bits, int width) {
  const int64_t value = static_cast<int64_t>(bits), bound = int64_t(1) << (width - 1);
  return value >= -bound && value < bound;
}

constexpr bool fitsUnsigned(uint64_t bits, int width) { return bits >> width == 0; }

bool putWord(char *place, uint64_t bits, bool fits) {
  const uint32_t narrow = static_cast<uint32_t>(bits);
  std::memcpy(place, &narrow, sizeof(narrow));
  return fits;
}

bool putLong(char *place, uint64_t bits) {
  std::memcpy(place, &bits, sizeof(bits));
  return true;
}

//===- x86-64 -------------------------------------------------------------===//

uint64_t widthX86(uint64_t type) {
  if (type == R_X86_64_NONE)
    return 0;
  return type == R_X86_64_64 || type == R_X86_64_PC64 ? 8 : 4;
}

bool applyX86(char *place, uint64_t type, uint64_t value) {
  const uint64_t distance = value - reinterpret_cast<uint64_t>(place);
  switch (type) {
  case R_X86_64_64:
    return putLong(place, value);
  case R_X86_64_PC64:
    return putLong(place, distance);
  case R_X86_64_PC32:
  case R_X86_64_PLT32:
    return putWord(place, distance, fitsSigned(distance, 32));
  case R_X86_64_32S:
    return putWord(place, value, fitsSigned(value, 32));
  case R_X86_64_32:
    return putWord(place, value, fitsUnsigned(value, 32));
  default:
    return false;
  }
}

//===- AArch64 ------------------------------------------------------------===//

uint64_t widthArm64(uint64_t type) {
  if (type == R_AARCH64_NONE)
    return 0;
  return type == R_AARCH64_ABS64 || type == R_AARCH64_PREL64 ? 8 : 4;
}

/// Replaces the bits of an instruction in `mask` by `bits`, shifted to the position of the lowest bit of the mask.
void putField(char *place, uint32_t mask, uint64_t bits) {
  uint32_t word;
  std::memcpy(&word, place, sizeof(word));
  word = (word & ~mask) | (static_cast<uint32_t>(bits << __builtin_ctz(mask)) & mask);
  std::memcpy(place, &word, sizeof(word));
}

/// Sets the 21-bit immediate of adr and adrp, whose lowest two bits are in a separate field.
bool putAddress(char *place, uint64_t bits) {
  putField(place, 0x60000000, bits & 3);
  putField(place, 0x00ffffe0, bits >> 2);
  return fitsSigned(bits, 21);
}

/// Sets a branch distance, which is encoded in instructions.
bool putBranch(char *place, uint32_t mask, uint64_t distance) {
  const int width = __builtin_popcount(mask);
  putField(place, mask, distance >> 2);
  return distance % 4 == 0 && fitsSigned(distance, width + 2);
}

/// Sets the offset of an address in its page, in units of the access size.
bool putPageOffset(char *place, uint64_t value, int shift) {
  const uint64_t offset = value & 0xfff;
  putField(place, 0x003ffc00, offset >> shift);
  return offset % (1ull << shift) == 0;
}

bool applyArm64(char *place, uint64_t type, uint64_t value) {
  const uint64_t here = reinterpret_cast<uint64_t>(place), distance = value - here;
  // The shift is arithmetic, because the target page may precede this one.
  const uint64_t pages = static_cast<uint64_t>(static_cast<int64_t>((value & ~0xfffull) - (here & ~0xfffull)) >> 12);
  switch (type) {
  case R_AARCH64_ABS64:
    return putLong(place, value);
  case R_AARCH64_PREL64:
    return putLong(place, distance);
  case R_AARCH64_ABS32:
    return putWord(place, value, fitsUnsigned(value, 32) || fitsSigned(value, 32));
  case R_AARCH64_PREL32:
    return putWord(place, distance, fitsSigned(distance, 32));
  case R_AARCH64_ADR_PREL_LO21:
    return putAddress(place, distance);
  case R_AARCH64_ADR_PREL_PG_HI21:
    return putAddress(place, pages);
  case R_AARCH64_ADD_ABS_LO12_NC:
  case R_AARCH64_LDST8_ABS_LO12_NC:
    return putPageOffset(place, value, 0);
  case R_AARCH64_LDST16_ABS_LO12_NC:
    return putPageOffset(place, value, 1);
  case R_AARCH64_LDST32_ABS_LO12_NC:
    return putPageOffset(place, value, 2);
  case R_AARCH64_LDST64_ABS_LO12_NC:
    return putPageOffset(place, value, 3);
  case R_AARCH64_LDST128_ABS_LO12_NC:
    return putPageOffset(place, value, 4);
  case R_AARCH64_LD_PREL_LO19:
  case R_AARCH64_CONDBR19:
    return putBranch(place, 0x00ffffe0, distance);
  case R_AARCH64_TSTBR14:
    return putBranch(place, 0x0007ffe0, distance);
  case R_AARCH64_JUMP26:
  case R_AARCH64_CALL26:
    return putBranch(place, 0x03ffffff, distance);
  default:
    return false;
  }
}

constexpr Relocations x86{"x86-64", widthX86, applyX86};
constexpr Relocations arm64{"AArch64", widthArm64, applyArm64};

} // namespace

const Relocations *relocationsOf(uint16_t machine) {
  return machine == EM_X86_64 ? &x86 : machine == EM_AARCH64 ? &arm64 : nullptr;
}

} // namespace quern
