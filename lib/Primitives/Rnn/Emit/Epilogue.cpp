//===- Epilogue.cpp - The elementwise op after a cell's products ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Primitives/Rnn/Emit/Epilogue.h"

#include "Primitives/Rnn/Emit/Weights.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace quern;
using namespace quern::emission;
using namespace quern::rnn;

namespace {

constexpr auto contracted = arith::FastMathFlags::reassoc | arith::FastMathFlags::contract;

} // namespace

Value rnn::emitStored(OpBuilder &b, Location loc, const CellContext &context, Value number) {
  if (isQuantized(context.rnn)) {
    auto constant = [&](float value) { return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value)); };
    number = arith::MulFOp::create(b, loc, number, constant(context.attr.rnn.dataScale), contracted);
    if (context.isShifted())
      number = arith::AddFOp::create(b, loc, number, constant(context.attr.rnn.dataShift), contracted);
  }
  Value state = narrowed(b, loc, number, context.state());
  return context.memory == context.state() ? state : widened(b, loc, state, context.state(), b.getF32Type());
}

Value rnn::emitNumber(OpBuilder &b, Location loc, const CellContext &context, Value stored) {
  Value number = widened(b, loc, stored, context.memory, b.getF32Type());
  if (!isQuantized(context.rnn))
    return number;
  auto constant = [&](float value) { return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value)); };
  if (context.isShifted())
    number = arith::SubFOp::create(b, loc, number, constant(context.attr.rnn.dataShift));
  return arith::DivFOp::create(b, loc, number, constant(context.attr.rnn.dataScale));
}

Value rnn::emitState(OpBuilder &b, Location loc, const CellContext &context, Value state, DataType from, DataType to) {
  if (from == to || !isQuantized(context.rnn))
    return converted(b, loc, state, from, to, b.getF32Type());
  return to == DataType::F32 ? emitNumber(b, loc, context, state) : emitStored(b, loc, context, state);
}

Epilogue::Epilogue(StepEmitter &step, const CellContext &context, int64_t channels)
    : step(step), context(context), channels(channels), n(step.builder.getAffineDimExpr(0)),
      o(step.builder.getAffineDimExpr(1)), loc(step.locationOf("gates and state")) {}

Ref Epilogue::add(Value memref, ArrayRef<AffineExpr> address) {
  inputs.push_back(memref);
  inputMaps.push_back(AffineMap::get(2, 0, address, step.builder.getContext()));
  return static_cast<Ref>(inputs.size()) - 1;
}

/// Returns the correction of a gate's sums for shifted bytes, per channel: -shift times the sum of the weights. If the
/// shift is an integer, so are sums and corrections, and their total is exact even after cancellation.
Value Epilogue::shiftOf(const Gate &which) {
  OpBuilder &outer = step.builder;
  SmallVector<Value> operands;
  for (auto [name, isPart] : {std::pair{"w_sums", which.ofX && !which.isProjection},
                              {"u_sums", which.ofH && !which.isProjection},
                              {"r_sums", which.isProjection}})
    if (isPart)
      operands.push_back(step[name]);
  SmallVector<AffineMap> maps(
      operands.size(), AffineMap::get(1, 0, {constant(which.gate), outer.getAffineDimExpr(0)}, outer.getContext()));
  maps.push_back(outer.getMultiDimIdentityMap(1));
  Value result = memref::AllocOp::create(outer, loc, MemRefType::get({channels}, outer.getF32Type()));
  linalg::GenericOp::create(outer, loc, operands, ValueRange{result}, maps, utils::IteratorType::parallel,
                            [&](OpBuilder &inner, Location, ValueRange in) {
                              b = &inner;
                              Value sum = in.size() == 3 ? add(in[0], in[1]) : in[0];
                              linalg::YieldOp::create(inner, loc,
                                                      mul(sum, f32(-static_cast<double>(context.attr.rnn.dataShift))));
                            });
  return result;
}

Ref Epilogue::rowOf(StringRef name, int64_t row) {
  if (step.has(name))
    return add(step[name], {constant(row), o});
  const std::string own = (name + Twine(row)).str();
  return step.has(own) ? channel(step[own]) : -1;
}

GateInput Epilogue::gate(const Gate &which) {
  const std::string number = std::to_string(which.gate);
  GateInput input;
  if (which.sums.memref) {
    Value live = withoutPadding(step, which.sums, which.view);
    if (which.sums.gates > 1)
      input.sum = add(live, {n, constant(which.gate - which.sums.firstGate), o});
    else
      input.sum = add(live, {n, o});
  } else if (which.ofH) {
    input.sum = elementOf("h" + number);
  }
  if (which.ofX && !which.isProjection)
    input.inputs = step.has("inputs") ? gateOf(step["inputs"], which.gate) : elementOf("x" + number);
  if (context.isShifted())
    input.shift = channel(shiftOf(which));
  input.scale = rowOf("scales", which.gate);
  input.commonScale = commonScaleOf(context.attr.rnn, which.isProjection);
  if (!which.isProjection)
    input.bias = rowOf("bias", which.biasRow);
  return input;
}

void Epilogue::output(Value memref, std::optional<int64_t> gate) {
  SmallVector<AffineExpr> address = {n, o};
  if (gate)
    address.insert(address.begin() + 1, constant(*gate));
  outputs.push_back(memref);
  outputMaps.push_back(AffineMap::get(2, 0, address, step.builder.getContext()));
}

void Epilogue::emit(Body body) {
  SmallVector<AffineMap> maps = inputMaps;
  maps.append(outputMaps);
  SmallVector<utils::IteratorType> kinds(2, utils::IteratorType::parallel);
  linalg::GenericOp::create(step.builder, loc, inputs, outputs, maps, kinds,
                            [&](OpBuilder &inner, Location at, ValueRange in) {
                              b = &inner, elements = in;
                              linalg::YieldOp::create(inner, at, body());
                            });
}

Value Epilogue::read(Ref ref) { return elements[static_cast<size_t>(ref)]; }

Value Epilogue::number(Value element) {
  return element.getType().isF32() ? element : Value(arith::ExtFOp::create(*b, loc, b->getF32Type(), element));
}

Value Epilogue::number(const GateInput &input) {
  const bool isInteger = isQuantized(context.rnn);
  Value sum = read(input.sum >= 0 ? input.sum : input.inputs);
  if (input.sum >= 0 && input.inputs >= 0)
    sum =
        isInteger ? arith::AddIOp::create(*b, loc, sum, read(input.inputs)).getResult() : add(sum, read(input.inputs));
  if (isInteger) {
    sum = arith::SIToFPOp::create(*b, loc, b->getF32Type(), sum);
    if (input.shift >= 0)
      sum = arith::AddFOp::create(*b, loc, sum, read(input.shift));
    sum = mul(sum, input.scale >= 0 ? read(input.scale) : f32(input.commonScale));
  }
  return input.bias >= 0 ? add(sum, number(input.bias)) : sum;
}

Value Epilogue::f32(double value) {
  return arith::ConstantOp::create(*b, loc, b->getF32FloatAttr(static_cast<float>(value)));
}
Value Epilogue::add(Value x, Value y) { return arith::AddFOp::create(*b, loc, x, y, contracted); }
Value Epilogue::sub(Value x, Value y) { return arith::SubFOp::create(*b, loc, x, y, contracted); }
Value Epilogue::mul(Value x, Value y) { return arith::MulFOp::create(*b, loc, x, y, contracted); }

/// Computes 1 / (1 + exp(-x)); the result is 0 if the exponential overflows.
Value Epilogue::sigmoid(Value x) {
  Value one = f32(1), power = math::ExpOp::create(*b, loc, arith::NegFOp::create(*b, loc, x));
  return arith::DivFOp::create(*b, loc, one, arith::AddFOp::create(*b, loc, power, one));
}

Value Epilogue::tanh(Value x) { return math::TanhOp::create(*b, loc, x); }

Value Epilogue::activation(Value x) {
  const RnnDesc &rnn = context.rnn;
  if (rnn.activation == Alg::EltwiseTanh)
    return tanh(x);
  if (rnn.activation != Alg::EltwiseRelu)
    return sigmoid(x);
  Value isPositive = arith::CmpFOp::create(*b, loc, arith::CmpFPredicate::OGT, x, f32(0));
  return arith::SelectOp::create(*b, loc, isPositive, x, arith::MulFOp::create(*b, loc, x, f32(rnn.alpha)));
}

Value Epilogue::attended(Value u, Ref attention) { return attention >= 0 ? mul(sub(f32(1), number(attention)), u) : u; }

Value Epilogue::blend(Value u, Value o, Ref h, Ref attention) {
  u = attended(u, attention);
  Value before = state(h);
  return add(mul(u, before), mul(sub(f32(1), u), o));
}

Value Epilogue::whereAlive(Ref remaining, Value x, Value kept) {
  if (remaining < 0)
    return x;
  Value none = arith::ConstantOp::create(*b, loc, b->getI32IntegerAttr(0));
  Value isAlive = arith::CmpIOp::create(*b, loc, arith::CmpIPredicate::sgt, read(remaining), none);
  return arith::SelectOp::create(*b, loc, isAlive, x, kept);
}

Value Epilogue::nextState(Ref remaining, Value number, Ref before) {
  Value next = stored(number);
  if (remaining < 0)
    return next;
  return whereAlive(remaining, next, before >= 0 ? read(before) : stored(f32(0)));
}
