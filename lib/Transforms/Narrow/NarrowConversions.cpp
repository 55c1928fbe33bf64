//===- NarrowConversions.cpp - Conversions of narrow types by arithmetic --===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Conversions are integer arithmetic or F16C; LLVM would call a library function for several of them. vcvtneps2bf16
// treats denormal inputs and outputs as zero, so it is used only for whole vectors without denormals. Nearly all have
// none; a branch converts the denormals of the others by integer arithmetic.
//
//===----------------------------------------------------------------------===//
#include "Transforms/Narrow/NarrowConversions.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace quern;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

static constexpr int64_t neonWords = 8; ///< 16-bit lanes of a NEON register

bool quern::isNarrow(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isBF16() || element.isF16() || element.isInteger(4) ||
         isa<Float8E5M2Type, Float8E4M3FNType, Float8E8M0FNUType, Float4E2M1FNType>(element);
}

Type quern::storageType(Type type) {
  if (!isNarrow(type))
    return type;
  Type bits = IntegerType::get(type.getContext(), std::max(getElementTypeOrSelf(type).getIntOrFloatBitWidth(), 8u));
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(bits);
  return bits;
}

static const NarrowFormat &formatOf(Type element) {
  if (isa<Float4E2M1FNType>(element))
    return f4E2M1Format;
  return element.isBF16()               ? bf16Format
         : element.isF16()              ? f16Format
         : isa<Float8E5M2Type>(element) ? f8E5M2Format
                                        : f8E4M3Format;
}

Value NarrowConverter::splat(Type type, TypedAttr element) {
  if (auto vectorType = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(
        builder, loc, cast<TypedAttr>(Attribute(DenseElementsAttr::get(vectorType, Attribute(element)))));
  return arith::ConstantOp::create(builder, loc, element);
}

Value NarrowConverter::integer(Type type, int64_t value) {
  return splat(type, builder.getIntegerAttr(getElementTypeOrSelf(type), value));
}

Value NarrowConverter::truncate(Value x, unsigned bits) {
  return arith::TruncIOp::create(builder, loc, shaped(builder.getIntegerType(bits)), x);
}

Value NarrowConverter::intrinsic(Type result, StringRef name, ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(builder, loc, result, builder.getStringAttr(name), operands).getResult(0);
}

Value NarrowConverter::half(Value pair, int64_t which) {
  return vector::ShuffleOp::create(builder, loc, pair, pair,
                                   llvm::to_vector<16>(llvm::seq<int64_t>(16 * which, 16 * which + 16)));
}

NarrowConverter::Origin NarrowConverter::originOf(Operation *op) {
  Operation *source = op->getOperand(0).getDefiningOp();
  auto bitsOf = [](Value v) { return getElementTypeOrSelf(v).getIntOrFloatBitWidth(); };
  if (isa_and_nonnull<arith::ExtFOp>(source) && bitsOf(source->getOperand(0)) <= 8)
    return mlir::isa<Float8E8M0FNUType>(getElementTypeOrSelf(source->getOperand(0))) ? Origin::ShortDenormals
                                                                                     : Origin::Short;
  if (auto truncation = dyn_cast<arith::TruncFOp>(op); truncation && truncation.getFastmath())
    if (bitEnumContainsAll(*truncation.getFastmath(), arith::FastMathFlags::afn))
      return Origin::Approximate;
  if (!isa_and_nonnull<arith::SIToFPOp>(source))
    return Origin::Unknown;
  Operation *extension = source->getOperand(0).getDefiningOp();
  bool isShort = isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(extension) && bitsOf(extension->getOperand(0)) <= 8;
  return isShort ? Origin::Short : Origin::Integer;
}

Value NarrowConverter::convert(Value x, Type from, Type to) {
  // One of MLIR's folds may have combined two conversions: both types are narrow.
  if (mlir::isa<arith::ExtFOp, arith::TruncFOp>(op)) {
    Value wide = isNarrow(from) ? widen(x, from, isNarrow(to) ? f32() : to) : x;
    return isNarrow(to) ? narrow(wide, to) : wide;
  }
  if (mlir::isa<arith::TruncIOp>(op))
    return x.getType() == i8() ? x : truncate(x, 8);
  return extendHalfByte(x, to, mlir::isa<arith::ExtSIOp>(op));
}

Value NarrowConverter::widen(Value narrow, Type from, Type to) {
  Value single = widenToF32(narrow, getElementTypeOrSelf(from));
  if (getElementTypeOrSelf(to).isF32())
    return single;
  return arith::ExtFOp::create(builder, loc, to, single);
}

Value NarrowConverter::narrow(Value wide, Type to) {
  Type element = getElementTypeOrSelf(to);
  if (getElementTypeOrSelf(wide.getType()).isF64())
    wide = roundToOdd(wide);
  if (element.isBF16())
    return narrowToBf16(wide);
  if (element.isF16() && hasHalfConversions(target))
    return narrowByF16c(wide);
  if (mlir::isa<Float8E8M0FNUType>(element)) // the exponent; the sign is truncated
    return truncate(shiftRight(asWord(wide), 23), 8);
  return truncate(narrowByBits(wide, formatOf(element)), std::max(element.getIntOrFloatBitWidth(), 8u));
}

Value NarrowConverter::extendHalfByte(Value half, Type to, bool isSigned) {
  Value wide = half.getType() == to ? half : arith::ExtUIOp::create(builder, loc, to, half).getResult();
  if (isSigned && getElementTypeOrSelf(to).isInteger(32)) // bytes cannot be shifted
    return make<arith::ShRSIOp>(shiftLeft(wide, 28), word(28));
  wide = make<arith::AndIOp>(wide, integer(to, 15));
  if (!isSigned)
    return wide;
  return make<arith::SubIOp>(make<arith::XOrIOp>(wide, integer(to, 8)), integer(to, 8));
}

/// Moves each word to the upper half of a lane. AVX-512 has one permutation for it, masked so that the lower halves are
/// zero; extending and shifting would be two instructions for the same port.
Value NarrowConverter::widenBf16(Value narrow) {
  // The lower and the upper half of each 32-bit lane.
  if (auto pairs = narrow.getDefiningOp<vector::DeinterleaveOp>()) {
    Value both = vector::BitCastOp::create(builder, loc, cast<VectorType>(i32()), pairs.getSource());
    return asReal(narrow == pairs.getRes1() ? shiftLeft(both, 16) : make<arith::AndIOp>(both, word(0xffff0000)));
  }
  auto type = dyn_cast<VectorType>(narrow.getType());
  if (!target.has(CpuIsa::Avx512) || !type || type.getNumElements() != 16)
    return asReal(shiftLeft(extend(narrow), 16));
  VectorType words = VectorType::get({32}, builder.getI16Type());
  SmallVector<int64_t, 32> low = llvm::to_vector<32>(llvm::seq<int64_t>(0, 32));
  std::fill(low.begin() + 16, low.end(), static_cast<int64_t>(vector::ShuffleOp::kPoisonIndex));
  Value widest = vector::ShuffleOp::create(builder, loc, narrow, narrow, low);
  SmallVector<int16_t, 32> from;
  SmallVector<bool, 32> isUpper;
  for (int i = 0; i < 32; ++i) {
    from.push_back(static_cast<int16_t>(i / 2));
    isUpper.push_back(i % 2);
  }
  auto constant = [&](DenseElementsAttr value) { return arith::ConstantOp::create(builder, loc, value); };
  Value index = constant(DenseElementsAttr::get(words, ArrayRef<int16_t>(from)));
  Value permuted = intrinsic(words, "llvm.x86.avx512.permvar.hi.512", {widest, index});
  Value mask = constant(DenseElementsAttr::get(words.clone(builder.getI1Type()), ArrayRef<bool>(isUpper)));
  Value zero = constant(cast<DenseElementsAttr>(builder.getZeroAttr(words)));
  return arith::BitcastOp::create(
      builder, loc, f32(),
      vector::BitCastOp::create(builder, loc, cast<VectorType>(i32()), select(mask, permuted, zero)));
}

/// Uses an instruction, which keeps denormals and a NaN's upper half.
Value NarrowConverter::narrowToBf16OnArm(Value wide) {
  Type narrow = builder.getBF16Type(), storage = builder.getI16Type();
  if (auto type = dyn_cast<VectorType>(wide.getType())) {
    narrow = type.clone(narrow);
    storage = type.clone(storage);
  }
  return arith::BitcastOp::create(builder, loc, storage, arith::TruncFOp::create(builder, loc, narrow, wide));
}

/// Converts one NEON register at a time: LLVM 22 aborts when it extracts an element of a longer bf16 vector.
Value NarrowConverter::narrowPartsToBf16(Value wide) {
  SmallVector<Value> parts;
  for (int64_t begin = 0, end = cast<VectorType>(wide.getType()).getNumElements(); begin < end; begin += neonWords)
    parts.push_back(narrowToBf16OnArm(vector::ShuffleOp::create(
        builder, loc, wide, wide, llvm::to_vector<16>(llvm::seq<int64_t>(begin, begin + neonWords)))));
  for (int64_t lanes = 2 * neonWords; parts.size() > 1; lanes *= 2) {
    for (size_t i = 0; 2 * i < parts.size(); ++i)
      parts[i] = vector::ShuffleOp::create(builder, loc, parts[2 * i], parts[2 * i + 1],
                                           llvm::to_vector<32>(llvm::seq<int64_t>(0, lanes)));
    parts.resize(parts.size() / 2);
  }
  return parts.front();
}

Value NarrowConverter::narrowToBf16(Value wide) {
  auto type = dyn_cast<VectorType>(wide.getType());
  if (target.has(CpuIsa::NeonBf16) && (!isSve(target.isa) || !type || type.getNumElements() <= neonWords))
    return narrowToBf16OnArm(wide);
  if (target.has(CpuIsa::NeonBf16) && llvm::isPowerOf2_64(static_cast<uint64_t>(type.getNumElements())))
    return narrowPartsToBf16(wide);
  bool hasInstruction = target.has(CpuIsa::Avx512Bf16) && type && type.getNumElements() == 16;
  if (!hasInstruction || origin == Origin::ShortDenormals)
    return origin >= Origin::Short ? truncate(shiftRight(asWord(wide), 16), 16) : narrowToBf16ByIntegers(wide);
  return origin == Origin::Unknown ? narrowGroupToBf16(wide).front() : convertToBf16(wide);
}

bool NarrowConverter::narrowsInGroups(Operation *op, const Target &target) {
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  auto type = dyn_cast<VectorType>(from);
  return target.has(CpuIsa::Avx512Bf16) && type && type.getShape() == ArrayRef<int64_t>{16} &&
         type.getElementType().isF32() && getElementTypeOrSelf(to).isBF16();
}

Value NarrowConverter::convertToBf16(ValueRange wide) {
  bool isPair = wide.size() == 2;
  Type words = isPair ? Type(VectorType::get({32}, builder.getI16Type())) : i16();
  Type bf16 = cast<VectorType>(words).clone(builder.getBF16Type());
  Value converted = isPair ? intrinsic(bf16, "llvm.x86.avx512bf16.cvtne2ps2bf16.512", {wide[1], wide[0]})
                           : arith::TruncFOp::create(builder, loc, bf16, wide[0]).getResult();
  return arith::BitcastOp::create(builder, loc, words, converted);
}

/// Rounds denormal lanes, which the instruction flushes to zero, by integer arithmetic; for a pair, one permutation
/// selects the upper halves.
Value NarrowConverter::patchDenormals(ValueRange wide, ValueRange denormal, Value converted) {
  auto rounded = [&](Value v) { return make<arith::AddIOp>(asWord(v), halfOfLastPlace(asWord(v))); };
  if (wide.size() == 1)
    return select(denormal[0], truncate(shiftRight(rounded(wide[0]), 16), 16), converted);
  auto words = cast<VectorType>(converted.getType());
  auto asWords = [&](Value v) -> Value { return vector::BitCastOp::create(builder, loc, words, v); };
  SmallVector<int16_t, 32> upper =
      llvm::map_to_vector<32>(llvm::seq<int16_t>(0, 32), [](int16_t i) { return int16_t(2 * i + 1); });
  Value index = arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(words, ArrayRef<int16_t>(upper)));
  Value patch = intrinsic(words, "llvm.x86.avx512.vpermi2var.hi.512",
                          {asWords(rounded(wide[0])), index, asWords(rounded(wide[1]))});
  SmallVector<int64_t, 32> lanes = llvm::to_vector<32>(llvm::seq<int64_t>(0, 32));
  return select(vector::ShuffleOp::create(builder, loc, denormal[0], denormal[1], lanes), patch, converted);
}

/// Emits one test for denormals in all vectors, and one conversion for each two vectors.
SmallVector<Value> NarrowConverter::narrowGroupToBf16(ValueRange wide) {
  constexpr int32_t denormalClass = 0x20;
  Value classes = LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(denormalClass)), any;
  SmallVector<Value> denormal, converted, patched, narrow;
  for (Value v : wide) {
    denormal.push_back(intrinsic(shaped(builder.getI1Type()), "llvm.x86.avx512.fpclass.ps.512", {v, classes}));
    any = any ? make<arith::OrIOp>(any, denormal.back()) : denormal.back();
  }
  any = vector::ReductionOp::create(builder, loc, vector::CombiningKind::OR, any);
  auto widthAt = [&](size_t i) { return std::min<size_t>(2, wide.size() - i); };
  for (size_t i = 0; i < wide.size(); i += 2)
    converted.push_back(convertToBf16(wide.slice(i, widthAt(i))));
  auto branch = scf::IfOp::create(builder, loc, TypeRange(ValueRange(converted)), any, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    for (size_t i = 0; i < wide.size(); i += 2)
      patched.push_back(
          patchDenormals(wide.slice(i, widthAt(i)), ArrayRef(denormal).slice(i, widthAt(i)), converted[i / 2]));
    scf::YieldOp::create(builder, loc, patched);
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, loc, converted);
  }
  for (size_t i = 0; i < wide.size(); ++i)
    narrow.push_back(widthAt(i & ~size_t(1)) == 2 ? half(branch.getResult(i / 2), i % 2) : branch.getResult(i / 2));
  return narrow;
}

/// Returns the addend that rounds to nearest even: half of the last place, less one if the place is even.
Value NarrowConverter::halfOfLastPlace(Value bits) {
  return make<arith::AddIOp>(make<arith::AndIOp>(shiftRight(bits, 16), word(1)), word(0x7fff));
}

/// A NaN keeps its upper half and becomes quiet, as with vcvtneps2bf16: a vector's other lanes decide which of the two
/// converts it.
Value NarrowConverter::narrowToBf16ByIntegers(Value wide) {
  Value bits = asWord(wide);
  Value rounded = make<arith::AddIOp>(bits, halfOfLastPlace(bits));
  rounded = select(compare(CmpFPredicate::UNO, wide, wide), make<arith::OrIOp>(bits, word(0x00400000)), rounded);
  return truncate(shiftRight(rounded, 16), 16);
}

/// Multiplying by 2^112 rebiases the exponent, also of denormals; the exponent of infinities and NaN is restored
/// afterwards.
Value NarrowConverter::widenF16(Value narrow) {
  if (hasHalfConversions(target)) {
    Value half = arith::BitcastOp::create(builder, loc, shaped(builder.getF16Type()), narrow);
    return arith::ExtFOp::create(builder, loc, f32(), half);
  }
  Value bits = extend(narrow);
  Value magnitude = make<arith::AndIOp>(bits, word(0x7fff));
  Value scaled = asWord(make<arith::MulFOp>(asReal(shiftLeft(magnitude, 13)), real(0x1p112f)));
  Value special = compare(CmpIPredicate::sgt, magnitude, word(0x7bff));
  scaled = make<arith::OrIOp>(scaled, select(special, word(0x7f800000), word(0)));
  return asReal(make<arith::OrIOp>(scaled, shiftLeft(make<arith::AndIOp>(bits, word(0x8000)), 16)));
}

/// The exponent has one bit less than that of f16: the shifted bits are an f16 that is too small by a factor of 2^8.
/// NaN, whose pattern would be 480, keeps its sign, because a conversion to f4E2M1FN turns it into a signed limit.
Value NarrowConverter::widenF8E4M3(Value narrow) {
  Value real;
  if (hasHalfConversions(target)) {
    auto half = [&](uint16_t value) { return splat(i16(), builder.getI16IntegerAttr(static_cast<int16_t>(value))); };
    Value bits = make<arith::ShLIOp>(arith::ExtSIOp::create(builder, loc, i16(), narrow), half(7));
    real = make<arith::MulFOp>(widenF16(make<arith::AndIOp>(bits, half(0xbfff))), this->real(0x1p8f));
  } else {
    Value bits = arith::ExtSIOp::create(builder, loc, i32(), narrow);
    Value magnitude = asReal(shiftLeft(make<arith::AndIOp>(bits, word(0x7f)), 20));
    Value sign = make<arith::AndIOp>(bits, word(0x80000000));
    real = asReal(make<arith::OrIOp>(asWord(make<arith::MulFOp>(magnitude, this->real(0x1p120f))), sign));
  }
  Value magnitude = math::AbsFOp::create(builder, loc, real);
  Value nan = asReal(make<arith::OrIOp>(asWord(real), word(0x7fc00000)));
  return select(compare(CmpFPredicate::OEQ, magnitude, this->real(480)), nan, real);
}

/// Shifts the bits to the exponent. 0, the denormal 2^-127, and 255, NaN, also need one mantissa bit.
Value NarrowConverter::widenE8M0(Value narrow) {
  Value bits = extend(narrow), exponent = shiftLeft(bits, 23);
  Value isSpecial = compare(CmpIPredicate::eq, masked(make<arith::AddIOp>(bits, word(1)), 0xfe), word(0));
  return asReal(select(isSpecial, make<arith::OrIOp>(exponent, word(0x00400000)), exponent));
}

/// Uses a table in a register for all values, or all magnitudes, if it fits. Otherwise, magnitudes up to 1.5 are half
/// of the pattern, and larger ones are the pattern shifted to an f32's exponent and mantissa.
Value NarrowConverter::widenF4E2M1(Value narrow) {
  auto type = dyn_cast<VectorType>(narrow.getType());
  int64_t lanes = type ? type.getNumElements() : 0;
  bool hasAll = target.has(CpuIsa::Avx512) && lanes == 16, hasMagnitudes = target.has(CpuIsa::Avx2) && lanes == 8;
  Value bits = extend(narrow), sign = hasAll ? Value() : shiftLeft(masked(bits, 8), 28);
  if (hasAll || hasMagnitudes) { // the index is the lower bits of each lane
    SmallVector<float> values;
    for (uint32_t i = 0; i < lanes; ++i)
      values.push_back(static_cast<float>(decodeNarrow(i, f4E2M1Format)));
    Value table = arith::ConstantOp::create(builder, loc,
                                            DenseElementsAttr::get(cast<VectorType>(f32()), ArrayRef<float>(values)));
    if (hasAll)
      return intrinsic(f32(), "llvm.x86.avx512.permvar.sf.512", {table, bits});
    Value magnitude = intrinsic(f32(), "llvm.x86.avx2.permps", {table, bits});
    return asReal(make<arith::OrIOp>(asWord(magnitude), sign));
  }
  Value magnitude = masked(bits, 7);
  Value small = make<arith::MulFOp>(arith::SIToFPOp::create(builder, loc, f32(), magnitude), real(0.5f));
  Value large = make<arith::AddIOp>(shiftLeft(magnitude, 22), word(126u << 23));
  Value value = select(compare(CmpIPredicate::slt, magnitude, word(4)), asWord(small), large);
  return asReal(make<arith::OrIOp>(value, sign));
}

Value NarrowConverter::widenToF32(Value narrow, Type from) {
  if (from.isBF16())
    return widenBf16(narrow);
  if (from.isF16())
    return widenF16(narrow);
  if (mlir::isa<Float8E4M3FNType>(from))
    return widenF8E4M3(narrow);
  if (mlir::isa<Float8E8M0FNUType>(from))
    return widenE8M0(narrow);
  if (mlir::isa<Float4E2M1FNType>(from))
    return widenF4E2M1(narrow);
  // f8E5M2 is the upper half of an f16.
  Value half = arith::ExtUIOp::create(builder, loc, i16(), narrow);
  return widenF16(make<arith::ShLIOp>(half, splat(i16(), builder.getI16IntegerAttr(8))));
}

Value NarrowConverter::narrowByF16c(Value wide) {
  Value half = arith::TruncFOp::create(builder, loc, shaped(builder.getF16Type()), wide);
  return arith::BitcastOp::create(builder, loc, i16(), half);
}

/// Distinguishes three ranges: overflow and non-finite values, normal results (rounded by integer arithmetic), and
/// denormal results (rounded by adding a float whose last place is the unit of the denormals). In a format without
/// infinity, magnitudes are clamped to the all-ones pattern, which is NaN or the largest value; NaN, whose bits are
/// above all others, becomes that pattern.
Value NarrowConverter::narrowByBits(Value wide, const NarrowFormat &format) {
  unsigned shift = 23 - format.mantissaBits, width = 1 + format.exponentBits + format.mantissaBits;
  auto exponent = [](int of) { return static_cast<uint32_t>(127 + of) << 23; };
  Value bits = asWord(wide), magnitude = make<arith::AndIOp>(bits, word(0x7fffffff)), finite = magnitude;
  if (!format.isIeee()) {
    uint32_t mantissa = (1u << format.mantissaBits) - 1;
    finite = make<arith::MinSIOp>(magnitude, word(exponent(format.bias() + 1) | mantissa << shift));
  }
  Value odd = make<arith::AndIOp>(shiftRight(finite, shift), word(1));
  uint32_t rebias = (static_cast<uint32_t>(format.bias() - 127) << 23) + (1u << (shift - 1)) - 1;
  Value normal = shiftRight(make<arith::AddIOp>(make<arith::AddIOp>(finite, word(rebias)), odd), shift);
  uint32_t unit = exponent(24 - format.bias() - format.mantissaBits);
  Value sum = make<arith::AddFOp>(asReal(finite), asReal(word(unit))),
        denormal = make<arith::SubIOp>(asWord(sum), word(unit));
  Value result = select(compare(CmpIPredicate::slt, finite, word(exponent(1 - format.bias()))), denormal, normal);
  if (format.isIeee()) {
    result = select(compare(CmpIPredicate::sgt, magnitude, word(exponent(format.bias() + 1) - 1)),
                    word(format.infinity()), result);
    result = select(compare(CmpIPredicate::sgt, magnitude, word(0x7f800000)), word(format.quietNan()), result);
  }
  return make<arith::OrIOp>(result, make<arith::AndIOp>(shiftRight(bits, 32 - width), word(format.signBit())));
}

/// Rounds f64 to f32 so that a second rounding to 16 bits gives the same result as a single one: truncates, and sets
/// the last bit if anything was lost.
Value NarrowConverter::roundToOdd(Value wide) {
  Value nearest = arith::TruncFOp::create(builder, loc, f32(), wide);
  Value back = arith::ExtFOp::create(builder, loc, wide.getType(), nearest);
  auto magnitude = [&](Value x) -> Value { return math::AbsFOp::create(builder, loc, x); };
  Value above = compare(CmpFPredicate::OGT, magnitude(back), magnitude(wide));
  Value inexact = compare(CmpFPredicate::ONE, back, wide);
  Value bits = asWord(nearest);
  bits = select(above, make<arith::SubIOp>(bits, word(1)), bits);
  return asReal(select(inexact, make<arith::OrIOp>(bits, word(1)), bits));
}
