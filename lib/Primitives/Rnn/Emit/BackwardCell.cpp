//===- BackwardCell.cpp - Gradients of the cells as linalg ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Names of gradients start with d: du is the gradient of the argument of the update gate's sigmoid.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Rnn/Emit/BackwardCell.h"

#include "Primitives/Rnn/Emit/Epilogue.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace quern;
using namespace quern::emission;
using namespace quern::rnn;

namespace {

class CellDiffEmitter {
public:
  CellDiffEmitter(StepEmitter &step, const CellContext &context, const WeightsView &product, int64_t channels)
      : step(step), context(context), product(product), e(step, context, channels) {}

  void vanilla();
  void lstm();
  void linearBeforeReset();
  void gruOutput();
  void gruGates();
  void state();
  void start();

private:
  /// Emits the product of gradients and the step's weights.
  Ref productOf(StringRef rows, StringRef weights, DataType type) {
    Sums sums = makeSums(step, step[rows], product.width(), false, 0, 1);
    addTransposedProduct(step, sums, step[rows], type, step[weights], product, context.attr.fpmathMode);
    return e.sumOf(sums, product);
  }
  /// Adds the operands of the gradient of h after the step.
  void readStateDiff();
  void readPerSequence() { attention = e.sequenceOf("attention"), remaining = e.sequenceOf("remaining"); }
  Ref gate(int64_t g) { return e.gateOf(step["gates"], g); }
  void outputDelta(StringRef name, int64_t gates) {
    for (int64_t g = 0; g < gates; ++g)
      e.output(step[(name + std::to_string(g)).str()]);
  }
  /// Rounded copies are the last outputs. Their values are the rounded first `count` results.
  void outputRounded(ArrayRef<int64_t> gates, StringRef name = "delta") {
    for (int64_t g : gates)
      outputIf((name + "_rounded" + std::to_string(g)).str());
  }
  void addRounded(SmallVector<Value> &results, size_t count) {
    for (size_t i = 0; i < count && roundsDeltas(context); ++i)
      results.push_back(roundedFactor(e.builder(), step.loc, results[i], DataType::BF16));
  }
  void outputIf(StringRef name) {
    if (step.has(name))
      e.output(step[name]);
  }

  // The functions below are for use in the body.
  /// Returns the gradient that the step after passes back.
  Value handedBack();
  /// Returns the gradient of h. `passed` is the gradient that a sequence without this step passes on.
  Value stateDiff(Value passed) { return above >= 0 ? sum(passed, e.read(above)) : passed; }
  Value sum(Value x, Value y) { return !x ? y : !y ? x : e.add(x, y); }
  Value orZero(Value x) { return x ? x : e.f32(0); }
  Value ofAlive(Value x) { return e.whereAlive(remaining, x, e.f32(0)); }
  Value alive(Value x, Value kept) { return e.whereAlive(remaining, x, kept); }
  Value delta(Value x) { return roundedFactor(e.builder(), step.loc, ofAlive(x), deltaType(context)); }
  /// Emits x (1 - x).
  Value sigmoidSlope(Value x) { return e.mul(x, e.sub(e.f32(1), x)); }
  Value tanhSlope(Value x) { return e.sub(e.f32(1), e.mul(x, x)); }
  Value activationSlope(Value h);
  /// Returns the stored state; zero if the sequence does not have this step.
  Value storedIfAlive(Value x) { return e.stored(ofAlive(x)); }
  struct Gru {
    Value u, o, h, passed, dh, du, dOutput, carry, attentionTerm;
  };
  /// Computes everything that does not depend on the position of the reset gate.
  Gru gru(Ref ofU, Ref ofO, Ref ofH);

  StepEmitter &step;
  const CellContext &context;
  const WeightsView &product;
  Epilogue e;
  Ref handed = -1, carried = -1, above = -1, attention = -1, remaining = -1;
};

void CellDiffEmitter::readStateDiff() {
  if (step.has("state_diff") && step.has("r"))
    above = productOf("state_diff", "r", deltaFactorType(context));
  if (step.has("delta_after"))
    handed = productOf("delta_after", "u", deltaFactorType(context));
  carried = e.elementOf("carry_after");
  if (step.has("dst_diff"))
    above = e.elementOf("dst_diff");
}

Value CellDiffEmitter::handedBack() {
  Value product = handed >= 0 ? e.read(handed) : Value(), rest = carried >= 0 ? e.number(carried) : Value();
  return orZero(sum(product, rest));
}

/// Computes the derivative from the activation's result; for relu from its argument if that is stored.
Value CellDiffEmitter::activationSlope(Value h) {
  const RnnDesc &rnn = context.rnn;
  if (rnn.activation == Alg::EltwiseTanh)
    return tanhSlope(h);
  if (rnn.activation == Alg::EltwiseLogistic)
    return sigmoidSlope(h);
  OpBuilder &b = e.builder();
  Value isPositive = arith::CmpFOp::create(b, step.loc, arith::CmpFPredicate::OGT, h, e.f32(0));
  return arith::SelectOp::create(b, step.loc, isPositive, e.f32(1), e.f32(rnn.alpha));
}

void CellDiffEmitter::vanilla() {
  readStateDiff();
  Ref h = gate(0);
  readPerSequence();
  outputDelta("delta", 1);
  outputIf("carry");
  outputRounded({0});
  e.emit([&] {
    Value passed = handedBack();
    SmallVector<Value> results = {delta(e.mul(stateDiff(passed), activationSlope(e.read(h))))};
    if (step.has("carry"))
      results.push_back(alive(e.f32(0), passed));
    addRounded(results, 1);
    return results;
  });
}

void CellDiffEmitter::lstm() {
  readStateDiff();
  Ref gates[4], c = e.elementOf("c"), cNext = e.element(step["c_next"]), after = e.elementOf("cells_diff_after");
  for (int64_t g = 0; g < 4; ++g)
    gates[g] = gate(g);
  Ref peepholes[3] = {-1, -1, -1};
  for (int64_t g = 0; g < 3; ++g)
    peepholes[g] = e.rowOf("peephole", g);
  readPerSequence();
  outputDelta("delta", 4);
  e.output(step["cells_diff"]);
  outputIf("carry");
  outputIf("unprojected");
  outputRounded({0, 1, 2, 3});
  e.emit([&] {
    auto peep = [&](Value x, int which, Value d) {
      return peepholes[which] >= 0 ? e.add(x, e.mul(e.number(peepholes[which]), d)) : x;
    };
    Value passed = handedBack(), dh = stateDiff(passed), given = after >= 0 ? e.number(after) : e.f32(0);
    Value i = e.read(gates[0]), f = e.read(gates[1]), candidate = e.read(gates[2]), o = e.read(gates[3]);
    Value before = c >= 0 ? e.number(c) : e.f32(0), squashed = e.tanh(e.read(cNext));
    Value dOutput = e.mul(e.mul(dh, squashed), sigmoidSlope(o));
    Value dc = peep(e.add(given, e.mul(e.mul(dh, o), tanhSlope(squashed))), 2, dOutput);
    Value di = e.mul(e.mul(dc, candidate), sigmoidSlope(i)), df = e.mul(e.mul(dc, before), sigmoidSlope(f));
    Value dCandidate = e.mul(e.mul(dc, i), tanhSlope(candidate));
    Value dBefore = peep(peep(e.mul(dc, f), 0, di), 1, df);
    SmallVector<Value> results = {delta(di), delta(df), delta(dCandidate), delta(dOutput), alive(dBefore, given)};
    if (step.has("carry"))
      results.push_back(alive(e.f32(0), passed));
    if (step.has("unprojected"))
      results.push_back(storedIfAlive(e.mul(o, squashed)));
    addRounded(results, 4);
    return results;
  });
}

CellDiffEmitter::Gru CellDiffEmitter::gru(Ref ofU, Ref ofO, Ref ofH) {
  Gru g;
  g.u = e.read(ofU), g.o = e.read(ofO), g.h = e.state(ofH);
  g.passed = handedBack(), g.dh = stateDiff(g.passed);
  Value u = e.attended(g.u, attention), dUpdate = e.mul(g.dh, e.sub(g.h, g.o));
  g.dOutput = e.mul(e.mul(g.dh, e.sub(e.f32(1), u)), tanhSlope(g.o));
  g.du = e.mul(e.attended(dUpdate, attention), sigmoidSlope(g.u));
  g.attentionTerm = e.mul(e.sub(e.f32(0), dUpdate), g.u);
  g.carry = e.mul(g.dh, u);
  return g;
}

void CellDiffEmitter::linearBeforeReset() {
  readStateDiff();
  Ref u = gate(0), r = gate(1), o = gate(2), h = e.element(step["h"]), hidden = e.element(step["hidden_sums"]);
  readPerSequence();
  outputDelta("delta", 3);
  outputDelta("hidden_delta", 3);
  e.output(step["carry"]);
  outputIf("attention_terms");
  outputRounded({0, 1, 2});
  outputRounded({0, 1, 2}, "hidden_delta");
  e.emit([&] {
    Gru g = gru(u, o, h);
    Value reset = e.read(r), dr = e.mul(e.mul(g.dOutput, e.read(hidden)), sigmoidSlope(reset));
    Value du = delta(g.du), dReset = delta(dr);
    SmallVector<Value> results = {du, dReset, delta(g.dOutput), du, dReset, delta(e.mul(g.dOutput, reset))};
    results.push_back(alive(g.carry, g.passed));
    if (step.has("attention_terms"))
      results.push_back(ofAlive(g.attentionTerm));
    addRounded(results, 6);
    return results;
  });
}

void CellDiffEmitter::gruOutput() {
  readStateDiff();
  Ref u = gate(0), o = gate(2), h = e.element(step["h"]);
  readPerSequence();
  e.output(step["delta0"]);
  e.output(step["delta2"]);
  e.output(step["carry"]);
  outputIf("attention_terms");
  outputRounded({0, 2});
  e.emit([&] {
    Gru g = gru(u, o, h);
    SmallVector<Value> results = {delta(g.du), delta(g.dOutput), alive(g.carry, g.passed)};
    if (step.has("attention_terms"))
      results.push_back(ofAlive(g.attentionTerm));
    addRounded(results, 2);
    return results;
  });
}

void CellDiffEmitter::gruGates() {
  Ref resetDiff = productOf("delta_output", "u", deltaFactorType(context));
  Ref r = gate(1), h = e.element(step["h"]), carry = e.element(step["carry_after"]);
  readPerSequence();
  e.output(step["delta1"]);
  e.output(step["carry"]);
  outputIf("reset");
  outputRounded({1});
  e.emit([&] {
    Value d = e.read(resetDiff), reset = e.read(r), before = e.state(h), kept = e.read(carry);
    SmallVector<Value> results = {delta(e.mul(e.mul(d, before), sigmoidSlope(reset))),
                                  alive(e.add(kept, e.mul(d, reset)), kept)};
    if (step.has("reset"))
      results.push_back(storedIfAlive(e.mul(reset, before)));
    addRounded(results, 1);
    return results;
  });
}

void CellDiffEmitter::state() {
  readStateDiff();
  readPerSequence();
  e.output(step["state_diff"]);
  outputIf("carry");
  e.emit([&] {
    Value passed = handedBack();
    SmallVector<Value> results = {
        roundedFactor(e.builder(), step.loc, ofAlive(stateDiff(passed)), deltaFactorType(context))};
    if (step.has("carry"))
      results.push_back(alive(e.f32(0), passed));
    return results;
  });
}

void CellDiffEmitter::start() {
  readStateDiff();
  e.output(step["start_diff"]);
  e.emit([&] { return SmallVector<Value>{handedBack()}; });
}

} // namespace

void rnn::emitCellDiff(StepEmitter &step, const CellContext &context, const WeightsView &product) {
  CellDiffEmitter cell(step, context, product, context.shape.dhc);
  if (isLstm(context.rnn))
    cell.lstm();
  else if (isLinearBeforeReset(context.rnn))
    cell.linearBeforeReset();
  else
    cell.vanilla();
}

void rnn::emitGruOutputDiff(StepEmitter &step, const CellContext &context, const WeightsView &product) {
  CellDiffEmitter(step, context, product, context.shape.dhc).gruOutput();
}
void rnn::emitGruGatesDiff(StepEmitter &step, const CellContext &context, const WeightsView &product) {
  CellDiffEmitter(step, context, product, context.shape.dhc).gruGates();
}
void rnn::emitStateDiff(StepEmitter &step, const CellContext &context, const WeightsView &product) {
  CellDiffEmitter(step, context, product, context.shape.dic).state();
}
void rnn::emitStartDiff(StepEmitter &step, const CellContext &context, const WeightsView &product) {
  CellDiffEmitter(step, context, product, context.shape.sic).start();
}

void rnn::emitStateAgain(StepEmitter &step, const CellContext &context) {
  Epilogue e(step, context, context.shape.dhc);
  const RnnDesc &rnn = context.rnn;
  Ref remaining = e.sequenceOf("remaining"), h = e.elementOf("h"), attention = e.sequenceOf("attention");
  Ref first = e.gateOf(step["gates"], isLstm(rnn) ? 3 : 0), output = isGru(rnn) ? e.gateOf(step["gates"], 2) : -1;
  Ref cells = e.elementOf("c_next");
  e.output(step["h_next"]);
  e.emit([&] {
    Value next = e.read(first);
    if (isLstm(rnn))
      next = e.mul(next, e.tanh(e.read(cells)));
    if (isGru(rnn))
      next = e.blend(next, e.read(output), h, attention);
    if (keepsSums(rnn))
      next = e.activation(next);
    return SmallVector<Value>{e.nextState(remaining, next, h)};
  });
}
