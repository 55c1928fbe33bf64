//===- ExpandNarrowFloatsTest.cpp - Conversions of narrow floats ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Widening over all values; narrowing over strided bit patterns and over values at, just below and just above every midpoint, where a
// double rounding or a wrong tie would show. The oracle is the exact integer code of Support/NarrowFloat.h.
//
//===----------------------------------------------------------------------===//
#include "Support/NarrowFloat.h"
#include "VectorKernel.h"

#include <bit>
#include <cmath>

namespace quern {
namespace {

const NarrowFormat &formatOf(const std::string &type) {
  return type == "bf16" ? bf16Format : type == "f16" ? f16Format : type == "f8E5M2" ? f8E5M2Format : f8E4M3Format;
}

bool isNarrowNan(uint32_t bits, const NarrowFormat &format) { return std::isnan(decodeNarrow(bits, format)); }

/// Calls `visit` with a name of a narrow type and a zero of the integer that holds it.
template <typename Visit> void forEachNarrow(Visit visit) {
  for (const char *name : {"bf16", "f16"})
    visit(name, uint16_t(0));
  for (const char *name : {"f8E5M2", "f8E4M3FN"})
    visit(name, uint8_t(0));
}

struct Level {
  const char *target;
  int lanes;
};

constexpr Level levels[] = {{"avx512_core_bf16", 16}, {"avx512_core", 8}, {"avx2", 8}, {"sse42", 4}};

template <typename Wide, typename Bits> void checkWidening(const Level &level, const std::string &narrow, const std::string &wide) {
  std::string lanes = std::to_string(level.lanes);
  VectorKernel kernel({level.target, "", "%y = arith.extf %x : vector<" + lanes + "x" + narrow + "> to vector<" + lanes + "x" + wide + ">",
                       narrow, wide, level.lanes});
  ASSERT_TRUE(kernel.ok());
  std::vector<Bits> x(VectorKernel::chunk);
  std::vector<Wide> y;
  for (uint32_t first = 0; first <= std::numeric_limits<Bits>::max(); first += VectorKernel::chunk) {
    for (uint32_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<Bits>(first + i);
    kernel.run(x, y);
    for (size_t i = 0; i < x.size(); ++i) {
      double expected = decodeNarrow(x[i], formatOf(narrow));
      if (std::isnan(expected))
        ASSERT_TRUE(std::isnan(y[i])) << level.target << ' ' << narrow << ' ' << uint32_t(x[i]);
      else
        ASSERT_TRUE(y[i] == expected && std::signbit(y[i]) == std::signbit(expected))
            << level.target << ' ' << narrow << ' ' << uint32_t(x[i]) << ": " << y[i];
    }
  }
}

/// Every midpoint between neighbours of the format, with the two nearest values of the wide type on either side, then strided patterns.
template <typename Wide, typename Bits> std::vector<Wide> narrowingInputs(const NarrowFormat &format, Bits stride, size_t strided) {
  std::vector<Wide> inputs;
  uint32_t last = format.isIeee ? format.infinity() : format.largest();
  for (uint32_t bits = 0; bits <= last; ++bits) {
    double low = decodeNarrow(bits, format), high = bits == last ? low : decodeNarrow(bits + 1, format);
    if (std::isinf(high))
      high = std::ldexp(1.0, format.bias() + 1);
    auto middle = static_cast<Wide>(std::isinf(low) ? low : (low + high) / 2);
    for (Wide value : {middle, std::nextafter(middle, Wide(0)), std::nextafter(middle, Wide(INFINITY)), static_cast<Wide>(low)})
      inputs.push_back(bits % 3 ? value : -value);
  }
  Bits bits = 12345;
  for (size_t i = 0; i < strided; ++i, bits += stride)
    inputs.push_back(std::bit_cast<Wide>(bits));
  inputs.resize((inputs.size() + VectorKernel::chunk - 1) / VectorKernel::chunk * VectorKernel::chunk);
  return inputs;
}

/// A conversion of `lanes` lanes; of more than a register of f32 has as two conversions side by side.
std::string narrowing(int lanes, const std::string &wide, const std::string &narrow) {
  auto type = [](int count, const std::string &element) { return "vector<" + std::to_string(count) + "x" + element + ">"; };
  auto convert = [&](int count) { return " : " + type(count, wide) + " to " + type(count, narrow) + "\n"; };
  if (lanes <= 16)
    return "%y = arith.truncf %x" + convert(lanes);
  int half = lanes / 2;
  auto indices = [](int from, int to) {
    std::string list = std::to_string(from);
    for (int i = from + 1; i < to; ++i)
      list += ", " + std::to_string(i);
    return "[" + list + "] : ";
  };
  std::string whole = type(lanes, wide) + ", " + type(lanes, wide) + "\n", part = type(half, narrow);
  return "%a = vector.shuffle %x, %x " + indices(0, half) + whole + "%b = vector.shuffle %x, %x " + indices(half, lanes) + whole +
         "%c = arith.truncf %a" + convert(half) + "%d = arith.truncf %b" + convert(half) + "%y = vector.shuffle %c, %d " +
         indices(0, lanes) + part + ", " + part;
}

template <typename Bits, typename Wide>
void checkNarrowing(const Level &level, const std::string &wide, const std::string &narrow, const std::vector<Wide> &inputs) {
  VectorKernel kernel({level.target, "", narrowing(level.lanes, wide, narrow), wide, narrow, level.lanes});
  ASSERT_TRUE(kernel.ok());
  const NarrowFormat &format = formatOf(narrow);
  std::vector<Bits> y;
  for (size_t first = 0; first < inputs.size(); first += VectorKernel::chunk) {
    std::vector<Wide> x(inputs.begin() + static_cast<ptrdiff_t>(first),
                        inputs.begin() + static_cast<ptrdiff_t>(first + VectorKernel::chunk));
    kernel.run(x, y);
    for (size_t i = 0; i < x.size(); ++i) {
      auto expected = static_cast<Bits>(encodeNarrow(x[i], format));
      if (std::isnan(x[i]))
        ASSERT_TRUE(isNarrowNan(y[i], format)) << level.target << ' ' << narrow;
      else
        ASSERT_EQ(y[i], expected) << level.target << ' ' << wide << " to " << narrow << ": " << x[i];
    }
  }
}

TEST(ExpandNarrowFloats, widensEveryValueExactly) {
  forEachNarrow([](const char *narrow, auto zero) {
    for (const Level &level : levels)
      if (canRun(level.target)) {
        checkWidening<float, decltype(zero)>(level, narrow, "f32");
        checkWidening<double, decltype(zero)>(level, narrow, "f64");
      }
  });
}

TEST(ExpandNarrowFloats, narrowsF32WithOneRounding) {
  forEachNarrow([](const char *narrow, auto zero) {
    auto inputs = narrowingInputs<float>(formatOf(narrow), uint32_t(4099), 1u << 20);
    for (const Level &level : levels)
      if (canRun(level.target))
        checkNarrowing<decltype(zero)>(level, "f32", narrow, inputs);
  });
}

TEST(ExpandNarrowFloats, narrowsPairsWithOneRounding) {
  if (canRun("avx512_core_bf16"))
    checkNarrowing<uint16_t>({"avx512_core_bf16", 32}, "f32", "bf16", narrowingInputs<float>(bf16Format, uint32_t(4099), 1u << 20));
}

/// What a lane becomes must not depend on its neighbours, which may be lanes that do not exist: a denormal sends a vector another way.
TEST(ExpandNarrowFloats, narrowsNanToTheSameBitsBesideADenormal) {
  if (!canRun("avx512_core_bf16"))
    return;
  for (int lanes : {16, 32}) {
    VectorKernel kernel({"avx512_core_bf16", "", narrowing(lanes, "f32", "bf16"), "f32", "bf16", lanes});
    ASSERT_TRUE(kernel.ok());
    std::vector<float> x(VectorKernel::chunk);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = std::bit_cast<float>((i & 1 ? 0x7f800001u : 0xff800001u) + static_cast<uint32_t>(i * 123457 % 0x7fffff));
    std::vector<uint16_t> alone, beside;
    kernel.run(x, alone);
    for (size_t i = 0; i < x.size(); i += 16)
      x[i] = 1e-40f;
    kernel.run(x, beside);
    for (size_t i = 0; i < x.size(); ++i)
      if (i % 16)
        ASSERT_EQ(alone[i], beside[i]) << std::hex << std::bit_cast<uint32_t>(x[i]);
  }
}

TEST(ExpandNarrowFloats, narrowsF64WithOneRounding) {
  forEachNarrow([](const char *narrow, auto zero) {
    auto inputs = narrowingInputs<double>(formatOf(narrow), uint64_t(17592186044399), 1u << 20);
    for (const Level &level : levels)
      if (canRun(level.target))
        checkNarrowing<decltype(zero)>(level, "f64", narrow, inputs);
  });
}

} // namespace
} // namespace quern
