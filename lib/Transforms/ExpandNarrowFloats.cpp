//===- ExpandNarrowFloats.cpp - Narrow floats as integers -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// No narrow float type survives: memory holds i16 or i8 (so that masked moves are AVX-512BW's, whatever else the CPU has) and conversions
// are integer arithmetic or F16C. LLVM would call a library function for several of them. vcvtneps2bf16 reads denormals as zero and writes
// none: it converts whole vectors without any, which nearly all are, and a branch takes the others through integer arithmetic.
//
//===----------------------------------------------------------------------===//
#include "Support/NarrowFloat.h"
#include "Transforms/Transforms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"

#include <bit>

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace quern {
namespace {

bool isNarrow(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isBF16() || element.isF16() || isa<Float8E5M2Type, Float8E4M3FNType>(element);
}

const NarrowFormat &formatOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isBF16() ? bf16Format : element.isF16() ? f16Format : isa<Float8E5M2Type>(element) ? f8E5M2Format : f8E4M3Format;
}

/// The type with which a value of `type` is held: an integer in place of the narrow float.
Type storageType(Type type) {
  if (!isNarrow(type))
    return type;
  Type bits = IntegerType::get(type.getContext(), getElementTypeOrSelf(type).getIntOrFloatBitWidth());
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(bits);
  return bits;
}

Attribute storageAttr(Attribute attr) {
  auto bitsOf = [](const APFloat &value) { return value.bitcastToAPInt(); };
  if (auto scalar = dyn_cast<FloatAttr>(attr); scalar && isNarrow(scalar.getType()))
    return IntegerAttr::get(storageType(scalar.getType()), bitsOf(scalar.getValue()));
  if (auto dense = dyn_cast<DenseFPElementsAttr>(attr); dense && isNarrow(dense.getType()))
    return dense.mapValues(storageType(dense.getElementType()), bitsOf);
  return attr;
}

/// Emits one conversion; every method works alike on scalars and vectors.
class Converter {
public:
  Converter(Operation *op, VectorIsa isa) : builder(op), loc(op->getLoc()), shapeOf(op->getResult(0).getType()), isa(isa) {}

  Value widen(Value narrow, Type from, Type to) {
    Value single = widenToF32(narrow, getElementTypeOrSelf(from));
    if (getElementTypeOrSelf(to).isF32())
      return single;
    return arith::ExtFOp::create(builder, loc, to, single);
  }
  /// Whether two vectors become one of bf16 in one instruction.
  static bool narrowsPairs(VectorIsa isa, Type from, Type to);
  Value narrowPairToBf16(Value first, Value second);
  Value half(Value pair, int64_t which) {
    return vector::ShuffleOp::create(builder, loc, pair, pair, llvm::to_vector<16>(llvm::seq<int64_t>(16 * which, 16 * which + 16)));
  }
  Value narrow(Value wide, Type to) {
    Type element = getElementTypeOrSelf(to);
    if (getElementTypeOrSelf(wide.getType()).isF64())
      wide = roundToOdd(wide);
    if (element.isBF16())
      return narrowToBf16(wide);
    if (element.isF16() && isa >= VectorIsa::Avx2)
      return narrowByF16c(wide);
    return truncate(narrowByBits(wide, formatOf(element)), element.getIntOrFloatBitWidth());
  }

private:
  Type shaped(Type element) const {
    auto vectorType = dyn_cast<VectorType>(shapeOf);
    return vectorType ? Type(vectorType.clone(element)) : element;
  }
  Type i16() { return shaped(builder.getI16Type()); }
  Type i32() { return shaped(builder.getI32Type()); }
  Type f32() { return shaped(builder.getF32Type()); }
  Value splat(Type type, TypedAttr element) {
    if (auto vectorType = dyn_cast<VectorType>(type))
      return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(Attribute(DenseElementsAttr::get(vectorType, Attribute(element)))));
    return arith::ConstantOp::create(builder, loc, element);
  }
  Value word(uint32_t value) { return splat(i32(), builder.getI32IntegerAttr(static_cast<int32_t>(value))); }
  Value real(float value) { return splat(f32(), builder.getF32FloatAttr(value)); }
  template <typename Op> Value make(Value x, Value y) { return Op::create(builder, loc, x, y); }
  Value shiftLeft(Value x, unsigned bits) { return make<arith::ShLIOp>(x, word(bits)); }
  Value shiftRight(Value x, unsigned bits) { return make<arith::ShRUIOp>(x, word(bits)); }
  Value asWord(Value x) { return arith::BitcastOp::create(builder, loc, i32(), x); }
  Value asReal(Value x) { return arith::BitcastOp::create(builder, loc, f32(), x); }
  Value select(Value condition, Value x, Value y) { return arith::SelectOp::create(builder, loc, condition, x, y); }
  Value compare(CmpFPredicate predicate, Value x, Value y) { return arith::CmpFOp::create(builder, loc, predicate, x, y); }
  Value compare(CmpIPredicate predicate, Value x, Value y) { return arith::CmpIOp::create(builder, loc, predicate, x, y); }
  Value extend(Value half) { return arith::ExtUIOp::create(builder, loc, i32(), half); }
  Value truncate(Value x, unsigned bits) { return arith::TruncIOp::create(builder, loc, shaped(builder.getIntegerType(bits)), x); }

  Value widenToF32(Value narrow, Type from);
  Value widenBf16(Value narrow);
  Value widenF16(Value narrow);
  Value widenF8E4M3(Value narrow);
  Value anyDenormal(ValueRange wide);
  Value narrowToBf16(Value wide);
  Value narrowToBf16ByIntegers(Value wide);
  Value narrowByF16c(Value wide);
  Value narrowByBits(Value wide, const NarrowFormat &format);
  Value roundToOdd(Value wide);

  OpBuilder builder;
  Location loc;
  Type shapeOf;
  VectorIsa isa;
};

/// A word to the upper half of each lane. AVX-512 has one permutation for it, masked so that the lower halves are zero; to extend and shift
/// are two instructions for the same port.
Value Converter::widenBf16(Value narrow) {
  if (auto pairs = narrow.getDefiningOp<vector::DeinterleaveOp>()) { // the lower and the upper half of each lane of 32 bits
    Value both = vector::BitCastOp::create(builder, loc, cast<VectorType>(i32()), pairs.getSource());
    return asReal(narrow == pairs.getRes1() ? shiftLeft(both, 16) : make<arith::AndIOp>(both, word(0xffff0000)));
  }
  auto type = dyn_cast<VectorType>(narrow.getType());
  if (isa < VectorIsa::Avx512 || !type || type.getNumElements() != 16)
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
  Value spread =
      LLVM::CallIntrinsicOp::create(builder, loc, words, builder.getStringAttr("llvm.x86.avx512.permvar.hi.512"), ValueRange{widest, index})
          .getResult(0);
  Value mask = constant(DenseElementsAttr::get(words.clone(builder.getI1Type()), ArrayRef<bool>(isUpper)));
  Value zero = constant(cast<DenseElementsAttr>(builder.getZeroAttr(words)));
  return arith::BitcastOp::create(builder, loc, f32(),
                                  vector::BitCastOp::create(builder, loc, cast<VectorType>(i32()), select(mask, spread, zero)));
}

Value Converter::anyDenormal(ValueRange wide) {
  constexpr int32_t denormalClass = 0x20;
  Value classes = LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(denormalClass)), found;
  for (Value v : wide) {
    Value is = LLVM::CallIntrinsicOp::create(builder, loc, shaped(builder.getI1Type()),
                                             builder.getStringAttr("llvm.x86.avx512.fpclass.ps.512"), ValueRange{v, classes})
                   .getResult(0);
    found = found ? make<arith::OrIOp>(found, is) : is;
  }
  return vector::ReductionOp::create(builder, loc, vector::CombiningKind::OR, found);
}

Value Converter::narrowToBf16(Value wide) {
  auto type = dyn_cast<VectorType>(wide.getType());
  if (isa < VectorIsa::Avx512Bf16 || !type || type.getNumElements() != 16)
    return narrowToBf16ByIntegers(wide);
  auto branch = scf::IfOp::create(builder, loc, i16(), anyDenormal(wide), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, narrowToBf16ByIntegers(wide));
  builder.setInsertionPointToStart(branch.elseBlock());
  Value bf16 = arith::TruncFOp::create(builder, loc, shaped(builder.getBF16Type()), wide);
  scf::YieldOp::create(builder, loc, arith::BitcastOp::create(builder, loc, i16(), bf16).getResult());
  return branch.getResult(0);
}

bool Converter::narrowsPairs(VectorIsa isa, Type from, Type to) {
  auto type = dyn_cast<VectorType>(from);
  return isa >= VectorIsa::Avx512Bf16 && type && type.getShape() == ArrayRef<int64_t>{16} && type.getElementType().isF32() &&
         getElementTypeOrSelf(to).isBF16();
}

/// One test, one conversion and, where the halves are neighbours in memory, one store for two vectors.
Value Converter::narrowPairToBf16(Value first, Value second) {
  VectorType words = VectorType::get({32}, builder.getI16Type()), bf16 = words.clone(builder.getBF16Type());
  auto branch = scf::IfOp::create(builder, loc, words, anyDenormal({first, second}), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  SmallVector<int64_t, 32> lanes = llvm::to_vector<32>(llvm::seq<int64_t>(0, 32));
  Value low = narrowToBf16ByIntegers(first), high = narrowToBf16ByIntegers(second);
  scf::YieldOp::create(builder, loc, vector::ShuffleOp::create(builder, loc, low, high, lanes).getResult());
  builder.setInsertionPointToStart(branch.elseBlock());
  Value pair = LLVM::CallIntrinsicOp::create(builder, loc, bf16, builder.getStringAttr("llvm.x86.avx512bf16.cvtne2ps2bf16.512"),
                                             ValueRange{second, first})
                   .getResult(0);
  scf::YieldOp::create(builder, loc, arith::BitcastOp::create(builder, loc, words, pair).getResult());
  return branch.getResult(0);
}

/// Nearest even by adding half of the last place, less one if the place is even. A NaN keeps its upper half and becomes quiet, as
/// vcvtneps2bf16 has it: which of the two a vector takes depends on its other lanes.
Value Converter::narrowToBf16ByIntegers(Value wide) {
  Value bits = asWord(wide);
  Value odd = make<arith::AndIOp>(shiftRight(bits, 16), word(1));
  Value rounded = make<arith::AddIOp>(bits, make<arith::AddIOp>(odd, word(0x7fff)));
  rounded = select(compare(CmpFPredicate::UNO, wide, wide), make<arith::OrIOp>(bits, word(0x00400000)), rounded);
  return truncate(shiftRight(rounded, 16), 16);
}

/// Multiplying by 2^112 rebiases the exponent, denormals included; infinities and NaN get their exponent back afterwards.
Value Converter::widenF16(Value narrow) {
  if (isa >= VectorIsa::Avx2) {
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

/// The exponent has one bit less than f16's: a shift makes an f16 of it, too small by 2^8. The largest pattern, 480 by the rule, is NaN.
Value Converter::widenF8E4M3(Value narrow) {
  Value real;
  if (isa >= VectorIsa::Avx2) {
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
  return select(compare(CmpFPredicate::OEQ, magnitude, this->real(480)), asReal(word(0x7fc00000)), real);
}

Value Converter::widenToF32(Value narrow, Type from) {
  if (from.isBF16())
    return widenBf16(narrow);
  if (from.isF16())
    return widenF16(narrow);
  if (mlir::isa<Float8E4M3FNType>(from))
    return widenF8E4M3(narrow);
  // f8E5M2 is the upper half of an f16.
  Value half = arith::ExtUIOp::create(builder, loc, i16(), narrow);
  return widenF16(make<arith::ShLIOp>(half, splat(i16(), builder.getI16IntegerAttr(8))));
}

Value Converter::narrowByF16c(Value wide) {
  Value half = arith::TruncFOp::create(builder, loc, shaped(builder.getF16Type()), wide);
  return arith::BitcastOp::create(builder, loc, i16(), half);
}

/// Three ranges: what overflows or is not finite, results that are normal (integer rounding), denormal results (rounded by the float adder
/// against a number whose last place is the denormals' unit). A format without infinity saturates first.
Value Converter::narrowByBits(Value wide, const NarrowFormat &format) {
  unsigned shift = 23 - format.mantissaBits, width = 1 + format.exponentBits + format.mantissaBits;
  auto exponent = [](int of) { return static_cast<uint32_t>(127 + of) << 23; };
  Value bits = asWord(wide), magnitude = make<arith::AndIOp>(bits, word(0x7fffffff)), finite = magnitude;
  if (!format.isIeee) {
    Value largest = word(std::bit_cast<uint32_t>(static_cast<float>(decodeNarrow(format.largest(), format))));
    finite = make<arith::MinSIOp>(magnitude, largest);
  }
  Value odd = make<arith::AndIOp>(shiftRight(finite, shift), word(1));
  uint32_t rebias = (static_cast<uint32_t>(format.bias() - 127) << 23) + (1u << (shift - 1)) - 1;
  Value normal = shiftRight(make<arith::AddIOp>(make<arith::AddIOp>(finite, word(rebias)), odd), shift);
  uint32_t unit = exponent(24 - format.bias() - format.mantissaBits);
  Value sum = make<arith::AddFOp>(asReal(finite), asReal(word(unit))), denormal = make<arith::SubIOp>(asWord(sum), word(unit));
  Value result = select(compare(CmpIPredicate::slt, finite, word(exponent(1 - format.bias()))), denormal, normal);
  if (format.isIeee)
    result = select(compare(CmpIPredicate::sgt, magnitude, word(exponent(format.bias() + 1) - 1)), word(format.infinity()), result);
  result = select(compare(CmpIPredicate::sgt, magnitude, word(0x7f800000)), word(format.quietNan()), result);
  return make<arith::OrIOp>(result, make<arith::AndIOp>(shiftRight(bits, 32 - width), word(format.signBit())));
}

/// f64 to f32 so that a second rounding to 16 bits gives what one rounding would: truncate, and make the last bit odd if anything was lost.
Value Converter::roundToOdd(Value wide) {
  Value nearest = arith::TruncFOp::create(builder, loc, f32(), wide);
  Value back = arith::ExtFOp::create(builder, loc, wide.getType(), nearest);
  auto magnitude = [&](Value x) -> Value { return math::AbsFOp::create(builder, loc, x); };
  Value above = compare(CmpFPredicate::OGT, magnitude(back), magnitude(wide));
  Value inexact = compare(CmpFPredicate::ONE, back, wide);
  Value bits = asWord(nearest);
  bits = select(above, make<arith::SubIOp>(bits, word(1)), bits);
  return asReal(select(inexact, make<arith::OrIOp>(bits, word(1)), bits));
}

bool touchesNarrow(Operation *op) { return llvm::any_of(op->getOperandTypes(), isNarrow) || llvm::any_of(op->getResultTypes(), isNarrow); }

/// Whether `op` means the same on integers as on narrow floats: it moves bits.
LogicalResult checkMovesBits(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  bool moves = llvm::is_contained({"vector", "memref", "scf", "func", "cf", "ub"}, dialect) ||
               isa<arith::ConstantOp, arith::SelectOp, arith::BitcastOp, arith::ExtFOp, arith::TruncFOp>(op);
  bool computes = isa<vector::ReductionOp, vector::MultiDimReductionOp, vector::ContractionOp, vector::OuterProductOp, vector::FMAOp,
                      vector::ScanOp, memref::AtomicRMWOp>(op);
  if (moves && !computes)
    return success();
  return op->emitError("expand-narrow-floats: '") << op->getName() << "' computes in a narrow float; convert to f32 first";
}

void retype(Operation *op) {
  for (Value result : op->getResults())
    result.setType(storageType(result.getType()));
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        argument.setType(storageType(argument.getType()));
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    constant.setValueAttr(cast<TypedAttr>(storageAttr(constant.getValue())));
}

/// Whether `first` could stand where `second` does, later in the same block.
bool canSinkTo(Operation *first, Operation *second) {
  return first->getBlock() == second->getBlock() && llvm::all_of(first->getUsers(), [&](Operation *user) {
           Operation *here = first->getBlock()->findAncestorOpInBlock(*user);
           return here && second->isBeforeInBlock(here);
         });
}

} // namespace

LogicalResult expandNarrowFloats(func::FuncOp function, VectorIsa isa) {
  SmallVector<Operation *> touched, conversions;
  WalkResult walked = function.walk([&](Operation *op) {
    bool narrowBlock = llvm::any_of(op->getRegions(), [](Region &region) {
      return llvm::any_of(region, [](Block &block) { return llvm::any_of(block.getArgumentTypes(), isNarrow); });
    });
    if (!narrowBlock && !touchesNarrow(op))
      return WalkResult::advance();
    if (op != function && failed(checkMovesBits(op)))
      return WalkResult::interrupt();
    bool converts = mlir::isa<arith::ExtFOp, arith::TruncFOp>(op);
    (converts ? conversions : touched).push_back(op);
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  // Retype first: a conversion's own operations mix f16 (for F16C) with i16 and must not be retyped again.
  SmallVector<std::pair<Type, Type>> types;
  for (Operation *op : conversions)
    types.emplace_back(op->getOperand(0).getType(), op->getResult(0).getType());
  for (Operation *op : touched)
    retype(op);
  auto replace = [](Operation *op, Value by) {
    op->getResult(0).replaceAllUsesWith(by);
    op->erase();
  };
  auto pairs = [&](size_t i) { return conversions[i] && Converter::narrowsPairs(isa, types[i].first, types[i].second); };
  for (size_t i = 0; i < conversions.size(); ++i) {
    Operation *op = conversions[i];
    if (!op)
      continue; // done with an earlier one
    size_t j = i + 1;
    while (pairs(i) && j < conversions.size() && !pairs(j))
      ++j;
    if (pairs(i) && j < conversions.size() && canSinkTo(op, conversions[j])) {
      Operation *second = std::exchange(conversions[j], nullptr);
      Converter converter(second, isa);
      Value pair = converter.narrowPairToBf16(op->getOperand(0), second->getOperand(0));
      replace(op, converter.half(pair, 0));
      replace(second, converter.half(pair, 1));
      continue;
    }
    Converter converter(op, isa);
    Value x = op->getOperand(0);
    auto [from, to] = types[i];
    replace(op, isNarrow(from) ? converter.widen(x, from, to) : converter.narrow(x, to));
  }
  auto mapTypes = [](TypeRange range) { return llvm::map_to_vector(range, storageType); };
  FunctionType type = function.getFunctionType();
  function.setFunctionType(FunctionType::get(function.getContext(), mapTypes(type.getInputs()), mapTypes(type.getResults())));
  return success();
}

namespace {
struct ExpandNarrowFloatsPass : PassWrapper<ExpandNarrowFloatsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandNarrowFloatsPass)
  ExpandNarrowFloatsPass() = default;
  explicit ExpandNarrowFloatsPass(VectorIsa level) { isa = nameOfVectorIsa(level).str(); }
  ExpandNarrowFloatsPass(const ExpandNarrowFloatsPass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "quern-expand-narrow-floats"; }
  StringRef getDescription() const override { return "Hold bf16, f16 and f8 as integers and convert by integer arithmetic or F16C"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
  }
  void runOnOperation() override {
    auto level = vectorIsaFromName(isa);
    if (!level) {
      getOperation().emitError("quern-expand-narrow-floats: isa='") << isa << "': sse42, avx2, avx512 or avx512_bf16";
      return signalPassFailure();
    }
    if (failed(expandNarrowFloats(getOperation(), *level)))
      signalPassFailure();
  }

  Option<std::string> isa{*this, "isa", llvm::cl::desc("sse42, avx2, avx512 or avx512_bf16"), llvm::cl::init("avx512")};
};
} // namespace

std::unique_ptr<Pass> createExpandNarrowFloatsPass(VectorIsa isa) { return std::make_unique<ExpandNarrowFloatsPass>(isa); }

} // namespace quern
