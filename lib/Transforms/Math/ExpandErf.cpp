//===- ExpandErf.cpp - Expansion of erf and erfc --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// erfc(x) = exp(−x²)·p(t) / (x + K) for x >= 0, t = (x − K) / (x + K): one polynomial for the whole range. x² is kept
// in two terms, because exp magnifies its rounding error.
//
//===----------------------------------------------------------------------===//
#include "Transforms/Math/MathExpansions.h"

using namespace mlir;
using arith::CmpFPredicate;

namespace quern {
namespace {

// K = 3 up to x = 11, absolute error 2.9e-9. tools/approximations.py prints these.
constexpr double erfcTermsF32[] = {2.38932640170878195e-6, -0.000320521235993855095, -0.000480369278140754991,
                                   0.00308031195626489026, -0.0012274901233353419,   -0.0268406823197078062,
                                   0.11952902059979422,    -0.310465838518601328,    0.590228320525217172,
                                   -0.883394494043797763,  1.07400690737887052};
// K = 4 up to x = 28, absolute error 6e-18.
constexpr double erfcTermsF64[] = {
    9.08454177121390667e-10,  -6.36903746253067929e-10,  -1.52132068199503852e-8, 3.38631000225136862e-9,
    1.23970226219209567e-7,   -7.90003000732478314e-8,   -8.46291501725211025e-7, 1.4268525380407012e-6,
    4.69461997658331271e-6,   -0.0000188621350713113925, -3.63529664658784904e-6, 0.000176813190467648068,
    -0.000455052645563965433, -0.000280958935580871953,  0.00611205564927745558,  -0.0263700533323032085,
    0.0763815149098777191,    -0.174010937240444534,     0.330851587877988122,    -0.540853831313220072,
    0.773208702265237459,     -0.976548729080882126,     1.09599566100049112};
// erf(x) / x − 1 in x² for |x| <= 1, absolute errors 1.3e-9 and 1.3e-19.
constexpr double erfTermsF32[] = {0.0000787587506268548834, -0.000801686428716586953, 0.00518908742343397399,
                                  -0.0268542120106264124,   0.112835947151602177,     -0.37612626666720331,
                                  0.128379165848350946};
constexpr double erfTermsF64[] = {5.9571761477489114e-11,  -1.13728488567916737e-9,  1.46597752740474358e-8,
                                  -1.6350312701054695e-7,  1.6461000484121368e-6,    -0.0000149255952668311816,
                                  0.000120553311116427109, -0.000854832698083378991, 0.00522397762481801447,
                                  -0.0268661706450767932,  0.112837916709548787,     -0.376126389031837481,
                                  0.128379167095512574};

/// Emits erfc |x|.
Value erfcOfMagnitude(VectorMath &math, Value x) {
  bool isF32 = math.isF32();
  Value magnitude = math.atMost(math.abs(x), isF32 ? 11 : 28), k = math.constant(isF32 ? 3 : 4);
  Value inverse = math.div(math.constant(1.0), math.add(magnitude, k));
  Value t = math.mul(math.sub(magnitude, k), inverse);
  Value series = math.polynomial(t, isF32 ? ArrayRef<double>(erfcTermsF32) : ArrayRef<double>(erfcTermsF64));
  auto [high, low] = math.product(magnitude, magnitude);
  Value exp = expandExp(math, math.negate(high), math.negate(low), /*nonpositive=*/true);
  return math.mul(math.mul(series, inverse), exp);
}

} // namespace

Value expandErfc(VectorMath &math, Value x) {
  Value tail = erfcOfMagnitude(math, x), zero = math.constant(0.0);
  return math.select(CmpFPredicate::OLT, x, zero, math.sub(math.constant(2.0), tail), tail);
}

Value expandErf(VectorMath &math, Value x) {
  Value series =
      math.polynomial(math.mul(x, x), math.isF32() ? ArrayRef<double>(erfTermsF32) : ArrayRef<double>(erfTermsF64));
  Value near = math.mulAdd(x, series, x), one = math.constant(1.0);
  Value far = math.copySign(math.sub(one, erfcOfMagnitude(math, x)), x);
  return math.select(CmpFPredicate::OGT, math.abs(x), one, far, near);
}

} // namespace quern
