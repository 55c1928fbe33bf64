//===- ConvertTest.cpp - Conversions of elements as machine code ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the conversions that emission writes, float to integer, integer to float and integer to integer, as machine
// code of every level that this machine runs, against Elements: all values of the narrow types, all exponents, ties,
// and the limits of the types.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Emission/Arithmetic/Convert.h"
#include "Primitives/Emission/Tensors.h"
#include "Reference/Elements.h"
#include "VectorKernel.h"

#include <bit>
#include <cmath>
#include <limits>

namespace quern {
namespace {

struct Level {
  const char *target;
  int bytes; ///< size of a register in bytes
};

constexpr Level levels[] = {{"avx512_core", 64}, {"avx512_core", 32}, {"avx2", 32}, {"sse42", 16}};

std::string irTypeOf(DataType type) {
  return type == DataType::F64 ? "f64" : type == DataType::F32 ? "f32" : type == DataType::S32 ? "i32" : "i8";
}

/// Returns the lanes of a register for the wider of the two types, which counts as at least 32 bits.
int lanesOf(const Level &level, DataType from, DataType to) {
  return level.bytes / static_cast<int>(std::max<int64_t>({bitsOf(from), bitsOf(to), 32}) / 8);
}

VectorKernel kernelFor(const Level &level, DataType from, DataType to) {
  VectorKernelSpec spec{level.target, "", "", irTypeOf(from), irTypeOf(to), lanesOf(level, from, to)};
  spec.body = [=](mlir::OpBuilder &b, mlir::Location loc, mlir::Value x) {
    bool isWide = from == DataType::F64 || to == DataType::F64;
    mlir::Value y = emission::converted(b, loc, x, from, to, isWide ? b.getF64Type() : b.getF32Type());
    if (y.getType().isInteger(4)) // is not stored in memory
      y = mlir::arith::ExtUIOp::create(b, loc, b.getI8Type(), y);
    return y;
  };
  return VectorKernel(spec);
}

/// Returns numbers with every pattern of the upper 16 bits, and lower bits 0, 1 and others; multiples of 0.5 and their
/// neighbors; powers of two and numbers near them.
template <typename Real, typename Bits> std::vector<Real> floats() {
  std::vector<Real> values;
  constexpr int lower = 8 * sizeof(Bits) - 16;
  for (Bits upper = 0; upper < 0x10000; ++upper)
    for (Bits rest : {Bits(0), Bits(1), Bits(upper * 12345)})
      values.push_back(std::bit_cast<Real>(static_cast<Bits>(upper << lower | (rest & ((Bits(1) << lower) - 1)))));
  for (int i = -600; i <= 600; ++i) {
    Real half = static_cast<Real>(i) / 2;
    for (Real value : {half, std::nextafter(half, Real(INFINITY)), std::nextafter(half, Real(-INFINITY))})
      values.push_back(value);
  }
  for (int exponent = 0; exponent < 40; ++exponent)
    for (Real sign : {Real(1), Real(-1)}) {
      Real power = sign * std::ldexp(Real(1), exponent);
      for (Real value : {power, std::nextafter(power, Real(0)), power * 2 - 1, power - Real(0.5)})
        values.push_back(value);
    }
  return values;
}

std::vector<int32_t> integers() {
  std::vector<int32_t> values;
  for (int i = -70000; i < 70000; i += 3)
    values.push_back(i);
  for (int bit = 0; bit < 31; ++bit)
    for (int near : {-1, 0, 1})
      values.insert(values.end(), {(1 << bit) + near, -(1 << bit) + near});
  values.insert(values.end(), {INT32_MIN, INT32_MAX, INT32_MAX - 64, INT32_MAX - 63});
  return values;
}

/// Returns the value of `bits` as a kernel stores it: 4-bit values in a byte.
template <typename To> double valueOf(DataType type, To bits) {
  char element[sizeof(double)] = {};
  std::memcpy(element, &bits, sizeof(bits));
  return loadElement(type, element, 0);
}

double expectedOf(DataType from, DataType to, double x) {
  if (to == DataType::F32 || (from == DataType::F32 && to == DataType::S32)) {
    x = static_cast<float>(x); // rounds a source of s32
    x = to == DataType::S32 ? std::min(x, 0x1p31 - 128) : x;
  }
  return roundTo(to, x);
}

template <typename From, typename To>
void check(const Level &level, DataType from, DataType to, std::vector<From> inputs) {
  VectorKernel kernel = kernelFor(level, from, to);
  ASSERT_TRUE(kernel.ok());
  inputs.resize((inputs.size() + VectorKernel::chunk - 1) / VectorKernel::chunk * VectorKernel::chunk);
  std::vector<To> y;
  for (size_t first = 0; first < inputs.size(); first += VectorKernel::chunk) {
    auto at = inputs.begin() + static_cast<ptrdiff_t>(first);
    std::vector<From> x(at, at + VectorKernel::chunk);
    kernel.run(x, y);
    for (size_t i = 0; i < x.size(); ++i) {
      double value = std::is_floating_point_v<From> ? static_cast<double>(x[i]) : valueOf(from, x[i]);
      ASSERT_EQ(valueOf(to, y[i]), expectedOf(from, to, std::isnan(value) ? NAN : value))
          << level.target << '/' << level.bytes << ' ' << nameOf(from) << " to " << nameOf(to) << ": " << value;
    }
  }
}

template <typename From> void checkToIntegers(DataType from, const std::vector<From> &inputs) {
  for (const Level &level : levels)
    if (canRun(level.target)) {
      check<From, int32_t>(level, from, DataType::S32, inputs);
      for (DataType to : {DataType::S8, DataType::U8, DataType::S4, DataType::U4})
        check<From, uint8_t>(level, from, to, inputs);
    }
}

TEST(Convert, f32ToTheNearestInteger) { checkToIntegers(DataType::F32, floats<float, uint32_t>()); }

TEST(Convert, f64ToTheNearestInteger) { checkToIntegers(DataType::F64, floats<double, uint64_t>()); }

TEST(Convert, s32ToNarrowerIntegers) {
  for (const Level &level : levels)
    if (canRun(level.target))
      for (DataType to : {DataType::S8, DataType::U8, DataType::S4, DataType::U4})
        check<int32_t, uint8_t>(level, DataType::S32, to, integers());
}

TEST(Convert, integersToFloats) {
  std::vector<uint8_t> bytes(256);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<uint8_t>(i);
  for (const Level &level : levels)
    if (canRun(level.target)) {
      check<int32_t, float>(level, DataType::S32, DataType::F32, integers());
      check<int32_t, double>(level, DataType::S32, DataType::F64, integers());
      for (DataType from : {DataType::S8, DataType::U8}) {
        check<uint8_t, float>(level, from, DataType::F32, bytes);
        check<uint8_t, double>(level, from, DataType::F64, bytes);
        check<uint8_t, int32_t>(level, from, DataType::S32, bytes);
        for (DataType to : {DataType::S8, DataType::U8, DataType::S4, DataType::U4})
          if (to != from)
            check<uint8_t, uint8_t>(level, from, to, bytes);
      }
    }
}

} // namespace
} // namespace quern
