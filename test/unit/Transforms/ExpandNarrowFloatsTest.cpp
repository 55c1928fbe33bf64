//===- ExpandNarrowFloatsTest.cpp - Conversions of narrow floats ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests widening over all values; narrowing over strided bit patterns and at, just below and just above every midpoint,
// where double rounding or a wrong tie would be visible. The oracle is the exact integer code of Support/NarrowFloat.h.
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

/// Calls `visit` with the name of each narrow type and a zero of the integer type that holds it.
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

template <typename Wide, typename Bits>
void checkWidening(const Level &level, const std::string &narrow, const std::string &wide) {
  std::string lanes = std::to_string(level.lanes);
  VectorKernel kernel(
      {level.target, "",
       "%y = arith.extf %x : vector<" + lanes + "x" + narrow + "> to vector<" + lanes + "x" + wide + ">", narrow, wide,
       level.lanes});
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

/// Returns every midpoint between neighbors of the format with the nearest values of the wide type on either side, and
/// then strided bit patterns.
template <typename Wide, typename Bits>
std::vector<Wide> narrowingInputs(const NarrowFormat &format, Bits stride, size_t strided) {
  std::vector<Wide> inputs;
  uint32_t last = format.isIeee() ? format.infinity() : format.largest();
  for (uint32_t bits = 0; bits <= last; ++bits) {
    double low = decodeNarrow(bits, format), high = bits == last ? low : decodeNarrow(bits + 1, format);
    if (std::isinf(high))
      high = std::ldexp(1.0, format.bias() + 1);
    auto middle = static_cast<Wide>(std::isinf(low) ? low : (low + high) / 2);
    for (Wide value :
         {middle, std::nextafter(middle, Wide(0)), std::nextafter(middle, Wide(INFINITY)), static_cast<Wide>(low)})
      inputs.push_back(bits % 3 ? value : -value);
  }
  // The midpoint between the largest number and its would-be successor, and values far beyond.
  double step = std::ldexp(1.0, format.bias() + !format.isIeee() - format.mantissaBits);
  auto end = static_cast<Wide>(decodeNarrow(format.largest(), format) + step / 2);
  for (Wide value :
       {end, std::nextafter(end, Wide(0)), std::nextafter(end, Wide(INFINITY)), 2 * end, Wide(1e30f), Wide(INFINITY)})
    inputs.insert(inputs.end(), {value, -value});
  Bits bits = 12345;
  for (size_t i = 0; i < strided; ++i, bits += stride)
    inputs.push_back(std::bit_cast<Wide>(bits));
  inputs.resize((inputs.size() + VectorKernel::chunk - 1) / VectorKernel::chunk * VectorKernel::chunk);
  return inputs;
}

/// Returns a conversion of `lanes` lanes; more than 16 lanes are converted in two halves.
std::string narrowing(int lanes, const std::string &wide, const std::string &narrow) {
  auto type = [](int count, const std::string &element) {
    return "vector<" + std::to_string(count) + "x" + element + ">";
  };
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
  return "%a = vector.shuffle %x, %x " + indices(0, half) + whole + "%b = vector.shuffle %x, %x " +
         indices(half, lanes) + whole + "%c = arith.truncf %a" + convert(half) + "%d = arith.truncf %b" +
         convert(half) + "%y = vector.shuffle %c, %d " + indices(0, lanes) + part + ", " + part;
}

template <typename Bits, typename Wide>
void checkNarrowing(const Level &level, const std::string &wide, const std::string &narrow,
                    const std::vector<Wide> &inputs) {
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
    for (int lanes : {32, 48, 64})
      checkNarrowing<uint16_t>({"avx512_core_bf16", lanes}, "f32", "bf16",
                               narrowingInputs<float>(bf16Format, uint32_t(4099), 1u << 20));
}

/// The result of a lane must not depend on other lanes, which may be padding: a denormal in any lane selects another
/// path for the whole vector.
TEST(ExpandNarrowFloats, narrowsNanToTheSameBitsNextToADenormal) {
  if (!canRun("avx512_core_bf16"))
    return;
  for (int lanes : {16, 32, 48, 64}) {
    VectorKernel kernel({"avx512_core_bf16", "", narrowing(lanes, "f32", "bf16"), "f32", "bf16", lanes});
    ASSERT_TRUE(kernel.ok());
    std::vector<float> x(VectorKernel::chunk);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = std::bit_cast<float>((i & 1 ? 0x7f800001u : 0xff800001u) + static_cast<uint32_t>(i * 123457 % 0x7fffff));
    std::vector<uint16_t> expected, withDenormals;
    kernel.run(x, expected);
    for (size_t i = 0; i < x.size(); i += 16)
      x[i] = 1e-40f;
    kernel.run(x, withDenormals);
    for (size_t i = 0; i < x.size(); ++i)
      if (i % 16)
        ASSERT_EQ(expected[i], withDenormals[i]) << std::hex << std::bit_cast<uint32_t>(x[i]);
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

/// Returns a chunk with every byte many times.
std::vector<uint8_t> allBytes() {
  std::vector<uint8_t> bytes(VectorKernel::chunk);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<uint8_t>(i * 7);
  return bytes;
}

template <typename Wide> void checkE8M0(const Level &level, const std::string &wide) {
  std::string lanes = "vector<" + std::to_string(level.lanes) + "x",
              types = lanes + wide + "> to " + lanes + "f8E8M0FNU>";
  VectorKernel widening({level.target, "", "%y = arith.extf %x : " + lanes + "f8E8M0FNU> to " + lanes + wide + ">",
                         "f8E8M0FNU", wide, level.lanes});
  VectorKernel narrowing(
      {level.target, "", "%y = arith.truncf %x toward_zero : " + types, wide, "f8E8M0FNU", level.lanes});
  ASSERT_TRUE(widening.ok() && narrowing.ok());
  std::vector<Wide> x, y;
  std::vector<uint8_t> bytes = allBytes(), narrow;
  widening.run(bytes, y);
  for (size_t i = 0; i < y.size(); ++i) {
    double expected = decodeE8M0(bytes[i]);
    ASSERT_TRUE(y[i] == expected || (std::isnan(y[i]) && std::isnan(expected)))
        << level.target << ' ' << int(bytes[i]) << ": " << y[i];
  }
  for (int i = 0; x.size() < VectorKernel::chunk; ++i) {
    auto power = static_cast<Wide>(std::ldexp(1.0, i % 300 - 150));
    for (Wide value : {power, -std::nextafter(power, Wide(0)), std::nextafter(power, Wide(INFINITY)), Wide(1.5) * power,
                       Wide(i % 2 ? INFINITY : NAN)})
      x.push_back(value);
  }
  x[7] = 0;
  x[11] = std::numeric_limits<Wide>::max();
  narrowing.run(x, narrow);
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(narrow[i], encodeE8M0(x[i])) << level.target << ' ' << x[i];
}

TEST(ExpandNarrowFloats, usesTheExponentForE8M0) {
  for (const Level &level : levels)
    if (canRun(level.target)) {
      checkE8M0<float>(level, "f32");
      checkE8M0<double>(level, "f64");
    }
}

/// Returns a chain of casts on `lanes` lanes: {"trunci", "i4"}, {"bitcast", "f4E2M1FN"}, …
std::string chain(int lanes, const std::string &from, const std::vector<std::pair<std::string, std::string>> &steps) {
  std::string text, last = from, value = "x", shape = "vector<" + std::to_string(lanes) + "x";
  for (size_t i = 0; i < steps.size(); ++i) {
    std::string name = i + 1 == steps.size() ? "y" : "s" + std::to_string(i);
    text += "%" + name + " = arith." + steps[i].first + " %" + value + " : " + shape + last + "> to " + shape +
            steps[i].second + ">\n";
    value = name;
    last = steps[i].second;
  }
  return text;
}

/// A 4-bit value is in the lower half of a byte; the upper half must not matter.
TEST(ExpandNarrowFloats, widensHalfBytes) {
  std::vector<uint8_t> bytes = allBytes();
  for (const Level &level : levels) {
    if (!canRun(level.target))
      continue;
    VectorKernel asFloat({level.target, "",
                          chain(level.lanes, "i8", {{"trunci", "i4"}, {"bitcast", "f4E2M1FN"}, {"extf", "f32"}}), "i8",
                          "f32", level.lanes});
    VectorKernel asSigned(
        {level.target, "", chain(level.lanes, "i8", {{"trunci", "i4"}, {"extsi", "i32"}}), "i8", "i32", level.lanes});
    VectorKernel asUnsigned(
        {level.target, "", chain(level.lanes, "i8", {{"trunci", "i4"}, {"extui", "i32"}}), "i8", "i32", level.lanes});
    VectorKernel asByte(
        {level.target, "", chain(level.lanes, "i8", {{"trunci", "i4"}, {"extsi", "i8"}}), "i8", "i8", level.lanes});
    ASSERT_TRUE(asFloat.ok() && asSigned.ok() && asUnsigned.ok() && asByte.ok());
    std::vector<float> floats;
    std::vector<int32_t> signeds, unsigneds;
    std::vector<int8_t> ofBytes;
    asFloat.run(bytes, floats);
    asSigned.run(bytes, signeds);
    asUnsigned.run(bytes, unsigneds);
    asByte.run(bytes, ofBytes);
    for (size_t i = 0; i < bytes.size(); ++i) {
      auto expected = static_cast<float>(decodeNarrow(bytes[i] & 15u, f4E2M1Format));
      ASSERT_EQ(std::bit_cast<uint32_t>(floats[i]), std::bit_cast<uint32_t>(expected))
          << level.target << ' ' << int(bytes[i]);
      ASSERT_EQ(unsigneds[i], bytes[i] & 15);
      ASSERT_EQ(signeds[i], ((bytes[i] & 15) ^ 8) - 8);
      ASSERT_EQ(ofBytes[i], signeds[i]);
    }
  }
}

template <typename Wide, typename Bits> void checkF4(const Level &level, const std::string &wide, Bits stride) {
  VectorKernel kernel({level.target, "",
                       chain(level.lanes, wide, {{"truncf", "f4E2M1FN"}, {"bitcast", "i4"}, {"extui", "i8"}}), wide,
                       "i8", level.lanes});
  ASSERT_TRUE(kernel.ok());
  std::vector<Wide> inputs = narrowingInputs<Wide>(f4E2M1Format, stride, 1u << 18);
  inputs[40] = NAN;
  inputs[41] = -INFINITY;
  std::vector<uint8_t> y;
  for (size_t first = 0; first < inputs.size(); first += VectorKernel::chunk) {
    std::vector<Wide> x(inputs.begin() + static_cast<ptrdiff_t>(first),
                        inputs.begin() + static_cast<ptrdiff_t>(first + VectorKernel::chunk));
    kernel.run(x, y);
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(y[i], encodeNarrow(x[i], f4E2M1Format)) << level.target << ' ' << x[i];
  }
}

TEST(ExpandNarrowFloats, narrowsToF4WithOneRounding) {
  for (const Level &level : levels)
    if (canRun(level.target)) {
      checkF4<float>(level, "f32", uint32_t(4099));
      checkF4<double>(level, "f64", uint64_t(17592186044399));
    }
}

/// Sources whose digits all fit need no rounding and no checks; the denormal of e8m0 is preserved.
TEST(ExpandNarrowFloats, narrowsShortSourcesToBf16) {
  std::vector<uint8_t> bytes = allBytes();
  auto valueOf = [](const std::string &from, uint8_t bits) -> double {
    if (from == "f8E8M0FNU")
      return decodeE8M0(bits);
    return from == "i8" ? static_cast<int8_t>(bits) : decodeNarrow(bits, formatOf(from));
  };
  for (const Level &level : levels)
    for (const char *from : {"f8E8M0FNU", "f8E5M2", "f8E4M3FN", "i8"}) {
      if (!canRun(level.target))
        continue;
      bool isInteger = from == std::string("i8");
      std::vector<std::pair<std::string, std::string>> steps = {{"extf", "f32"}, {"truncf", "bf16"}};
      if (isInteger)
        steps = {{"extsi", "i32"}, {"sitofp", "f32"}, {"truncf", "bf16"}};
      VectorKernel kernel({level.target, "", chain(level.lanes, from, steps), from, "bf16", level.lanes});
      ASSERT_TRUE(kernel.ok());
      std::vector<uint16_t> y;
      kernel.run(bytes, y);
      for (size_t i = 0; i < bytes.size(); ++i) {
        double expected = valueOf(from, bytes[i]), got = decodeNarrow(y[i], bf16Format);
        ASSERT_TRUE(got == expected || (std::isnan(got) && std::isnan(expected)))
            << level.target << ' ' << from << ' ' << int(bytes[i]);
      }
    }
}

} // namespace
} // namespace quern
