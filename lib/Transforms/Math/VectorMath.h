//===- VectorMath.h - Builder of vector arithmetic ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Operations on one vector type, in which the expansions are written. Constants are shared per function, because
// compile time grows with the number of operations, and vectors are split into the lengths that AVX-512 intrinsics
// have.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TRANSFORMS_MATH_VECTORMATH_H
#define QUERN_TRANSFORMS_MATH_VECTORMATH_H

#include "Transforms/Transforms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace quern {

/// Creates one constant operation for each value, at the start of the function.
class ConstantPool {
public:
  explicit ConstantPool(mlir::func::FuncOp function) : entry(&function.getBody().front()) {}
  mlir::Value get(mlir::OpBuilder &builder, mlir::Location loc, mlir::TypedAttr value);

private:
  mlir::Block *entry;
  llvm::DenseMap<mlir::Attribute, mlir::Value> constants;
};

/// high + low, where high is the rounded sum.
struct TwoTerms {
  mlir::Value high, low;
};

/// Emits at the builder's insertion point. `type` is a rank-1 vector of f32 or f64.
class VectorMath {
public:
  VectorMath(mlir::OpBuilder &builder, mlir::Location loc, mlir::VectorType type, const Target &target,
             ConstantPool &pool);

  bool isF32() const { return type.getElementType().isF32(); }
  bool hasFma() const { return quern::hasFma(target); }
  /// Returns true if a multiply-add overwrites its addend, so that a constant addend is copied first.
  bool addsInPlace() const { return target.isAArch64() && !isSve(target.isa); }
  /// Returns true if AVX-512 intrinsics can be used: the vector is whole registers of some length.
  bool hasAvx512() const { return target.has(CpuIsa::Avx512) && registerLanes() != 0; }
  /// Bits of the mantissa without the hidden one: 23 or 52.
  int mantissaBits() const { return isF32() ? 23 : 52; }

  mlir::Value constant(double value);
  mlir::Value constantF32(float value) { return constant(static_cast<double>(value)); }
  mlir::Value integer(int64_t value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value div(mlir::Value x, mlir::Value y);
  /// Emits x·y + z, with one rounding if the level has the instruction.
  mlir::Value mulAdd(mlir::Value x, mlir::Value y, mlir::Value z);
  /// Emits x·y + z with one rounding; without the instruction, the result is rounded twice in rare cases.
  mlir::Value fusedMulAdd(mlir::Value x, mlir::Value y, mlir::Value z);
  /// Emits x·y exactly, if it neither overflows nor underflows.
  TwoTerms product(mlir::Value x, mlir::Value y);
  /// Emits x + y exactly, if x has the larger exponent.
  TwoTerms sum(mlir::Value x, mlir::Value y);
  mlir::Value abs(mlir::Value x);
  mlir::Value negate(mlir::Value x);
  mlir::Value copySign(mlir::Value magnitude, mlir::Value sign);
  mlir::Value roundEven(mlir::Value x);
  /// Emit the minimum, or maximum, of x and `limit`; NaN is propagated.
  mlir::Value atMost(mlir::Value x, double limit);
  mlir::Value atLeast(mlir::Value x, double limit);
  /// Emits a polynomial by Horner's scheme. The highest power comes first.
  mlir::Value polynomial(mlir::Value x, llvm::ArrayRef<double> coefficients);
  /// Emits a polynomial by pairs of coefficients, which halves the additions of constants. `square` is x².
  mlir::Value polynomialByPairs(mlir::Value x, mlir::Value square, llvm::ArrayRef<double> coefficients);
  /// Emits predicate(x, y) ? whenTrue : whenFalse.
  mlir::Value select(mlir::arith::CmpFPredicate predicate, mlir::Value x, mlir::Value y, mlir::Value whenTrue,
                     mlir::Value whenFalse);
  mlir::Value addInt(mlir::Value x, mlir::Value y);
  mlir::Value shiftLeft(mlir::Value x, int bits);
  mlir::Value shiftRight(mlir::Value x, int bits); ///< logical
  mlir::Value andInt(mlir::Value x, mlir::Value y);
  mlir::Value orInt(mlir::Value x, mlir::Value y);
  mlir::Value asInteger(mlir::Value x);
  mlir::Value asFloat(mlir::Value x);

  // The four functions below require AVX-512; callers check hasAvx512().
  mlir::Value scalef(mlir::Value x, mlir::Value exponent); ///< x·2^floor(exponent)
  mlir::Value getExponent(mlir::Value x);                  ///< floor(log2 |x|), also of denormals
  mlir::Value getMantissa(mlir::Value x);                  ///< |x|·2^-floor(log2 |x|); NaN for negatives
  /// Emits table[bits & 31] for each 32-bit lane. `type` must have f32 elements and a multiple of 16 lanes.
  mlir::Value lookup32(llvm::ArrayRef<float> table, mlir::Value bits);

  // A builder for the same lanes as f64, and conversions to and from f64.
  VectorMath asF64() const;
  mlir::Value extend(mlir::Value x);
  mlir::Value truncate(mlir::Value x);

  mlir::VectorType type;

private:
  TwoTerms split(mlir::Value x);
  /// Returns the lanes of the widest register whose length divides the vector; 0 if none does.
  int64_t registerLanes() const;
  /// Applies `emit` to each register of the operands and joins the results.
  mlir::Value perRegister(mlir::ValueRange operands,
                          llvm::function_ref<mlir::Value(mlir::ValueRange, mlir::VectorType)> emit);
  mlir::Value callMasked(llvm::StringRef name, mlir::ValueRange operands, std::optional<int32_t> immediate);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  const Target &target;
  ConstantPool &pool;
};

} // namespace quern

#endif // QUERN_TRANSFORMS_MATH_VECTORMATH_H
