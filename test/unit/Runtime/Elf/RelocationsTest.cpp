//===- RelocationsTest.cpp - Relocated fields of instructions -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests each relocation of AArch64 at the limits of its range and beyond. A decoder that is independent of the code
// under test reads the target of the relocated instruction; other bits must not change. Every kernel that runs on x86
// tests the x86 relocations.
//
//===----------------------------------------------------------------------===//
#include "Elf/Relocations.h"

#include <gtest/gtest.h>

#include <cstring>
#include <elf.h>

namespace quern {
namespace {

/// Returns `count` bits of a word, from bit `from`, as a signed number.
int64_t signedBits(uint32_t word, int from, int count) {
  return static_cast<int64_t>(static_cast<uint64_t>(word) << (64 - from - count)) >> (64 - count);
}

/// An instruction whose offset in a page is `placeEnd`, and to which relocations are applied.
class Field {
public:
  explicit Field(uint32_t instruction, size_t placeEnd = 0) : place(page + placeEnd) {
    std::memcpy(place, &instruction, sizeof(instruction));
  }
  uint64_t address() const { return reinterpret_cast<uint64_t>(place); }
  bool apply(uint64_t type, uint64_t value) { return relocationsOf(EM_AARCH64)->apply(place, type, value); }
  uint32_t word() const {
    uint32_t bits;
    std::memcpy(&bits, place, sizeof(bits));
    return bits;
  }

private:
  alignas(4096) char page[8192] = {};
  char *place;
};

constexpr uint32_t adr = 0x10000003, adrp = 0x90000003, add = 0x91000063, everyImmediate = 0x60ffffe0;

TEST(Relocations, KnowsItsMachines) {
  EXPECT_EQ(relocationsOf(EM_X86_64)->machine, "x86-64");
  EXPECT_EQ(relocationsOf(EM_AARCH64)->machine, "AArch64");
  EXPECT_EQ(relocationsOf(EM_RISCV), nullptr);
  EXPECT_EQ(relocationsOf(EM_AARCH64)->width(R_AARCH64_NONE), 0u);
  EXPECT_EQ(relocationsOf(EM_AARCH64)->width(R_AARCH64_ABS64), 8u);
  EXPECT_EQ(relocationsOf(EM_AARCH64)->width(R_AARCH64_CALL26), 4u);
  EXPECT_FALSE(Field(adr).apply(R_AARCH64_TLSLE_ADD_TPREL_LO12, 0)) << "unknown";
}

TEST(Relocations, Addresses) {
  for (int64_t distance : {0l, 1l, -1l, 4099l, (1l << 20) - 1, -(1l << 20)}) {
    Field field(adr | everyImmediate, 20);
    EXPECT_TRUE(field.apply(R_AARCH64_ADR_PREL_LO21, field.address() + static_cast<uint64_t>(distance)));
    EXPECT_EQ(signedBits(field.word(), 5, 19) * 4 + (field.word() >> 29 & 3), distance);
    EXPECT_EQ(field.word() & ~everyImmediate, adr);
  }
  for (int64_t distance : {1l << 20, -(1l << 20) - 1})
    EXPECT_FALSE([&] {
      Field field(adr);
      return field.apply(R_AARCH64_ADR_PREL_LO21, field.address() + static_cast<uint64_t>(distance));
    }()) << distance;
}

TEST(Relocations, Pages) {
  constexpr int64_t far = 1l << 32;
  // From the last word of a page, so an offset of a few bytes may be on the next page.
  for (int64_t distance : {0l, 3l, 4l, -4092l, -4093l, far - 4096, -far}) {
    Field field(adrp | everyImmediate, 4092);
    const uint64_t value = field.address() + static_cast<uint64_t>(distance);
    EXPECT_TRUE(field.apply(R_AARCH64_ADR_PREL_PG_HI21, value)) << distance;
    const int64_t pages = signedBits(field.word(), 5, 19) * 4 + (field.word() >> 29 & 3);
    EXPECT_EQ((field.address() >> 12) + static_cast<uint64_t>(pages), value >> 12) << distance;
    EXPECT_EQ(field.word() & ~everyImmediate, adrp);
  }
  for (int64_t distance : {far + 4096, -far - 4096}) {
    Field field(adrp);
    EXPECT_FALSE(field.apply(R_AARCH64_ADR_PREL_PG_HI21, field.address() + static_cast<uint64_t>(distance)));
  }
}

TEST(Relocations, OffsetsInPages) {
  constexpr uint32_t mask = 0x003ffc00;
  const uint64_t types[] = {R_AARCH64_LDST8_ABS_LO12_NC, R_AARCH64_LDST16_ABS_LO12_NC, R_AARCH64_LDST32_ABS_LO12_NC,
                            R_AARCH64_LDST64_ABS_LO12_NC, R_AARCH64_LDST128_ABS_LO12_NC};
  for (int shift = 0; shift < 5; ++shift) {
    constexpr uint64_t value = 0x1234567ff0;
    Field field(add | mask);
    EXPECT_TRUE(field.apply(types[shift], value)) << shift;
    EXPECT_EQ((field.word() & mask) >> 10 << shift, value & 0xfff) << shift;
    EXPECT_EQ(field.word() & ~mask, add);
    if (shift > 0) {
      EXPECT_FALSE(field.apply(types[shift], value + 1)) << "the access is misaligned";
    }
  }
  Field field(add);
  EXPECT_TRUE(field.apply(R_AARCH64_ADD_ABS_LO12_NC, 0x5abc));
  EXPECT_EQ(field.word(), add | 0xabcu << 10);
}

TEST(Relocations, Branches) {
  struct Kind {
    uint64_t type;
    int from, bits;
  };
  for (Kind kind : {Kind{R_AARCH64_CALL26, 0, 26},
                    {R_AARCH64_JUMP26, 0, 26},
                    {R_AARCH64_CONDBR19, 5, 19},
                    {R_AARCH64_LD_PREL_LO19, 5, 19},
                    {R_AARCH64_TSTBR14, 5, 14}}) {
    const int64_t bound = 1l << (kind.bits + 1);
    const uint32_t mask = ((1u << kind.bits) - 1) << kind.from;
    for (int64_t distance : {0l, 4l, bound - 4, -bound}) {
      Field field(mask | 0x80000000);
      EXPECT_TRUE(field.apply(kind.type, field.address() + static_cast<uint64_t>(distance))) << distance;
      EXPECT_EQ(signedBits(field.word(), kind.from, kind.bits) * 4, distance);
      EXPECT_EQ(field.word() & ~mask, 0x80000000 & ~mask);
    }
    for (int64_t distance : {bound, -bound - 4, 2l}) {
      Field field(0);
      EXPECT_FALSE(field.apply(kind.type, field.address() + static_cast<uint64_t>(distance))) << distance;
    }
  }
}

TEST(Relocations, Data) {
  Field field(0, 4094); // a field may be unaligned
  EXPECT_TRUE(field.apply(R_AARCH64_PREL32, field.address() - 5));
  EXPECT_EQ(static_cast<int32_t>(field.word()), -5);
  EXPECT_FALSE(field.apply(R_AARCH64_PREL32, field.address() + (1ull << 31)));
  EXPECT_TRUE(field.apply(R_AARCH64_ABS32, 0xfffffffful));
  EXPECT_EQ(field.word(), 0xffffffffu);
  EXPECT_FALSE(field.apply(R_AARCH64_ABS32, 1ull << 32));
  EXPECT_TRUE(field.apply(R_AARCH64_ABS64, ~0ull));
  EXPECT_TRUE(field.apply(R_AARCH64_PREL64, field.address() + 7));
  EXPECT_EQ(field.word(), 7u);
}

} // namespace
} // namespace quern
