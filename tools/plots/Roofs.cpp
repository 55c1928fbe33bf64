//===- Roofs.cpp - What this machine can do at most -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See Roofs.h.
//
//===----------------------------------------------------------------------===//
#include "Roofs.h"

#include "Desc/Target.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <immintrin.h>
#include <vector>

namespace quern {
namespace {

using Clock = std::chrono::steady_clock;

double nsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

constexpr int sums = 12, steps = 20000, rounds = 60;

__attribute__((target("avx512f"))) void multiply512(float *result) {
  const __m512 x = _mm512_set1_ps(result[0]);
  __m512 all[sums];
  for (__m512 &sum : all)
    sum = x;
  for (int i = 0; i < steps; ++i)
#pragma unroll
    for (__m512 &sum : all)
      sum = _mm512_fmadd_ps(x, sum, x);
  for (int i = 1; i < sums; ++i)
    all[0] = _mm512_add_ps(all[0], all[i]);
  _mm512_storeu_ps(result, all[0]);
}

__attribute__((target("avx2,fma"))) void multiply256(float *result) {
  const __m256 x = _mm256_set1_ps(result[0]);
  __m256 all[sums];
  for (__m256 &sum : all)
    sum = x;
  for (int i = 0; i < steps; ++i)
#pragma unroll
    for (__m256 &sum : all)
      sum = _mm256_fmadd_ps(x, sum, x);
  for (int i = 1; i < sums; ++i)
    all[0] = _mm256_add_ps(all[0], all[i]);
  _mm256_storeu_ps(result, all[0]);
}

void multiply128(float *result) {
  const __m128 x = _mm_set1_ps(result[0]);
  __m128 all[sums];
  for (__m128 &sum : all)
    sum = x;
  for (int i = 0; i < steps; ++i)
#pragma unroll
    for (__m128 &sum : all)
      sum = _mm_add_ps(_mm_mul_ps(x, sum), x);
  for (int i = 1; i < sums; ++i)
    all[0] = _mm_add_ps(all[0], all[i]);
  _mm_storeu_ps(result, all[0]);
}

} // namespace

double peakGflops() {
  const Target host = Target::host();
  const int lanes = host.isa >= CpuIsa::Avx512 ? 16 : host.isa >= CpuIsa::Avx2 ? 8 : 4;
  auto *multiply = lanes == 16 ? multiply512 : lanes == 8 ? multiply256 : multiply128;
  double best = 0;
  for (int round = 0; round < rounds; ++round) {
    float result[16] = {0.5f};
    const Clock::time_point start = Clock::now();
    multiply(result);
    best = std::max(best, 2.0 * lanes * sums * steps / nsSince(start));
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
