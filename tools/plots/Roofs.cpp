//===- Roofs.cpp - Peak and bandwidth of this machine ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Roofs.h"

#include "Desc/Target.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

namespace quern {
namespace {

using Clock = std::chrono::steady_clock;

double nsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

constexpr int sums = 12, steps = 20000, rounds = 60;

template <int bytes> struct Vectors {
  typedef float Type __attribute__((vector_size(bytes)));
};

/// Computes enough independent sums to hide the latency of a multiply-add.
template <int bytes> [[gnu::always_inline]] inline void multiply(float *result) {
  using Vector = typename Vectors<bytes>::Type;
  const Vector x = Vector{} + result[0];
  Vector all[sums];
  for (Vector &sum : all)
    sum = x;
  for (int i = 0; i < steps; ++i)
#pragma unroll
    for (Vector &sum : all)
      sum = x * sum + x; // one instruction if the target has it
  for (int i = 1; i < sums; ++i)
    all[0] += all[i];
  std::memcpy(result, &all[0], bytes);
}

void multiply128(float *result) { multiply<16>(result); }
#ifdef __x86_64__
__attribute__((target("avx512f"))) void multiply512(float *result) { multiply<64>(result); }
__attribute__((target("avx2,fma"))) void multiply256(float *result) { multiply<32>(result); }
#endif

struct Widest {
  int lanes = 4;
  void (*multiply)(float *) = multiply128;
};

Widest widestHere() {
#ifdef __x86_64__
  const Target host = Target::host();
  if (host.has(CpuIsa::Avx512))
    return {16, multiply512};
  if (host.has(CpuIsa::Avx2))
    return {8, multiply256};
#endif
  return {};
}

} // namespace

double peakGflops() {
  const Widest widest = widestHere();
  double best = 0;
  for (int round = 0; round < rounds; ++round) {
    float result[16] = {0.5f};
    const Clock::time_point start = Clock::now();
    widest.multiply(result);
    best = std::max(best, 2.0 * widest.lanes * sums * steps / nsSince(start));
    asm volatile("" : : "r"(result) : "memory");
  }
  return best;
}

double copyGbPerS(int64_t bytes) {
  const size_t half = static_cast<size_t>(std::max<int64_t>(bytes / 2, 64));
  std::vector<char> from(half, 1), to(half, 2);
  const int64_t calls = std::max<int64_t>(1, (1 << 20) / static_cast<int64_t>(half));
  double best = 0;
  const Clock::time_point begin = Clock::now();
  for (int round = 0; round < rounds && (round < 3 || nsSince(begin) < 2e8); ++round) {
    const Clock::time_point start = Clock::now();
    for (int64_t call = 0; call < calls; ++call) {
      std::memcpy(to.data(), from.data(), half);
      asm volatile("" : : "r"(to.data()) : "memory");
    }
    best = std::max(best, 2.0 * static_cast<double>(half) * static_cast<double>(calls) / nsSince(start));
  }
  return best;
}

} // namespace quern
