//===- IntegersTest.cpp - Exact arithmetic of integers through the API ----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests binary, sum and eltwise of s32, s8 and u8 at the limits of the types and around 2^24, with known and open
// sizes. Expected values are computed here in 64 bits. Attribute `accumulation` f32 selects the arithmetic of oneDNN.
//
//===----------------------------------------------------------------------===//
#include "Runtime/TestSupport.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace quern {
namespace {

using Integers = std::vector<int64_t>;
using Function = std::function<int64_t(int64_t, int64_t)>;

struct Type {
  const char *name;
  int64_t low, high;
  size_t bytes;
};

constexpr Type s32{"s32", std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max(), 4},
    s8{"s8", -128, 127, 1}, u8{"u8", 0, 255, 1};

/// Values near those at which a result is rounded in f32 or overflows a type.
Integers valuesOf(const Type &type) {
  Integers values;
  for (int64_t value : {int64_t(0),       int64_t(1),     int64_t(2),        int64_t(7),        int64_t(100),
                        int64_t(127),     int64_t(128),   int64_t(255),      int64_t(256),      int64_t(46340),
                        int64_t(46341),   int64_t(65536), int64_t(16777216), int64_t(16777217), int64_t(33554433),
                        int64_t(1) << 30, s32.high - 128, s32.high - 1,      s32.high,          -s32.low})
    for (int64_t signedValue : {value, -value})
      if (signedValue >= type.low && signedValue <= type.high)
        values.push_back(signedValue);
  return values;
}

class IntegersTest : public testing::Test {
protected:
  static std::vector<char> bufferOf(const Type &type, const Integers &values) {
    std::vector<char> bytes(values.size() * type.bytes);
    for (size_t i = 0; i < values.size(); ++i) {
      const auto value = static_cast<int32_t>(values[i]);
      std::memcpy(bytes.data() + i * type.bytes, &value, type.bytes); // little-endian
    }
    return bytes;
  }
  static Integers integersOf(const Type &type, const std::vector<char> &bytes) {
    Integers values;
    for (size_t at = 0; at < bytes.size(); at += type.bytes) {
      int32_t value = 0;
      std::memcpy(&value, bytes.data() + at, type.bytes);
      values.push_back(type.bytes == 4 ? value : type.low < 0 ? static_cast<int8_t>(value) : value);
    }
    return values;
  }

  struct Tensor {
    int argument;
    Type type;
    Integers values;
  };
  /// Returns the result of `line`, in which "@" is replaced by the size and layout of every tensor.
  Integers run(std::string line, bool isOpen, const std::vector<Tensor> &inputs, const Type &to) {
    const auto size = static_cast<int64_t>(inputs.front().values.size());
    const std::string shape = (isOpen ? "?" : std::to_string(size)) + ":a";
    for (size_t at; (at = line.find('@')) != std::string::npos;)
      line.replace(at, 1, shape);
    const primitive_desc desc(device, line);
    std::vector<char> dst(static_cast<size_t>(size) * to.bytes, 99);
    std::vector<std::vector<char>> buffers;
    std::unordered_map<int, memory> arguments;
    const auto typeOf = [](const Type &type) {
      return type.bytes == 4 ? memory::data_type::s32 : type.low < 0 ? memory::data_type::s8 : memory::data_type::u8;
    };
    for (const Tensor &input : inputs)
      buffers.push_back(bufferOf(input.type, input.values));
    for (size_t i = 0; i < inputs.size(); ++i)
      arguments.emplace(inputs[i].argument,
                        memory(memory::desc({size}, typeOf(inputs[i].type), "a"), device, buffers[i].data()));
    arguments.emplace(QUERN_ARG_DST, memory(memory::desc({size}, typeOf(to), "a"), device, dst.data()));
    primitive(desc).execute(order, arguments);
    order.wait();
    return integersOf(to, dst);
  }
  void expect(const std::string &line, const std::vector<Tensor> &inputs, const Type &to, Integers exact) {
    for (int64_t &value : exact)
      value = std::clamp(value, to.low, to.high);
    for (bool isOpen : {false, true})
      EXPECT_EQ(run(line, isOpen, inputs, to), exact) << line << (isOpen ? ", open" : "");
  }

  void expectBinary(const std::string &alg, const Type &a, const Type &b, const Type &to, const Function &function) {
    Integers x, y, exact;
    for (int64_t first : valuesOf(a))
      for (int64_t second : valuesOf(b)) {
        x.push_back(first), y.push_back(second);
        exact.push_back(function(first, second));
      }
    expect("binary alg=" + alg + " src=" + a.name + ":@ src1=" + b.name + ":@ dst=" + to.name + ":@",
           {{QUERN_ARG_SRC_0, a, x}, {QUERN_ARG_SRC_1, b, y}}, to, exact);
  }
  void expectEltwise(const std::string &function, const Type &from, const Type &to,
                     const std::function<int64_t(int64_t)> &exactOf) {
    const Integers x = valuesOf(from);
    Integers exact;
    for (int64_t value : x)
      exact.push_back(exactOf(value));
    expect("eltwise fwd_i alg=" + function + " src=" + from.name + ":@ dst=" + to.name + ":@",
           {{QUERN_ARG_SRC, from, x}}, to, exact);
  }

  test::TemporaryDirectory directory;
  test::ScopedCaches caches{directory.path};
  engine device{engine::kind::cpu, 0};
  stream order{device};
};

constexpr Type triples[][3] = {{s32, s32, s32}, {s32, u8, s8}, {s8, s32, u8}, {s8, s8, s8},
                               {u8, u8, u8},    {u8, s8, u8},  {u8, u8, s32}, {s8, u8, s32}};

TEST_F(IntegersTest, BinaryArithmeticIsExactAndSaturates) {
  for (const auto &[a, b, to] : triples) {
    expectBinary("add", a, b, to, [](int64_t x, int64_t y) { return x + y; });
    expectBinary("sub", a, b, to, [](int64_t x, int64_t y) { return x - y; });
    expectBinary("mul", a, b, to, [](int64_t x, int64_t y) { return x * y; });
    expectBinary("max", a, b, to, [](int64_t x, int64_t y) { return std::max(x, y); });
    expectBinary("min", a, b, to, [](int64_t x, int64_t y) { return std::min(x, y); });
  }
}

TEST_F(IntegersTest, ComparisonsAreExact) {
  for (const auto &[a, b, to] : triples) {
    expectBinary("eq", a, b, to, [](int64_t x, int64_t y) { return x == y; });
    expectBinary("ne", a, b, to, [](int64_t x, int64_t y) { return x != y; });
    expectBinary("lt", a, b, to, [](int64_t x, int64_t y) { return x < y; });
    expectBinary("le", a, b, to, [](int64_t x, int64_t y) { return x <= y; });
    expectBinary("gt", a, b, to, [](int64_t x, int64_t y) { return x > y; });
    expectBinary("ge", a, b, to, [](int64_t x, int64_t y) { return x >= y; });
  }
}

TEST_F(IntegersTest, SelectKeepsEveryDigit) {
  for (const Type &condition : {s32, s8, u8}) {
    Integers x, y, c, exact;
    for (int64_t first : valuesOf(s32))
      for (int64_t set : valuesOf(condition)) {
        x.push_back(first), y.push_back(~first), c.push_back(set);
        exact.push_back(set ? first : ~first);
      }
    expect(std::string("binary alg=select src=s32:@ src1=s32:@ src2=") + condition.name + ":@ dst=s32:@",
           {{QUERN_ARG_SRC_0, s32, x}, {QUERN_ARG_SRC_1, s32, y}, {QUERN_ARG_SRC_2, condition, c}}, s32, exact);
  }
}

TEST_F(IntegersTest, EltwiseIsExactAndSaturates) {
  for (const Type &from : {s32, s8, u8})
    for (const Type &to : {s32, s8, u8}) {
      expectEltwise("relu", from, to, [](int64_t x) { return std::max<int64_t>(x, 0); });
      expectEltwise("relu alpha=1", from, to, [](int64_t x) { return x; });
      expectEltwise("relu alpha=-3", from, to, [](int64_t x) { return x > 0 ? x : -3 * x; });
      expectEltwise("abs", from, to, [](int64_t x) { return std::abs(x); });
      expectEltwise("square", from, to, [](int64_t x) { return x * x; });
      expectEltwise("round", from, to, [](int64_t x) { return x; });
      expectEltwise("linear alpha=2147483648 beta=-2147483648", from, to,
                    [](int64_t x) { return (x - 1) * (int64_t(1) << 31); });
      expectEltwise("linear alpha=3 beta=1", from, to, [](int64_t x) { return 3 * x + 1; });
      expectEltwise("clip alpha=-16777217 beta=16777219", from, to, // f32 has even numbers: -16777216, 16777220
                    [](int64_t x) { return std::clamp<int64_t>(x, -16777216, 16777220); });
      expectEltwise("clip_v2 alpha=-5 beta=-1", from, to, [](int64_t x) { return std::clamp<int64_t>(x, -5, -1); });
      expectEltwise("clip alpha=200 beta=3e9", from, to, [](int64_t x) { return std::max<int64_t>(x, 200); });
      expectEltwise("clip alpha=-inf beta=inf", from, to, [](int64_t x) { return x; });
    }
}

// A bound that is not an integer is rounded like the result: to nearest, ties to even.
TEST_F(IntegersTest, BoundsOfClipsRoundToEven) {
  for (const Type &from : {s32, s8, u8}) {
    expectEltwise("clip alpha=1.5 beta=4.5", from, s32, [](int64_t x) { return std::clamp<int64_t>(x, 2, 4); });
    expectEltwise("clip alpha=-0.5 beta=100.75", from, s32, [](int64_t x) { return std::clamp<int64_t>(x, 0, 101); });
  }
}

TEST_F(IntegersTest, SumsWithIntegerFactorsAreExact) {
  const std::vector<std::pair<std::string, Integers>> factors = {
      {"1,1", {1, 1}}, {"1,-1", {1, -1}},    {"-1,1", {-1, 1}}, {"3,-100", {3, -100}},
      {"0,1", {0, 1}}, {"1,1,1", {1, 1, 1}}, {"5", {5}},        {"1073741824,-1073741824", {1 << 30, -(1 << 30)}},
  };
  for (const auto &[a, b, to] : triples)
    for (const auto &[text, scales] : factors) {
      std::vector<Tensor> inputs;
      std::string srcs;
      for (size_t i = 0; i < scales.size(); ++i) {
        const Type &type = i % 2 ? b : a;
        inputs.push_back({QUERN_ARG_MULTIPLE_SRC + static_cast<int>(i), type, {}});
        srcs += (i ? "," : "") + std::string(type.name) + ":@";
      }
      Integers exact;
      for (int64_t first : valuesOf(a))
        for (int64_t second : valuesOf(b)) {
          int64_t sum = 0;
          for (size_t i = 0; i < scales.size(); ++i) {
            inputs[i].values.push_back(i % 2 ? second : first);
            sum += scales[i] * inputs[i].values.back();
          }
          exact.push_back(sum);
        }
      expect("sum scales=" + text + " srcs=" + srcs + " dst=" + to.name + ":@", inputs, to, exact);
    }
}

// More sources than one kernel adds: the sum that is passed between kernels is wider than the sources.
TEST_F(IntegersTest, SumsOfManySourcesAreExact) {
  for (const Type &type : {s32, s8, u8}) {
    constexpr size_t count = 40;
    std::string scales, srcs;
    std::vector<Tensor> inputs;
    Integers exact(valuesOf(type).size());
    for (size_t i = 0; i < count; ++i) {
      const int64_t factor = i % 3 == 2 ? -1 : 1;
      scales += (i ? "," : "") + std::to_string(factor);
      srcs += (i ? "," : "") + std::string(type.name) + ":@";
      inputs.push_back({QUERN_ARG_MULTIPLE_SRC + static_cast<int>(i), type, valuesOf(type)});
      for (size_t element = 0; element < exact.size(); ++element)
        exact[element] += factor * inputs[i].values[element];
    }
    for (int64_t &value : exact)
      value = std::clamp(value, s32.low, s32.high);
    EXPECT_EQ(run("sum scales=" + scales + " srcs=" + srcs + " dst=s32:@", false, inputs, s32), exact);
  }
}

// Mode f32 is oneDNN's arithmetic and has a separate problem, key and text; other modes change nothing.
TEST_F(IntegersTest, AccumulationInF32Rounds) {
  const std::string line = "binary alg=eq src=s32:@ src1=s32:@ dst=s32:@";
  const std::vector<Tensor> inputs = {{QUERN_ARG_SRC_0, s32, {16777217, 3}}, {QUERN_ARG_SRC_1, s32, {16777216, 4}}};
  EXPECT_EQ(run(line + " attr.accumulation=f32", false, inputs, s32), (Integers{1, 0}));
  for (const char *mode : {"strict", "relaxed", "any", "s32", "f16"})
    EXPECT_EQ(run(line + " attr.accumulation=" + mode, false, inputs, s32), (Integers{0, 0})) << mode;
}

// Factors that are not integers or are too large, and float tensors, leave the arithmetic in f32.
TEST_F(IntegersTest, OtherFactorsAndFloatsUseF32) {
  const std::vector<Tensor> two = {{QUERN_ARG_MULTIPLE_SRC, s32, {16777217}}, {QUERN_ARG_MULTIPLE_SRC + 1, s32, {0}}};
  EXPECT_EQ(run("sum scales=1,0.5 srcs=s32:@,s32:@ dst=s32:@", false, two, s32), Integers{16777216});
  EXPECT_EQ(run("sum scales=1,2147483648 srcs=s32:@,s32:@ dst=s32:@", false, two, s32), Integers{16777216});
  const std::vector<Tensor> one = {{QUERN_ARG_SRC, s32, {16777217}}};
  EXPECT_EQ(run("eltwise fwd_i alg=relu alpha=0.5 src=s32:@ dst=s32:@", false, one, s32), Integers{16777216});
  EXPECT_EQ(run("eltwise fwd_i alg=relu src=s32:@ dst=s32:@ attr.post_ops=eltwise(alg=relu)", false, one, s32),
            Integers{16777216});
}

} // namespace
} // namespace quern
