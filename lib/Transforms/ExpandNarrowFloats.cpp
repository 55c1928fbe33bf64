//===- ExpandNarrowFloats.cpp - bf16 and f16 as 16-bit integers -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// No narrow float type survives: memory holds i16 (so that masked moves are AVX-512BW's, whatever else the CPU has) and conversions are
// integer arithmetic or F16C. LLVM would call a library function for several of them. vcvtneps2bf16 reads denormals as zero and writes
// none: it converts whole vectors without any, which nearly all are, and a branch takes the others through integer arithmetic.
//
//===----------------------------------------------------------------------===//
#include "Transforms/Transforms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace quern {
namespace {

bool isNarrow(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isBF16() || element.isF16();
}

/// The type with which a value of `type` is held: i16 in place of the narrow float.
Type storageType(Type type) {
  if (!isNarrow(type))
    return type;
  Type i16 = IntegerType::get(type.getContext(), 16);
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(i16);
  return i16;
}

Attribute storageAttr(Attribute attr) {
  auto bitsOf = [](const APFloat &value) { return value.bitcastToAPInt(); };
  if (auto scalar = dyn_cast<FloatAttr>(attr); scalar && isNarrow(scalar.getType()))
    return IntegerAttr::get(storageType(scalar.getType()), bitsOf(scalar.getValue()));
  if (auto dense = dyn_cast<DenseFPElementsAttr>(attr); dense && isNarrow(dense.getType()))
    return dense.mapValues(IntegerType::get(attr.getContext(), 16), bitsOf);
  return attr;
}

/// Emits one conversion; every method works alike on scalars and vectors.
class Converter {
public:
  Converter(Operation *op, VectorIsa isa) : builder(op), loc(op->getLoc()), shapeOf(op->getResult(0).getType()), isa(isa) {}

  Value widen(Value narrow, Type from, Type to) {
    Value single = getElementTypeOrSelf(from).isBF16() ? widenBf16(narrow) : widenF16(narrow);
    if (getElementTypeOrSelf(to).isF32())
      return single;
    return arith::ExtFOp::create(builder, loc, to, single);
  }
  Value narrow(Value wide, Type to) {
    if (getElementTypeOrSelf(wide.getType()).isF64())
      wide = roundToOdd(wide);
    return getElementTypeOrSelf(to).isBF16() ? narrowToBf16(wide) : narrowToF16(wide);
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
  Value truncate(Value x) { return arith::TruncIOp::create(builder, loc, i16(), x); }

  Value widenBf16(Value narrow);
  Value narrowToBf16(Value wide);
  Value narrowToBf16ByIntegers(Value wide);
  Value widenF16(Value narrow);
  Value narrowToF16(Value wide);
  Value roundToOdd(Value wide);

  OpBuilder builder;
  Location loc;
  Type shapeOf;
  VectorIsa isa;
};

/// A word to the upper half of each lane. AVX-512 has one permutation for it, masked so that the lower halves are zero; to extend and shift
/// are two instructions for the same port.
Value Converter::widenBf16(Value narrow) {
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

Value Converter::narrowToBf16(Value wide) {
  auto type = dyn_cast<VectorType>(wide.getType());
  if (isa < VectorIsa::Avx512Bf16 || !type || type.getNumElements() != 16)
    return narrowToBf16ByIntegers(wide);
  constexpr int32_t denormalClass = 0x20;
  Value denormals = LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(denormalClass));
  Value isDenormal = LLVM::CallIntrinsicOp::create(builder, loc, shaped(builder.getI1Type()),
                                                   builder.getStringAttr("llvm.x86.avx512.fpclass.ps.512"), ValueRange{wide, denormals})
                         .getResult(0);
  Value any = vector::ReductionOp::create(builder, loc, vector::CombiningKind::OR, isDenormal);
  auto branch = scf::IfOp::create(builder, loc, i16(), any, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, narrowToBf16ByIntegers(wide));
  builder.setInsertionPointToStart(branch.elseBlock());
  Value bf16 = arith::TruncFOp::create(builder, loc, shaped(builder.getBF16Type()), wide);
  scf::YieldOp::create(builder, loc, arith::BitcastOp::create(builder, loc, i16(), bf16).getResult());
  return branch.getResult(0);
}

/// Nearest even by adding half of the last place, less one if the place is even.
Value Converter::narrowToBf16ByIntegers(Value wide) {
  Value bits = asWord(wide);
  Value odd = make<arith::AndIOp>(shiftRight(bits, 16), word(1));
  Value rounded = make<arith::AddIOp>(bits, make<arith::AddIOp>(odd, word(0x7fff)));
  rounded = select(compare(CmpFPredicate::UNO, wide, wide), word(0x7fc00000), rounded);
  return truncate(shiftRight(rounded, 16));
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

/// Three ranges: what overflows or is not finite, results that are normal (integer rounding), denormal results (rounded by the float adder
/// against 0.5, whose last place is the denormals' unit).
Value Converter::narrowToF16(Value wide) {
  if (isa >= VectorIsa::Avx2) {
    Value half = arith::TruncFOp::create(builder, loc, shaped(builder.getF16Type()), wide);
    return arith::BitcastOp::create(builder, loc, i16(), half);
  }
  Value bits = asWord(wide);
  Value magnitude = make<arith::AndIOp>(bits, word(0x7fffffff));
  Value odd = make<arith::AndIOp>(shiftRight(magnitude, 13), word(1));
  Value normal = make<arith::AddIOp>(make<arith::AddIOp>(magnitude, word(0xc8000fff)), odd);
  normal = shiftRight(normal, 13);
  Value denormal = make<arith::SubIOp>(asWord(make<arith::AddFOp>(asReal(magnitude), real(0.5f))), word(0x3f000000));
  Value result = select(compare(CmpIPredicate::slt, magnitude, word(0x38800000)), denormal, normal);
  Value special = select(compare(CmpIPredicate::sgt, magnitude, word(0x7f800000)), word(0x7e00), word(0x7c00));
  result = select(compare(CmpIPredicate::sgt, magnitude, word(0x477fffff)), special, result);
  return truncate(make<arith::OrIOp>(result, make<arith::AndIOp>(shiftRight(bits, 16), word(0x8000))));
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

/// Whether `op` means the same on i16 as on a narrow float: it moves bits.
LogicalResult checkMovesBits(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  bool moves = llvm::is_contained({"vector", "memref", "scf", "func", "cf", "ub"}, dialect) ||
               isa<arith::ConstantOp, arith::SelectOp, arith::BitcastOp, arith::ExtFOp, arith::TruncFOp>(op);
  bool computes = isa<vector::ReductionOp, vector::MultiDimReductionOp, vector::ContractionOp, vector::OuterProductOp, vector::FMAOp,
                      vector::ScanOp, memref::AtomicRMWOp>(op);
  if (moves && !computes)
    return success();
  return op->emitError("expand-narrow-floats: '") << op->getName() << "' computes in a 16-bit float; convert to f32 first";
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
  for (auto [op, fromTo] : llvm::zip_equal(conversions, types)) {
    auto [from, to] = fromTo;
    Converter converter(op, isa);
    Value x = op->getOperand(0);
    Value result = isNarrow(from) ? converter.widen(x, from, to) : converter.narrow(x, to);
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
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
  StringRef getDescription() const override { return "Hold bf16 and f16 as i16 and convert by integer arithmetic or F16C"; }
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
