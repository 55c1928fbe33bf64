//===- RowSteps.cpp - Steps over rows that are not cells ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Primitives/Rnn/Emit/RowSteps.h"

#include "Primitives/Emission/Arithmetic/Convert.h"
#include "Primitives/Emission/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace quern;
using namespace quern::emission;
using namespace quern::rnn;

Value rnn::zeroOf(OpBuilder &b, Location loc, DataType type) {
  return arith::ConstantOp::create(b, loc, b.getZeroAttr(elementType(type, b)));
}

Value rnn::first(OpBuilder &, Location, ValueRange in) { return in[0]; }

Value rnn::firstIfAlive(OpBuilder &b, Location loc, ValueRange in) { // in.back() is the old element
  Value none = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
  Value isAlive = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, in[in.size() - 2], none);
  Value other = in.size() > 3 ? in[1] : arith::ConstantOp::create(b, loc, b.getZeroAttr(in[0].getType())).getResult();
  return arith::SelectOp::create(b, loc, isAlive, in[0], other);
}

void RowSteps::addVector(Bindings &bindings, StringRef name, const Rows &vector) const {
  Builder builder(program.number(0).getContext());
  Binding binding = states.bind(name, vector);
  auto layout = StridedLayoutAttr::get(builder.getContext(), vector.offset, {vector.row.number});
  binding.type = MemRefType::get({binding.type.getDimSize(0)}, binding.type.getElementType(), layout);
  bindings.push_back(binding);
}

void RowSteps::addPerSequence(Bindings &bindings, AffineExpr t) const {
  if (!rnn.attention.isZero())
    addVector(bindings, "attention", states.tensor("attention", rnn.attention, t));
  if (states.hasLengths)
    addVector(bindings, "remaining", remainingAt(t));
}

Rows RowSteps::remainingAt(AffineExpr t) const {
  Rows rows = states.scratchOfSteps("remaining", DataType::S32);
  rows.bytes = t * (states.batch() * bytesOf(DataType::S32));
  return rows;
}

void RowSteps::emitCopy(StringRef kind, ArrayRef<Rows> from, const Rows &to, ElementBody body, AffineExpr aliveAt,
                        bool independent) const {
  Builder builder(program.number(0).getContext());
  Bindings bindings;
  for (auto [i, rows] : llvm::enumerate(from))
    bindings.push_back(states.bind(i > 1 ? "other" + std::to_string(i) : i ? "other" : "from", rows));
  if (aliveAt)
    addVector(bindings, "remaining", remainingAt(aliveAt));
  bindings.push_back(states.bind("to", to));
  auto emitBody = [&](StepEmitter &step) {
    SmallVector<Value> inputs;
    SmallVector<AffineMap> maps(from.size(), builder.getMultiDimIdentityMap(2));
    for (const Binding &binding : ArrayRef<Binding>(bindings).drop_back())
      inputs.push_back(step[binding.name]);
    if (aliveAt)
      maps.push_back(AffineMap::get(2, 0, builder.getAffineDimExpr(0)));
    maps.push_back(builder.getMultiDimIdentityMap(2));
    emitOp(step, inputs, step["to"], maps, 0, body);
  };
  program.call(kind, bindings, emitBody, independent);
}

void RowSteps::emitStart(StringRef name, const TensorDesc &tensor, int64_t layer, int64_t direction, const Rows &to,
                         bool independent) const {
  SmallVector<Rows, 1> from;
  if (!tensor.isZero())
    from.push_back(states.tensor(name, tensor, {program.number(layer), program.number(direction)}));
  const bool isRounded = context.roundsRows() && to.type == context.factor();
  auto emitBody = [&](OpBuilder &b, Location loc, ValueRange in) -> Value {
    if (from.empty())
      return isQuantized(rnn) && to.type != DataType::F32 ? emitStored(b, loc, context, zeroOf(b, loc, DataType::F32))
                                                          : zeroOf(b, loc, to.type);
    return isRounded ? roundedFactor(b, loc, in[0], to.type)
                     : emitState(b, loc, context, in[0], tensor.dataType, to.type);
  };
  emitCopy(isRounded ? "rnn_start_rounded" : "rnn_start", from, to, emitBody, {}, independent);
}

/// Computes remainingAt() for all time steps: the length of each sequence, then one less in each step.
void RowSteps::emitRemaining() const {
  Builder builder(program.number(0).getContext());
  const TensorDesc &desc = rnn.seqLengths;
  auto call = [&](StringRef kind, const Rows &from, const Rows &to,
                  llvm::function_ref<Value(OpBuilder &, Location, Value)> body) {
    Bindings bindings;
    addVector(bindings, "from", from);
    addVector(bindings, "to", to);
    program.call(kind, bindings, [&](StepEmitter &step) {
      const AffineMap identity = builder.getMultiDimIdentityMap(1);
      emitOp(step, step["from"], step["to"], {identity, identity}, 0,
             [&](OpBuilder &b, Location at, ValueRange in) { return body(b, at, in[0]); });
    });
  };
  auto constant = [](OpBuilder &b, Location at, int32_t value) -> Value {
    return arith::ConstantOp::create(b, at, b.getI32IntegerAttr(value));
  };
  Rows lengths{"seq_lengths", DataType::S32, 1, desc.strides[0], 1, desc.offset0, program.number(0)};
  call("rnn_lengths", lengths, remainingAt(program.number(0)), [&](OpBuilder &b, Location at, Value length) -> Value {
    return arith::MaxSIOp::create(b, at, length, constant(b, at, 0));
  });
  if (context.shape.steps == 1)
    return;
  AffineExpr index = program.beginLoop(states.steps() - 1);
  call("rnn_remaining", remainingAt(index), remainingAt(index + 1),
       [&](OpBuilder &b, Location at, Value left) -> Value {
         return arith::SubIOp::create(b, at, left, constant(b, at, 1));
       });
  program.endLoop();
  if (states.countsStepsDone())
    program.addMaximum("seq_lengths", states.steps(), states.batch(), desc.strides[0]);
}
