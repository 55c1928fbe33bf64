//===- EltwiseTest.cpp - Accuracy of the eltwise functions ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests every eltwise algorithm as machine code of every level that this machine runs, against its formula in long
// double, written so that nothing cancels: over all exponents, densely over the range where the functions bend, and at
// special values. The limit is 4 units in the last place of the result, which may be denormal. Derivatives are tested
// in the same way, against the reference of backward.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Emission/Arithmetic/Eltwise.h"
#include "IR/QuernDialect.h"
#include "Primitives/Emission/Arithmetic/EltwiseDerivative.h"
#include "Reference/EltwiseFunctions.h"
#include "Ulps.h"
#include "VectorKernel.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <bit>
#include <cmath>
#include <functional>
#include <limits>

namespace quern {
namespace {

using Wide = long double;

Wide sigmoid(Wide z) { return z < 0 ? std::exp(z) / (1 + std::exp(z)) : 1 / (1 + std::exp(-z)); }
Wide clamp(Wide x, Wide low, Wide high) { return x < low ? low : x > high ? high : x; }
Wide softplus(Wide z) { return (z > 0 ? z : 0) + std::log1p(std::exp(-std::fabs(z))); }

Wide exactMish(Wide x) {
  Wide e = std::exp(-std::fabs(x));
  return x > 0 ? x * ((1 + 2 * e) / (1 + 2 * e + 2 * e * e)) : x * (e * (e + 2) / (e * (e + 2) + 2));
}

Wide exactGeluTanh(Wide x) {
  const Wide twice = 2 * std::sqrt(2 / std::acos(Wide(-1)));
  return x * sigmoid(twice * x * (1 + Wide(44715) / 1000000 * x * x));
}

/// Evaluates the definition of the algorithm.
Wide exact(Alg alg, Wide alpha, Wide beta, Wide x) {
  switch (alg) {
  case Alg::EltwiseRelu:
    return x > 0 ? x : alpha == 0 && !std::isnan(x) ? 0 : alpha * x;
  case Alg::EltwiseTanh:
    return std::tanh(x);
  case Alg::EltwiseElu:
    return x > 0 ? x : alpha * std::expm1(x);
  case Alg::EltwiseSquare:
    return x * x;
  case Alg::EltwiseAbs:
    return std::fabs(x);
  case Alg::EltwiseSqrt:
    return std::sqrt(x);
  case Alg::EltwiseLinear:
    return std::fma(alpha, x, beta);
  case Alg::EltwiseSoftRelu:
    return softplus(alpha * x) / alpha;
  case Alg::EltwiseHardsigmoid:
    return clamp(std::fma(alpha, x, beta), 0, 1);
  case Alg::EltwiseLogistic:
    return sigmoid(x);
  case Alg::EltwiseExp:
    return std::exp(x);
  case Alg::EltwiseGeluTanh:
    return exactGeluTanh(x);
  case Alg::EltwiseSwish:
    return x * sigmoid(alpha == 0 ? 0 : alpha * x);
  case Alg::EltwiseLog:
    return std::log(x);
  case Alg::EltwiseClip:
  case Alg::EltwiseClipV2:
    return clamp(x, alpha, beta);
  case Alg::EltwisePow:
    return alpha * std::pow(x, beta);
  case Alg::EltwiseGeluErf:
    return x * (std::erfc(-x * std::sqrt(Wide(0.5))) / 2);
  case Alg::EltwiseRound:
    return std::nearbyint(x);
  case Alg::EltwiseMish:
    return exactMish(x);
  case Alg::EltwiseHardswish:
    return x * clamp(std::fma(alpha, x, beta), 0, 1);
  default:
    ADD_FAILURE() << "no formula";
    return 0;
  }
}

struct Function {
  Alg alg;
  float alpha = 0, beta = 0;
};

std::string describe(const Function &f) {
  return std::string(nameOf(f.alg)) + " alpha=" + std::to_string(f.alpha) + " beta=" + std::to_string(f.beta);
}
void PrintTo(const Function &f, std::ostream *os) { *os << describe(f); }

struct Level {
  const char *target;
  int lanesF32;
};
constexpr Level levels[] = {{"avx512_core", 16}, {"avx2", 8}, {"sse42", 4}};

/// Returns numbers of every exponent, two even grids around zero, and special values.
template <typename T> std::vector<T> arguments() {
  using Bits = typename FloatTraits<T>::Bits;
  constexpr T inf = std::numeric_limits<T>::infinity();
  std::vector<T> x = {T(0),
                      T(-0.0),
                      inf,
                      -inf,
                      std::numeric_limits<T>::quiet_NaN(),
                      std::numeric_limits<T>::max(),
                      std::numeric_limits<T>::lowest(),
                      std::numeric_limits<T>::min(),
                      std::numeric_limits<T>::denorm_min()};
  constexpr int patterns = 40000, grid = 60000;
  const Bits stride = std::numeric_limits<Bits>::max() / patterns | 1;
  for (Bits i = 0, bits = 12345; i < patterns; ++i, bits += stride)
    x.push_back(std::bit_cast<T>(bits));
  const T limit = sizeof(T) == 4 ? 20 : 40, farLimit = sizeof(T) == 4 ? 110 : 760;
  for (int i = -grid / 2; i < grid / 2; ++i) {
    x.push_back(static_cast<T>(i + 0.37) * (limit * 2 / grid));
    x.push_back(static_cast<T>(i + 0.37) * (farLimit * 2 / grid));
  }
  x.resize((x.size() + VectorKernel::chunk - 1) / VectorKernel::chunk * VectorKernel::chunk);
  return x;
}

using Body = std::function<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::Value)>;

/// `errorOf(x, y)` returns the error of the result y, in the unit of `limit`.
template <typename T>
void check(const std::string &name, const Body &body, const std::function<double(T, T)> &errorOf, double limit) {
  std::vector<T> inputs = arguments<T>();
  for (const Level &level : levels) {
    if (!canRun(level.target))
      continue;
    std::string type = FloatTraits<T>::name;
    VectorKernelSpec spec{level.target, std::string("func.func(quern-expand-math{target=") + level.target + "})",
                          "",           type,
                          type,         level.lanesF32 * 4 / static_cast<int>(sizeof(T))};
    spec.body = body;
    VectorKernel kernel(spec);
    ASSERT_TRUE(kernel.ok()) << level.target;
    double worst = 0;
    size_t worstAt = 0;
    std::vector<T> x(VectorKernel::chunk), y;
    T worstGot = 0;
    for (size_t begin = 0; begin < inputs.size(); begin += x.size()) {
      std::copy_n(inputs.begin() + static_cast<ptrdiff_t>(begin), x.size(), x.begin());
      kernel.run(x, y);
      for (size_t i = 0; i < x.size(); ++i)
        if (double error = errorOf(x[i], y[i]); !(error <= worst))
          worst = error, worstAt = begin + i, worstGot = y[i];
    }
    testing::Test::RecordProperty(std::string("worst_ulp_") + level.target + "_" + type, std::to_string(worst));
    EXPECT_LE(worst, limit) << name << " of " << type << " on " << level.target << " at " << inputs[worstAt] << ": "
                            << worstGot;
  }
}

template <typename T> void checkFunction(const Function &f) {
  auto body = [&](mlir::OpBuilder &b, mlir::Location loc, mlir::Value x) {
    return emitEltwise(b, loc, f.alg, f.alpha, f.beta, x);
  };
  check<T>(describe(f), body, [&](T x, T y) { return ulps<T>(y, exact(f.alg, f.alpha, f.beta, x)); }, 4);
}

/// Checks the derivative with a gradient of 1. Errors are in units of epsilon times the sum of the terms' magnitudes,
/// which is taken as at least 512 times the smallest normal number: a factor of a smaller term may be denormal. Where
/// the derivative exceeds an eighth of that number's reciprocal, the result may be infinite.
template <typename T> void checkDerivative(const Function &f) {
  constexpr Wide epsilon = std::numeric_limits<T>::epsilon(), minNormal = std::numeric_limits<T>::min();
  auto body = [&](mlir::OpBuilder &b, mlir::Location loc, mlir::Value x) {
    mlir::Value one = mlir::arith::ConstantOp::create(b, loc, b.getFloatAttr(x.getType(), 1));
    return emitEltwiseBackward(b, loc, f.alg, f.alpha, f.beta, x, one);
  };
  auto errorOf = [&](T x, T y) {
    const Derivative derivative = eltwiseDerivative(f.alg, f.alpha, f.beta, x, epsilon);
    const T rounded = static_cast<T>(derivative.value);
    if (y == rounded || (std::isnan(y) && std::isnan(rounded)) || y == static_cast<T>(derivative.other))
      return 0.0;
    if (!std::isfinite(y))
      return std::isinf(y) && std::signbit(y) == std::signbit(derivative.value) &&
                     std::fabs(derivative.value) > 1 / (8 * minNormal)
                 ? 0.0
                 : HUGE_VAL;
    return static_cast<double>(std::fabs(y - derivative.value) /
                               (epsilon * std::max(derivative.magnitude, 512 * minNormal)));
  };
  check<T>("derivative of " + describe(f), body, errorOf, 4);
}

class EltwiseAccuracy : public testing::TestWithParam<Function> {};
TEST_P(EltwiseAccuracy, isAccurateTo4UlpInF32) { checkFunction<float>(GetParam()); }
TEST_P(EltwiseAccuracy, isAccurateTo4UlpInF64) { checkFunction<double>(GetParam()); }

class EltwiseDerivativeAccuracy : public testing::TestWithParam<Function> {};
TEST_P(EltwiseDerivativeAccuracy, isAccurateTo4UlpInF32) { checkDerivative<float>(GetParam()); }
TEST_P(EltwiseDerivativeAccuracy, isAccurateTo4UlpInF64) { checkDerivative<double>(GetParam()); }

std::string nameOfCase(const testing::TestParamInfo<Function> &info) {
  return std::string(nameOf(info.param.alg)) + "_" + std::to_string(info.index);
}

INSTANTIATE_TEST_SUITE_P(
    Algorithms, EltwiseAccuracy,
    testing::Values(
        Function{Alg::EltwiseRelu, 0}, Function{Alg::EltwiseRelu, 0.1f}, Function{Alg::EltwiseTanh},
        Function{Alg::EltwiseElu, 1}, Function{Alg::EltwiseElu, 0.3f}, Function{Alg::EltwiseSquare},
        Function{Alg::EltwiseAbs}, Function{Alg::EltwiseSqrt}, Function{Alg::EltwiseLinear, 2, 0},
        Function{Alg::EltwiseLinear, 1, -3}, Function{Alg::EltwiseLinear, 0.7f, -1.3f},
        Function{Alg::EltwiseSoftRelu, 1}, Function{Alg::EltwiseSoftRelu, -1}, Function{Alg::EltwiseSoftRelu, 0.3f},
        Function{Alg::EltwiseSoftRelu, 2.7f}, Function{Alg::EltwiseHardsigmoid, 0.2f, 0.5f},
        Function{Alg::EltwiseLogistic}, Function{Alg::EltwiseExp}, Function{Alg::EltwiseGeluTanh},
        Function{Alg::EltwiseSwish, 1}, Function{Alg::EltwiseSwish, 1.702f}, Function{Alg::EltwiseSwish, -0.6f},
        Function{Alg::EltwiseSwish, 0}, Function{Alg::EltwiseLog}, Function{Alg::EltwiseClip, -1, 6.5f},
        Function{Alg::EltwiseClipV2, -0.3f, 0.7f}, Function{Alg::EltwisePow, 1, 0}, Function{Alg::EltwisePow, 2, 1},
        Function{Alg::EltwisePow, 1, 2}, Function{Alg::EltwisePow, 0.5f, -1}, Function{Alg::EltwisePow, 3, 0.5f},
        Function{Alg::EltwisePow, 1, 3}, Function{Alg::EltwisePow, 1, -2}, Function{Alg::EltwisePow, 1, 1.7f},
        Function{Alg::EltwisePow, -1.5f, -0.3f}, Function{Alg::EltwisePow, 1, 31}, Function{Alg::EltwiseGeluErf},
        Function{Alg::EltwiseRound}, Function{Alg::EltwiseMish}, Function{Alg::EltwiseHardswish, 0.2f, 0.5f},
        Function{Alg::EltwiseHardswish, 1.0f / 6, 0.5f}),
    nameOfCase);

INSTANTIATE_TEST_SUITE_P(
    Algorithms, EltwiseDerivativeAccuracy,
    testing::Values(Function{Alg::EltwiseRelu, 0}, Function{Alg::EltwiseRelu, 0.1f}, Function{Alg::EltwiseTanh},
                    Function{Alg::EltwiseElu, 0.3f}, Function{Alg::EltwiseSquare}, Function{Alg::EltwiseAbs},
                    Function{Alg::EltwiseSqrt}, Function{Alg::EltwiseLinear, 0.7f, -1.3f},
                    Function{Alg::EltwiseSoftRelu, 1}, Function{Alg::EltwiseSoftRelu, -2.7f},
                    Function{Alg::EltwiseHardsigmoid, 0.2f, 0.5f}, Function{Alg::EltwiseLogistic},
                    Function{Alg::EltwiseExp}, Function{Alg::EltwiseGeluTanh}, Function{Alg::EltwiseSwish, 1},
                    Function{Alg::EltwiseSwish, 1.702f}, Function{Alg::EltwiseSwish, -0.6f},
                    Function{Alg::EltwiseSwish, 0}, Function{Alg::EltwiseLog}, Function{Alg::EltwiseClip, -1, 6.5f},
                    Function{Alg::EltwiseClipV2, -0.3f, 0.7f}, Function{Alg::EltwisePow, 1, 0},
                    Function{Alg::EltwisePow, 2, 1}, Function{Alg::EltwisePow, 1, 2}, Function{Alg::EltwisePow, 1, 3},
                    Function{Alg::EltwisePow, 1, 1.7f}, Function{Alg::EltwiseGeluErf}, Function{Alg::EltwiseMish},
                    Function{Alg::EltwiseHardswish, 0.2f, 0.5f}, Function{Alg::EltwiseReluDst, 0.1f},
                    Function{Alg::EltwiseTanhDst}, Function{Alg::EltwiseEluDst, 0.3f}, Function{Alg::EltwiseSqrtDst},
                    Function{Alg::EltwiseLogisticDst}, Function{Alg::EltwiseExpDst},
                    Function{Alg::EltwiseClipV2Dst, -0.3f, 0.7f}),
    nameOfCase);

TEST(Eltwise, destinationVariantsComputeTheSame) {
  mlir::MLIRContext context;
  context.loadDialect<mlir::arith::ArithDialect, mlir::math::MathDialect, QuernDialect>();
  auto text = [&](Alg alg) {
    mlir::OpBuilder builder(&context);
    mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToStart(module->getBody());
    mlir::Value x = mlir::arith::ConstantOp::create(builder, module->getLoc(), builder.getF32FloatAttr(1));
    EXPECT_TRUE(emitEltwise(builder, module->getLoc(), alg, 0.5f, 2, x));
    std::string printed;
    llvm::raw_string_ostream(printed) << *module;
    return printed;
  };
  for (auto [of, dst] :
       {std::pair(Alg::EltwiseRelu, Alg::EltwiseReluDst), std::pair(Alg::EltwiseTanh, Alg::EltwiseTanhDst),
        std::pair(Alg::EltwiseElu, Alg::EltwiseEluDst), std::pair(Alg::EltwiseSqrt, Alg::EltwiseSqrtDst),
        std::pair(Alg::EltwiseLogistic, Alg::EltwiseLogisticDst), std::pair(Alg::EltwiseExp, Alg::EltwiseExpDst),
        std::pair(Alg::EltwiseClipV2, Alg::EltwiseClipV2Dst)})
    EXPECT_EQ(text(of), text(dst)) << nameOf(dst);
}

} // namespace
} // namespace quern
