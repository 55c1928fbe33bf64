//===- ExpandMathTest.cpp - Accuracy of the math expansions ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Sweeps the bit patterns of f32 and f64 with a stride, against double and long double, on every level that this
// machine runs. Each limit is in units in the last place of the result, which may be denormal.
//
//===----------------------------------------------------------------------===//
#include "Ulps.h"
#include "VectorKernel.h"

#include <bit>
#include <cmath>
#include <limits>

namespace quern {
namespace {

struct Case {
  std::string target, function, exp;
  int lanes;
  double limit;
  bool nonpositive = false;
  double lowest = -INFINITY; ///< smaller arguments are left out
};

void PrintTo(const Case &test, std::ostream *os) {
  *os << test.function << " by " << test.exp << ", at most " << test.limit << " ULP";
}

/// Sweeps the bit patterns of T with a stride and compares each value in the test's range with `exact`.
template <typename T>
void sweep(const Case &test, typename FloatTraits<T>::Bits stride,
           typename FloatTraits<T>::Wide (*exact)(typename FloatTraits<T>::Wide)) {
  if (!canRun(test.target))
    GTEST_SKIP() << "this machine does not run " << test.target;
  const std::string type = "vector<" + std::to_string(test.lanes) + "x" + FloatTraits<T>::name + ">";
  VectorKernel kernel({test.target, "func.func(quern-expand-math{target=" + test.target + " exp=" + test.exp + "})",
                       "%y = math." + test.function + " %x " + (test.exp == "table" ? "fastmath<afn> " : "") +
                           (test.nonpositive ? "{quern.relax = #quern.relax<nonpositive>} : " : ": ") + type,
                       FloatTraits<T>::name, FloatTraits<T>::name, test.lanes});
  ASSERT_TRUE(kernel.ok());
  using Bits = typename FloatTraits<T>::Bits;
  std::vector<T> x(VectorKernel::chunk), y;
  double worst = 0;
  T worstAt = 0;
  for (Bits bits = 0, left = std::numeric_limits<Bits>::max() / stride; left > 0;) {
    for (T &value : x) {
      value = std::bit_cast<T>(bits);
      if (test.nonpositive && value > 0)
        value = -value;
      if (value < test.lowest)
        value = 0;
      bits += stride;
      left -= left > 0;
    }
    kernel.run(x, y);
    for (size_t i = 0; i < x.size(); ++i)
      if (double error = ulps<T>(y[i], exact(x[i])); !(error <= worst))
        worst = error, worstAt = x[i];
  }
  testing::Test::RecordProperty("worst_ulp", std::to_string(worst));
  EXPECT_LE(worst, test.limit) << test.function << '(' << worstAt << ") on " << test.target;
}

double expOf(double x) { return std::exp(x); }
double logOf(double x) { return std::log(x); }
long double longExpOf(long double x) { return std::exp(x); }
long double longLogOf(long double x) { return std::log(x); }

constexpr uint32_t stride32 = 1999;
constexpr uint64_t stride64 = 9'223'372'036'003;

class ExpandMathF32 : public testing::TestWithParam<Case> {};
TEST_P(ExpandMathF32, staysWithinItsLimit) {
  sweep<float>(GetParam(), stride32, GetParam().function == "exp" ? expOf : logOf);
}

class ExpandMathF64 : public testing::TestWithParam<Case> {};
TEST_P(ExpandMathF64, staysWithinItsLimit) {
  sweep<double>(GetParam(), stride64, GetParam().function == "exp" ? longExpOf : longLogOf);
}

std::string nameOfCase(const testing::TestParamInfo<Case> &info) {
  const Case &c = info.param;
  return c.target + "_" + c.function + "_" + c.exp + "_" + std::to_string(c.lanes) +
         (c.nonpositive ? "_nonpositive" : "") + (std::isinf(c.lowest) ? "" : "_near");
}

INSTANTIATE_TEST_SUITE_P(
    Levels, ExpandMathF32,
    testing::Values(Case{"avx512_core", "exp", "polynomial", 16, 1.0}, Case{"avx512_core", "exp", "table", 16, 6.0},
                    Case{"avx512_core", "exp", "table", 32, 6.0}, Case{"avx512_core", "exp", "polynomial", 8, 1.0},
                    Case{"avx512_core", "exp", "polynomial", 5, 1.0},
                    Case{"avx512_core", "exp", "polynomial", 16, 1.0, true},
                    Case{"avx512_core", "exp", "table", 16, 6.0, true},
                    Case{"avx512_core", "exp", "table", 16, 2.5, true, -12.0},
                    Case{"avx512_core", "log", "polynomial", 16, 1.0}, Case{"avx2", "exp", "polynomial", 8, 1.0},
                    Case{"avx2", "exp", "polynomial", 16, 1.0}, Case{"avx2", "exp", "polynomial", 8, 1.0, true},
                    Case{"avx2", "log", "polynomial", 8, 1.0}, Case{"sse42", "exp", "polynomial", 4, 1.0},
                    Case{"sse42", "exp", "polynomial", 4, 1.0, true}, Case{"sse42", "log", "polynomial", 4, 1.0}),
    nameOfCase);
INSTANTIATE_TEST_SUITE_P(
    Levels, ExpandMathF64,
    testing::Values(Case{"avx512_core", "exp", "polynomial", 8, 1.0}, Case{"avx512_core", "exp", "polynomial", 16, 1.0},
                    Case{"avx512_core", "exp", "polynomial", 8, 1.0, true},
                    Case{"avx512_core", "log", "polynomial", 8, 1.0}, Case{"avx2", "exp", "polynomial", 4, 1.0},
                    Case{"avx2", "exp", "polynomial", 4, 1.0, true}, Case{"avx2", "log", "polynomial", 4, 1.0},
                    Case{"sse42", "exp", "polynomial", 2, 1.0}, Case{"sse42", "exp", "polynomial", 2, 1.0, true},
                    Case{"sse42", "log", "polynomial", 2, 1.0}),
    nameOfCase);

/// Arguments for which every level must compute the exact result.
template <typename T> void checkSpecials(const std::string &target, const std::string &exp) {
  if (!canRun(target))
    return;
  constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  std::string type = std::string("vector<16x") + FloatTraits<T>::name + ">",
              pipeline = "func.func(quern-expand-math{target=" + target + " exp=" + exp + "})";
  std::vector<T> x(VectorKernel::chunk, T(0)), y;
  x[0] = -inf, x[1] = inf, x[2] = nan, x[3] = T(0), x[4] = T(-0.0), x[5] = T(-1e30), x[6] = T(1e30), x[7] = T(1),
  x[8] = T(-1);
  VectorKernel expKernel(
      {target, pipeline, "%y = math.exp %x fastmath<afn> : " + type, FloatTraits<T>::name, FloatTraits<T>::name});
  ASSERT_TRUE(expKernel.ok());
  expKernel.run(x, y);
  EXPECT_EQ(y[0], T(0)) << target;
  EXPECT_FALSE(std::signbit(y[0]));
  EXPECT_EQ(y[1], inf) << target;
  EXPECT_TRUE(std::isnan(y[2])) << target;
  EXPECT_EQ(y[3], T(1));
  EXPECT_EQ(y[4], T(1));
  EXPECT_EQ(y[5], T(0));
  EXPECT_EQ(y[6], inf);
  VectorKernel logKernel({target, pipeline, "%y = math.log %x : " + type, FloatTraits<T>::name, FloatTraits<T>::name});
  ASSERT_TRUE(logKernel.ok());
  logKernel.run(x, y);
  EXPECT_TRUE(std::isnan(y[0])) << target;
  EXPECT_EQ(y[1], inf) << target;
  EXPECT_TRUE(std::isnan(y[2])) << target;
  EXPECT_EQ(y[3], -inf) << target;
  EXPECT_EQ(y[4], -inf) << target;
  EXPECT_TRUE(std::isnan(y[5])) << target;
  EXPECT_EQ(y[7], T(0)) << target;
  EXPECT_TRUE(std::isnan(y[8])) << target;
}

TEST(ExpandMath, givesSpecialValuesExactly) {
  for (const char *target : {"avx512_core", "avx2", "sse42"}) {
    checkSpecials<float>(target, "polynomial");
    checkSpecials<double>(target, "polynomial");
  }
  checkSpecials<float>("avx512_core", "table");
}

} // namespace
} // namespace quern
