//===- AmxEmulator.cpp - AMX on machines without it -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// All AMX instructions have a three-byte VEX prefix. The prefix field `pp` and the opcode select the instruction:
//
//           no prefix                66            F3            F2
//   49      ldtilecfg, tilerelease   sttilecfg     -             tilezero
//   4B      -                        tileloaddt1   tilestored    tileloadd
//   5C      -                        -             tdpbf16ps     tdpfp16ps
//   5E      tdpbuud                  tdpbusd       tdpbsud       tdpbssd
//
// A machine with AMX also has AVX-512 FP16, of which LLVM uses vmovw (a word between memory and a vector register) for
// words of any type, so vmovw is emulated as well.
//
// Operations follow Intel's Software Developer's Manual, volume 2.
//
//===----------------------------------------------------------------------===//
#include "AmxEmulator.h"

#include <atomic>
#include <cmath>
#include <cpuid.h>
#include <csignal>
#include <cstring>
#include <optional>
#include <ucontext.h>

namespace {

constexpr int registerCount = 8, maxRows = 16, maxBytes = 64;

struct Matrix {
  int rows = 0, bytes = 0; ///< `bytes`: bytes per row
  uint8_t data[maxRows][maxBytes] = {};
};

struct State {
  bool isConfigured = false;
  Matrix matrices[registerCount];
};

thread_local State state;
std::atomic<uint64_t> emulated{0};

enum Prefix { None, P66, PF3, PF2 };

struct Instruction {
  Prefix prefix;
  int opcode, length;
  bool isMemory;
  int reg, rm, vvvv;
  uint64_t base = 0;  ///< memory address, including the displacement
  uint64_t index = 0; ///< scaled
};

uint64_t registerOf(const ucontext_t &context, int number) {
  constexpr int order[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                             REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  return static_cast<uint64_t>(context.uc_mcontext.gregs[order[number]]);
}

/// Reads the displacement and registers of a memory operand after the ModRM byte, which is at `at`. An 8-bit
/// displacement is multiplied by `scale`.
void decodeMemory(const ucontext_t &context, const uint8_t *code, int at, int scale, Instruction &own) {
  bool x = !(code[1] & 0x40), b = !(code[1] & 0x20);
  int mod = code[at++] >> 6, base = own.rm;
  if (base == 4) {
    uint8_t sib = code[at++];
    int index = (sib >> 3 & 7) | (x ? 8 : 0);
    base = sib & 7;
    if (index != 4)
      own.index = registerOf(context, index) << (sib >> 6);
  }
  int32_t displacement = 0;
  bool isAbsolute = base == 5 && mod == 0; // no base with a SIB byte, the instruction pointer without one
  if (mod == 1) {
    displacement = static_cast<int8_t>(code[at]) * scale;
    at += 1;
  } else if (mod == 2 || isAbsolute) {
    std::memcpy(&displacement, code + at, 4);
    at += 4;
  }
  own.length = at;
  own.base = static_cast<uint64_t>(static_cast<int64_t>(displacement));
  if (!isAbsolute)
    own.base += registerOf(context, base | (b ? 8 : 0));
  else if (own.rm == 5)
    own.base += reinterpret_cast<uint64_t>(code) + static_cast<uint64_t>(at);
}

/// Returns nothing if the code at the instruction pointer does not have the form of AMX instructions.
std::optional<Instruction> decode(const ucontext_t &context) {
  const auto *code = reinterpret_cast<const uint8_t *>(context.uc_mcontext.gregs[REG_RIP]);
  bool isMap0F38 = code[0] == 0xc4 && (code[1] & 0x1f) == 2, isW0L0 = !(code[2] & 0x84);
  if (!isMap0F38 || !isW0L0)
    return std::nullopt;
  int mod = code[4] >> 6;
  Instruction own{
      static_cast<Prefix>(code[2] & 3), code[3], 5, mod != 3, code[4] >> 3 & 7, code[4] & 7, ~(code[2] >> 3) & 15};
  if (own.isMemory)
    decodeMemory(context, code, 4, 1, own);
  return own;
}

bool configure(const uint8_t *from) {
  State next;
  next.isConfigured = true;
  for (int i = 0; i < registerCount; ++i) {
    uint16_t bytes = 0;
    std::memcpy(&bytes, from + 16 + 2 * i, 2);
    next.matrices[i].bytes = bytes;
    next.matrices[i].rows = from[48 + i];
    if (bytes > maxBytes || from[48 + i] > maxRows)
      return false;
  }
  for (int reserved = 2; reserved < 16; ++reserved)
    if (from[reserved])
      return false;
  // Palette 0, which releases the registers, and interrupted loads are not emulated: the kernels do not use them.
  if (from[0] != 1 || from[1] != 0)
    return false;
  state = next;
  return true;
}

void load(Matrix &to, uint64_t base, uint64_t stride) {
  std::memset(to.data, 0, sizeof to.data);
  for (int row = 0; row < to.rows; ++row)
    std::memcpy(to.data[row], reinterpret_cast<const void *>(base + static_cast<uint64_t>(row) * stride),
                static_cast<size_t>(to.bytes));
}

void store(const Matrix &from, uint64_t base, uint64_t stride) {
  for (int row = 0; row < from.rows; ++row)
    std::memcpy(reinterpret_cast<void *>(base + static_cast<uint64_t>(row) * stride), from.data[row],
                static_cast<size_t>(from.bytes));
}

template <typename T> T get(const Matrix &matrix, int row, int column) {
  T value;
  std::memcpy(&value, matrix.data[row] + column * static_cast<int>(sizeof(T)), sizeof(T));
  return value;
}

float flushed(float value) { return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value; }

float ofBf16(uint16_t bits) {
  uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return flushed(value);
}

template <typename T> void put(Matrix &matrix, int row, int column, T value) {
  std::memcpy(matrix.data[row] + column * 4, &value, 4);
}

/// Products at even and odd positions are summed separately, starting with zero.
void multiplyBf16(Matrix &sums, const Matrix &a, const Matrix &b) {
  for (int m = 0; m < sums.rows; ++m)
    for (int n = 0; n < sums.bytes / 4; ++n) {
      float halves[2] = {0, 0};
      for (int k = 0; k < a.bytes / 4; ++k)
        for (int i = 0; i < 2; ++i)
          halves[i] = flushed(
              std::fma(ofBf16(get<uint16_t>(a, m, 2 * k + i)), ofBf16(get<uint16_t>(b, k, 2 * n + i)), halves[i]));
      put(sums, m, n, flushed(flushed(get<float>(sums, m, n)) + flushed(halves[0] + halves[1])));
    }
}

template <typename A, typename B> void multiplyBytes(Matrix &sums, const Matrix &a, const Matrix &b) {
  for (int m = 0; m < sums.rows; ++m)
    for (int n = 0; n < sums.bytes / 4; ++n) {
      auto sum = get<uint32_t>(sums, m, n); // wraps around
      for (int k = 0; k < a.bytes; ++k)
        sum += static_cast<uint32_t>(get<A>(a, m, k) * get<B>(b, k / 4, 4 * n + k % 4));
      put(sums, m, n, sum);
    }
}

bool multiply(const Instruction &own) {
  if (own.reg >= registerCount || own.vvvv >= registerCount || own.reg == own.rm || own.reg == own.vvvv ||
      own.rm == own.vvvv)
    return false;
  Matrix &sums = state.matrices[own.reg];
  const Matrix &a = state.matrices[own.rm], &b = state.matrices[own.vvvv];
  bool fits = sums.bytes % 4 == 0 && a.bytes % 4 == 0 && b.bytes % 4 == 0 && a.rows == sums.rows &&
              b.bytes == sums.bytes && a.bytes / 4 == b.rows && sums.rows && a.bytes && b.bytes;
  if (!fits)
    return false;
  if (own.opcode == 0x5c && own.prefix == PF3)
    multiplyBf16(sums, a, b);
  else if (own.opcode == 0x5e && own.prefix == PF2)
    multiplyBytes<int8_t, int8_t>(sums, a, b);
  else if (own.opcode == 0x5e && own.prefix == PF3)
    multiplyBytes<int8_t, uint8_t>(sums, a, b);
  else if (own.opcode == 0x5e && own.prefix == P66)
    multiplyBytes<uint8_t, int8_t>(sums, a, b);
  else if (own.opcode == 0x5e)
    multiplyBytes<uint8_t, uint8_t>(sums, a, b);
  else
    return false;
  return true;
}

bool execute(const Instruction &own) {
  if (own.opcode == 0x49 && own.prefix == None && own.isMemory && own.reg == 0)
    return configure(reinterpret_cast<const uint8_t *>(own.base + own.index));
  if (own.opcode == 0x49 && own.prefix == None && !own.isMemory) {
    state = {};
    return own.reg == 0 && own.rm == 0;
  }
  if (!state.isConfigured)
    return false;
  if (own.opcode == 0x5c || own.opcode == 0x5e)
    return !own.isMemory && multiply(own);
  Matrix &matrix = state.matrices[own.reg];
  if (matrix.rows == 0 || matrix.bytes == 0)
    return false;
  if (own.opcode == 0x49 && own.prefix == PF2 && !own.isMemory && own.rm == 0)
    std::memset(matrix.data, 0, sizeof matrix.data);
  else if (own.opcode == 0x4b && own.isMemory && own.rm == 4 && (own.prefix == PF2 || own.prefix == P66))
    load(matrix, own.base, own.index);
  else if (own.opcode == 0x4b && own.isMemory && own.rm == 4 && own.prefix == PF3)
    store(matrix, own.base, own.index);
  else
    return false;
  return true;
}

/// The lowest word of vector register `number`; writing it clears the rest of the register.
struct VectorWord {
  ucontext_t &context;
  int number;
  static constexpr int halves = 2, upper = 6,
                       sixteen = 7; ///< components of the saved state: bits 128 to 255, 256 to 511, registers from 16

  uint8_t *saved() const { return reinterpret_cast<uint8_t *>(context.uc_mcontext.fpregs); }
  uint64_t &present() const { return *reinterpret_cast<uint64_t *>(saved() + 512); }
  uint8_t *component(int which) const {
    uint32_t a = 0, offset = 0, c = 0, d = 0;
    __cpuid_count(0xd, which, a, offset, c, d);
    if (!(present() >> which & 1)) // the component is zero and was not saved
      std::memset(saved() + offset, 0, a);
    present() |= uint64_t(1) << which;
    return saved() + offset;
  }
  uint16_t read() const {
    uint16_t value = 0;
    const uint8_t *from = number < 16 ? saved() + 160 + 16 * number : component(sixteen) + 64 * (number - 16);
    std::memcpy(&value, from, 2);
    return value;
  }
  void write(uint16_t value) const {
    uint8_t *to = number < 16 ? saved() + 160 + 16 * number : component(sixteen) + 64 * (number - 16);
    std::memset(to, 0, number < 16 ? 16 : 64);
    std::memcpy(to, &value, 2);
    present() |= 2; // the component with the low 128 bits of registers 0 to 15
    if (number < 16) {
      std::memset(component(halves) + 16 * number, 0, 16);
      std::memset(component(upper) + 32 * number, 0, 32);
    }
  }
};

bool moveWord(ucontext_t &context) {
  const auto *code = reinterpret_cast<const uint8_t *>(context.uc_mcontext.gregs[REG_RIP]);
  bool isVmovw = code[0] == 0x62 && (code[1] & 7) == 5 && (code[2] & 3) == 1 && (code[4] == 0x6e || code[4] == 0x7e) &&
                 (code[5] >> 6) != 3;
  if (!isVmovw)
    return false;
  VectorWord word{context, (code[5] >> 3 & 7) | (code[1] & 0x80 ? 0 : 8) | (code[1] & 0x10 ? 0 : 16)};
  Instruction own{P66, code[4], 0, true, 0, code[5] & 7, 0};
  decodeMemory(context, code, 5, 2, own);
  auto *memory = reinterpret_cast<uint16_t *>(own.base + own.index);
  uint16_t value = 0;
  if (own.opcode == 0x6e) {
    std::memcpy(&value, memory, 2);
    word.write(value);
  } else {
    value = word.read();
    std::memcpy(memory, &value, 2);
  }
  context.uc_mcontext.gregs[REG_RIP] += own.length;
  return true;
}

void handle(int, siginfo_t *, void *where) {
  auto &context = *static_cast<ucontext_t *>(where);
  if (moveWord(context))
    return;
  std::optional<Instruction> own = decode(context);
  if (own && execute(*own)) {
    context.uc_mcontext.gregs[REG_RIP] += own->length;
    emulated.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  std::signal(SIGILL, SIG_DFL); // the instruction is executed again and terminates the process
}

} // namespace

void quern::test::emulateAmx() {
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  sigaction(SIGILL, &action, nullptr);
}

uint64_t quern::test::emulatedAmxInstructions() { return emulated.load(std::memory_order_relaxed); }

bool quern::test::isAmxReleased() { return !state.isConfigured; }
