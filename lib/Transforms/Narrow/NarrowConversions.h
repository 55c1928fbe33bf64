//===- NarrowConversions.h - Conversions of narrow types by arithmetic ----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Narrow values are stored in integers of whole bytes: bf16 and f16 in i16; 8-bit floats, f4E2M1FN and i4 in i8. For
// the latter two, the upper half of the byte is undefined. Internal to ExpandNarrowFloats.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TRANSFORMS_NARROW_NARROWCONVERSIONS_H
#define QUERN_TRANSFORMS_NARROW_NARROWCONVERSIONS_H

#include "Support/NarrowFloat.h"
#include "Transforms/Transforms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"

namespace quern {

/// Returns true if a scalar, or the elements of a shaped type, are stored in another type.
bool isNarrow(mlir::Type type);

/// Returns the storage type of `type`: an integer replaces the narrow type.
mlir::Type storageType(mlir::Type type);

/// Emits one conversion, of a scalar or a vector, or a group of conversions of vectors, in place of `op`. Narrow values
/// are passed and returned in their storage type.
class NarrowConverter {
public:
  /// Properties of the values that a conversion to bf16 receives.
  enum class Origin {
    Unknown,
    Approximate,    ///< anything; the conversion is marked `afn`, and a denormal may become zero
    Integer,        ///< integers: none is denormal
    Short,          ///< integers or floats of at most 8 bits: all digits fit, and none is denormal
    ShortDenormals, ///< all digits fit
  };
  /// Returns the origin of the operand's values. Must be called before any conversion is replaced.
  static Origin originOf(mlir::Operation *op);

  NarrowConverter(mlir::Operation *op, const Target &target, Origin origin = Origin::Unknown)
      : op(op), builder(op), loc(op->getLoc()), shapeOf(op->getResult(0).getType()), target(target), origin(origin) {}

  /// Emits `op`, an extension or a truncation of floats or integers, on `x`, given its original types.
  mlir::Value convert(mlir::Value x, mlir::Type from, mlir::Type to);

  /// Returns true if several vectors like the one of `op` should be converted to bf16 as a group.
  static bool narrowsInGroups(mlir::Operation *op, const Target &target);
  llvm::SmallVector<mlir::Value> narrowGroupToBf16(mlir::ValueRange wide);

private:
  mlir::Type shaped(mlir::Type element) const {
    auto vectorType = mlir::dyn_cast<mlir::VectorType>(shapeOf);
    return vectorType ? mlir::Type(vectorType.clone(element)) : element;
  }
  mlir::Type i8() { return shaped(builder.getI8Type()); }
  mlir::Type i16() { return shaped(builder.getI16Type()); }
  mlir::Type i32() { return shaped(builder.getI32Type()); }
  mlir::Type f32() { return shaped(builder.getF32Type()); }
  mlir::Value splat(mlir::Type type, mlir::TypedAttr element);
  mlir::Value integer(mlir::Type type, int64_t value);
  mlir::Value word(uint32_t value) { return integer(i32(), static_cast<int32_t>(value)); }
  mlir::Value real(float value) { return splat(f32(), builder.getF32FloatAttr(value)); }
  template <typename Op> mlir::Value make(mlir::Value x, mlir::Value y) { return Op::create(builder, loc, x, y); }
  mlir::Value shiftLeft(mlir::Value x, unsigned bits) { return make<mlir::arith::ShLIOp>(x, word(bits)); }
  mlir::Value shiftRight(mlir::Value x, unsigned bits) { return make<mlir::arith::ShRUIOp>(x, word(bits)); }
  mlir::Value masked(mlir::Value x, uint32_t bits) { return make<mlir::arith::AndIOp>(x, word(bits)); }
  mlir::Value asWord(mlir::Value x) { return mlir::arith::BitcastOp::create(builder, loc, i32(), x); }
  mlir::Value asReal(mlir::Value x) { return mlir::arith::BitcastOp::create(builder, loc, f32(), x); }
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y) {
    return mlir::arith::SelectOp::create(builder, loc, condition, x, y);
  }
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value x, mlir::Value y) {
    return mlir::arith::CmpFOp::create(builder, loc, predicate, x, y);
  }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value x, mlir::Value y) {
    return mlir::arith::CmpIOp::create(builder, loc, predicate, x, y);
  }
  mlir::Value extend(mlir::Value half) { return mlir::arith::ExtUIOp::create(builder, loc, i32(), half); }
  mlir::Value half(mlir::Value pair, int64_t which);
  mlir::Value truncate(mlir::Value x, unsigned bits);
  mlir::Value intrinsic(mlir::Type result, llvm::StringRef name, mlir::ValueRange operands);

  mlir::Value narrow(mlir::Value wide, mlir::Type to);
  mlir::Value widen(mlir::Value narrow, mlir::Type from, mlir::Type to);
  mlir::Value extendHalfByte(mlir::Value half, mlir::Type to, bool isSigned);

  mlir::Value widenToF32(mlir::Value narrow, mlir::Type from);
  mlir::Value widenBf16(mlir::Value narrow);
  mlir::Value widenF16(mlir::Value narrow);
  mlir::Value widenF8E4M3(mlir::Value narrow);
  mlir::Value widenE8M0(mlir::Value narrow);
  mlir::Value widenF4E2M1(mlir::Value narrow);
  mlir::Value convertToBf16(mlir::ValueRange wide);
  mlir::Value patchDenormals(mlir::ValueRange wide, mlir::ValueRange denormal, mlir::Value converted);
  mlir::Value halfOfLastPlace(mlir::Value bits);
  mlir::Value narrowToBf16(mlir::Value wide);
  mlir::Value narrowToBf16OnArm(mlir::Value wide);
  mlir::Value narrowPartsToBf16(mlir::Value wide);
  mlir::Value narrowToBf16ByIntegers(mlir::Value wide);
  mlir::Value narrowByF16c(mlir::Value wide);
  mlir::Value narrowByBits(mlir::Value wide, const NarrowFormat &format);
  mlir::Value roundToOdd(mlir::Value wide);

  mlir::Operation *op;
  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::Type shapeOf;
  const Target &target;
  Origin origin;
};

} // namespace quern

#endif // QUERN_TRANSFORMS_NARROW_NARROWCONVERSIONS_H
