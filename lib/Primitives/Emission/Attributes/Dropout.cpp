//===- Dropout.cpp - Emission of dropout masks and their application ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The random numbers are those of Philox 4x32-10 (Salmon et al., SC11), with the counters and keys of oneDNN. Its words
// are in the low halves of i64, so that a product of two words is one instruction; the high halves are ignored.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Emission/Attributes/Dropout.h"

#include "Primitives/Arguments.h"
#include "Primitives/Emission/Arithmetic/Convert.h"
#include "Primitives/Emission/Tensors.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <algorithm>
#include <iterator>

using namespace mlir;
using namespace quern;
using namespace quern::emission;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace {

constexpr int64_t lowHalf = 0xffffffff;

/// Arithmetic on i64 at the builder's insertion point.
struct Words {
  OpBuilder &b;
  Location at;
  Value number(int64_t value) { return arith::ConstantOp::create(b, at, b.getI64IntegerAttr(value)); }
  Value low(Value x) { return arith::AndIOp::create(b, at, x, number(lowHalf)); }
  Value high(Value x) { return arith::ShRUIOp::create(b, at, x, number(32)); }
  Value add(Value x, int64_t y) { return arith::AddIOp::create(b, at, x, number(y)); }
  Value mix(Value x, Value y, Value key) {
    return arith::XOrIOp::create(b, at, arith::XOrIOp::create(b, at, x, y), key);
  }
  Value select(Value condition, Value x, Value y) { return arith::SelectOp::create(b, at, condition, x, y); }
};

/// Values from which each element's random number is computed; emitted once, before the op.
struct Sequence {
  static constexpr int rounds = 10;
  Value keys[rounds][2];
  Value offset, isAtStart; ///< position in the sequence; true if that is 0; both null without an offset
  Value threshold;         ///< unsigned 32-bit number; elements with a greater random number are kept
};

/// Returns the only element of an integer argument, as i64.
Value loadInteger(FunctionEmitter &function, int32_t index) {
  OpBuilder &b = function.builder;
  Value zero = arith::ConstantIndexOp::create(b, function.loc, 0);
  Value loaded = memref::LoadOp::create(b, function.loc, function.find(index), zero);
  return loaded.getType().isInteger(64) ? loaded
                                        : arith::ExtSIOp::create(b, function.loc, b.getI64Type(), loaded).getResult();
}

/// Emits floor(p (2^32 - 1)) for p clamped to [0, 1], in f32 and integers: p 2^32 is exact, and p is subtracted from
/// it. NaN counts as 1, so that no element is kept.
Value thresholdOf(FunctionEmitter &function) {
  OpBuilder &b = function.builder;
  Location at = function.loc;
  FloatType f32 = b.getF32Type();
  Value one = function.constant(f32, 1), zero = function.constant(f32, 0);
  Value p = function.loadScalar(arg::dropoutProbability, f32);
  p = arith::SelectOp::create(b, at, arith::CmpFOp::create(b, at, CmpFPredicate::OLT, p, one), p, one);
  p = arith::SelectOp::create(b, at, arith::CmpFOp::create(b, at, CmpFPredicate::OGT, p, zero), p, zero);
  Value scaled = arith::MulFOp::create(b, at, p, function.constant(f32, 0x1p32));
  Value whole = arith::FPToSIOp::create(b, at, b.getI64Type(), scaled);
  Value rest = arith::SubFOp::create(b, at, scaled, arith::SIToFPOp::create(b, at, f32, whole));
  Value isLess = arith::CmpFOp::create(b, at, CmpFPredicate::OLT, rest, p);
  return arith::SubIOp::create(b, at, whole, arith::ExtUIOp::create(b, at, b.getI64Type(), isLess));
}

Sequence sequenceOf(FunctionEmitter &function) {
  constexpr int64_t steps[] = {0x9E3779B9, 0xBB67AE85};
  Words words{function.builder, function.loc};
  Sequence sequence;
  sequence.threshold = thresholdOf(function);
  Value seed = loadInteger(function, arg::dropoutSeed);
  Value keys[] = {words.low(seed), words.low(seed)};
  if (function.find(arg::dropoutOffset)) {
    sequence.offset = loadInteger(function, arg::dropoutOffset);
    sequence.isAtStart = arith::CmpIOp::create(words.b, words.at, CmpIPredicate::eq, sequence.offset, words.number(0));
    keys[1] = words.select(sequence.isAtStart, keys[0], words.high(seed));
  }
  for (auto &key : sequence.keys)
    for (int i = 0; i < 2; ++i) {
      key[i] = keys[i];
      keys[i] = words.low(words.add(keys[i], steps[i]));
    }
  return sequence;
}

void permute(Words words, const Sequence &sequence, Value (&c)[4]) {
  for (const auto &key : sequence.keys) {
    Value a = arith::MulIOp::create(words.b, words.at, words.low(c[0]), words.number(0xD2511F53));
    Value b = arith::MulIOp::create(words.b, words.at, words.low(c[2]), words.number(0xCD9E8D57));
    Value next[] = {words.mix(words.high(b), c[1], key[0]), b, words.mix(words.high(a), c[3], key[1]), a};
    std::copy(std::begin(next), std::end(next), c);
  }
}

/// Returns four bytes, 1 or 0, for the elements from `position` on, a multiple of 4. The four elements use the words of
/// one counter; without an offset, or if it is 0, they all use word 2.
Value keptFrom(Words words, const Sequence &sequence, Value position) {
  auto exceeds = [&](Value word) -> Value {
    return arith::CmpIOp::create(words.b, words.at, CmpIPredicate::ugt, words.low(word), sequence.threshold);
  };
  auto bytes = [&](int32_t value) -> Value {
    return arith::ConstantOp::create(words.b, words.at, words.b.getI32IntegerAttr(value));
  };
  Value c[] = {position, words.add(position, 1), position, words.add(position, 3)};
  if (!sequence.offset) {
    permute(words, sequence, c);
    return words.select(exceeds(c[2]), bytes(0x01010101), bytes(0));
  }
  const Value offsetCounter[] = {sequence.offset, words.high(sequence.offset), position, words.high(position)};
  for (int i : {0, 1, 3})
    c[i] = words.select(sequence.isAtStart, c[i], offsetCounter[i]);
  permute(words, sequence, c);
  Value kept;
  for (int i = 0; i < 4; ++i) {
    Value word = i == 2 ? c[2] : words.select(sequence.isAtStart, c[2], c[i]);
    Value byte = words.select(exceeds(word), bytes(1 << 8 * i), bytes(0));
    kept = kept ? arith::OrIOp::create(words.b, words.at, kept, byte).getResult() : byte;
  }
  return kept;
}

/// Returns the size of the mask in scratch, whose bytes are written four at a time.
int64_t bytesInScratch(const TensorDesc &mask) { return llvm::alignTo(mask.elements(), 4); }

const ArgumentInfo &find(const VerifiedProblem &problem, int32_t index) {
  return *llvm::find_if(problem.arguments, [&](const ArgumentInfo &argument) { return argument.index == index; });
}

/// The caller's mask is a copy, because it may start at any byte.
void emitCopy(ModuleOp module, const VerifiedProblem &problem) {
  FunctionEmitter function(module, problem, "dropout_mask", argumentTypes(problem, module.getContext()));
  ArrayRef<int64_t> space = find(problem, arg::dropoutMask).desc.shape();
  function.elementwise(space, function.tensor(keptMask, space), function.tensor(arg::dropoutMask, space),
                       [&](OpBuilder &, Location, ValueRange in, Value) { return in[0]; });
  function.finish();
}

} // namespace

VerifiedProblem emission::withDropoutMask(const VerifiedProblem &problem) {
  VerifiedProblem extended = problem;
  const TensorDesc kept = *TensorDesc::dense(find(problem, arg::dst).desc.shape(), DataType::U8);
  extended.arguments.push_back({keptMask, "dropout.kept", kept});
  return extended;
}

void emission::emitDropoutMask(ModuleOp module, const VerifiedProblem &problem) {
  const ArgumentInfo &kept = find(problem, keptMask);
  const int64_t count = bytesInScratch(kept.desc) / 4;
  Builder builder(module.getContext());
  SmallVector<Type> types = argumentTypes(problem, module.getContext());
  types[&kept - problem.arguments.data()] = MemRefType::get({count}, builder.getI32Type());
  FunctionEmitter function(module, problem, "dropout", types);
  const Sequence sequence = sequenceOf(function);
  const Operand output{function.find(keptMask), builder.getMultiDimIdentityMap(1)};
  function.elementwise({count}, {}, output, [&](OpBuilder &b, Location at, ValueRange, Value) {
    Words words{b, at};
    Value four = arith::IndexCastOp::create(b, at, b.getI64Type(), linalg::IndexOp::create(b, at, 0));
    return keptFrom(words, sequence, arith::ShLIOp::create(b, at, four, words.number(2)));
  });
  function.finish();
  if (!problem.desc.attr.dropout.mask.isZero())
    emitCopy(module, problem);
}

void emission::emitDropoutProgram(ModuleOp module, const VerifiedProblem &problem) {
  MLIRContext *context = module.getContext();
  const ArgumentInfo &kept = find(problem, keptMask);
  SmallVector<Attribute> steps{
      RegionAttr::get(context, kept.name, getAffineConstantExpr(bytesInScratch(kept.desc), context))};
  for (auto function : module.getOps<func::FuncOp>())
    steps.push_back(callOf(function));
  module->setAttr(ProgramAttr::name, ProgramAttr::get(context, steps));
}

DropoutStep::DropoutStep(FunctionEmitter &function, ArrayRef<int64_t> space, FloatType compute,
                         SmallVectorImpl<Operand> &inputs) {
  if (!function.find(keptMask))
    return;
  OpBuilder &b = function.builder;
  FloatType f32 = b.getF32Type();
  Value one = function.constant(f32, 1), p = function.loadScalar(arg::dropoutProbability, f32);
  Value quotient = arith::DivFOp::create(b, function.loc, one, arith::SubFOp::create(b, function.loc, one, p));
  Value isOne = arith::CmpFOp::create(b, function.loc, CmpFPredicate::OEQ, p, one);
  factor = arith::SelectOp::create(b, function.loc, isOne, function.constant(f32, 0), quotient);
  if (compute != f32)
    factor = arith::ExtFOp::create(b, function.loc, compute, factor);
  mask = static_cast<int>(inputs.size());
  inputs.push_back(function.tensor(keptMask, space));
}

Value DropoutStep::apply(OpBuilder &builder, Location loc, Value value, ValueRange elements) const {
  if (mask < 0)
    return value;
  Value none = arith::ConstantOp::create(builder, loc, builder.getI8IntegerAttr(0));
  Value isKept = arith::CmpIOp::create(builder, loc, CmpIPredicate::ne, elements[mask], none);
  Value zero = arith::ConstantOp::create(builder, loc, builder.getFloatAttr(value.getType(), 0));
  return arith::SelectOp::create(builder, loc, isKept, arith::MulFOp::create(builder, loc, value, factor), zero);
}
