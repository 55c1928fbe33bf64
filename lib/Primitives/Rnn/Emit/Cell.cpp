//===- Cell.cpp - The cells as linalg -------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The equations are those of Reference/Rnn/Cells.cpp. If the widths are open, separate steps compute the products
// before.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Rnn/Emit/Epilogue.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace quern;
using namespace quern::emission;
using namespace quern::rnn;

namespace {

/// Gives operations the location of a part of the step while the object lives.
class Part {
public:
  Part(StepEmitter &step, const char *words) : step(step), whole(step.loc) { step.loc = step.locationOf(words); }
  ~Part() { step.loc = whole; }
  Part(const Part &) = delete;
  Part &operator=(const Part &) = delete;

private:
  StepEmitter &step;
  const Location whole;
};

class CellEmitter {
public:
  CellEmitter(StepEmitter &step, const CellContext &context, int64_t channels)
      : step(step), context(context), epilogue(step, context, channels), layer(context.layer), iter(context.iter),
        hasInputs(step.has("inputs")) {}

  void vanilla();
  void lstm();
  void linearBeforeReset();
  void gruGates();
  void gruOutput();
  void projection();

private:
  bool hasProducts() const { return hasOpenWidths(context.rnn); }
  void addX(const Sums &sums) {
    if (hasProducts())
      return;
    const Part part(step, "products");
    addProduct(step, sums, step["x"], context.factor(), step["w"], layer, context.attr.fpmathMode);
  }
  void addH(const Sums &sums, Value h) {
    if (hasProducts())
      return;
    const Part part(step, "products");
    addProduct(step, sums, h, context.factor(), step["u"], iter, context.attr.fpmathMode);
  }
  /// Returns the states that are multiplied.
  Value rowsOfH() { return step[step.has("h_rounded") ? "h_rounded" : "h"]; }
  /// Emits the products of these gates with x and h, for the first or only op of a cell.
  Sums sumsOfBoth(int64_t firstGate, int64_t gates) {
    Sums sums = newSums(firstGate, gates);
    if (!hasInputs)
      addX(sums);
    addH(sums, rowsOfH());
    return sums;
  }
  Sums newSums(int64_t firstGate, int64_t gates) {
    if (hasProducts())
      return {};
    return makeSums(step, rowsOfH(), std::max(layer.width(), iter.width()), isQuantized(context.rnn), firstGate, gates);
  }
  GateInput gate(const Sums &sums, int64_t gate) { return epilogue.gate({sums, layer, gate, gate}); }
  /// Returns the state that a sequence keeps after its end.
  Ref stateBefore(Ref remaining) {
    return remaining >= 0 && context.shape.sic == context.shape.dic ? epilogue.element(step["h"]) : -1;
  }
  /// Outputs that training stores come after the others; the body collects their values.
  void keepGate(int64_t gate);
  void keep(Value gate) {
    if (step.has("gates"))
      kept.push_back(gate);
  }
  /// Rows that later steps read: the stored state, its rounded copy, or both, depending on the step's arguments.
  void outputRows(StringRef name);
  void appendRows(StringRef name, Value kept, SmallVectorImpl<Value> &results);
  SmallVector<Value> withKept(SmallVector<Value> results) {
    results.append(kept);
    return results;
  }
  SmallVector<Value> withKept(StringRef name, Value rows) {
    SmallVector<Value> results;
    appendRows(name, rows, results);
    return withKept(results);
  }

  StepEmitter &step;
  const CellContext &context;
  Epilogue epilogue;
  const WeightsView &layer, &iter;
  const bool hasInputs; ///< true if the products with x were computed before
  SmallVector<Value> kept;
};

void CellEmitter::keepGate(int64_t gate) {
  if (step.has("gates"))
    epilogue.output(step["gates"], gate);
}

void CellEmitter::outputRows(StringRef name) {
  for (const std::string &own : {name.str(), (name + "_rounded").str()})
    if (step.has(own))
      epilogue.output(step[own]);
}

void CellEmitter::appendRows(StringRef name, Value kept, SmallVectorImpl<Value> &results) {
  if (step.has(name))
    results.push_back(kept);
  if (step.has((name + "_rounded").str()))
    results.push_back(epilogue.factor(kept));
}

void CellEmitter::vanilla() {
  Epilogue &e = epilogue;
  Sums sums = sumsOfBoth(0, 1);
  GateInput input = gate(sums, 0);
  Ref remaining = e.sequenceOf("remaining"), before = stateBefore(remaining);
  outputRows("h_next");
  keepGate(0);
  e.emit([&] {
    Value sum = e.number(input), next = e.activation(sum);
    keep(keepsSums(context.rnn) ? sum : next);
    return withKept("h_next", e.nextState(remaining, next, before));
  });
}

/// With open widths, there are two steps: one with "c_next", and one without, which reads the new cells as "c".
void CellEmitter::lstm() {
  Epilogue &e = epilogue;
  const bool isProjected = !step.has("h_next"), hasPeephole = !context.rnn.weightsPeephole.isZero();
  const bool hasCell = step.has("c_next"), hasState = !hasProducts() || !hasCell;
  Sums sums = sumsOfBoth(0, 4);
  GateInput inputs[4];
  for (int64_t g = 0; g < 4; ++g)
    inputs[g] = gate(sums, g);
  Ref c = e.element(step["c"]), peepholes[3] = {};
  for (int64_t g = 0; g < 3 && hasPeephole; ++g)
    peepholes[g] = e.rowOf("peephole", g);
  Ref remaining = e.sequenceOf("remaining"), state = isProjected ? -1 : stateBefore(remaining);
  if (hasCell)
    e.output(step["c_next"]);
  const StringRef rows = isProjected ? "unprojected" : "h_next";
  outputRows(rows);
  for (int64_t g = 0; g < 4; ++g)
    keepGate(g);
  e.emit([&]() -> SmallVector<Value> {
    Value before = e.read(c), next = before, i, f, candidate;
    auto peep = [&](Value z, int gate, Value cell) {
      return hasPeephole ? e.add(z, e.mul(e.number(peepholes[gate]), cell)) : z;
    };
    if (hasCell) {
      i = e.sigmoid(peep(e.number(inputs[0]), 0, before)), f = e.sigmoid(peep(e.number(inputs[1]), 1, before));
      candidate = e.tanh(e.number(inputs[2]));
      next = e.add(e.mul(f, before), e.mul(i, candidate));
    }
    if (!hasState)
      return {next};
    Value o = e.sigmoid(peep(e.number(inputs[3]), 2, next));
    Value hidden = arith::MulFOp::create(e.builder(), step.loc, o, e.tanh(next));
    for (Value gate : {i, f, candidate, o})
      keep(gate);
    SmallVector<Value> results;
    if (hasCell)
      results.push_back(e.whereAlive(remaining, next, before));
    appendRows(rows, isProjected ? e.stored(hidden) : e.nextState(remaining, hidden, state), results);
    return withKept(results);
  });
}

void CellEmitter::linearBeforeReset() {
  Epilogue &e = epilogue;
  Sums both = sumsOfBoth(0, 2), ofH = newSums(2, 1), ofX;
  if (!hasInputs)
    addX(ofX = newSums(2, 1));
  addH(ofH, rowsOfH());
  GateInput update = gate(both, 0), reset = gate(both, 1);
  GateInput output = e.gate({ofX, layer, 2, 2, true, false}), hidden = e.gate({ofH, iter, 2, 3, false, true});
  Ref h = e.element(step["h"]), attention = e.sequenceOf("attention"), remaining = e.sequenceOf("remaining");
  outputRows("h_next");
  for (int64_t g = 0; g < 3; ++g)
    keepGate(g);
  if (step.has("hidden_sums"))
    e.output(step["hidden_sums"]);
  e.emit([&] {
    Value u = e.sigmoid(e.number(update)), r = e.sigmoid(e.number(reset)), sum = e.number(hidden);
    Value o = e.tanh(e.add(e.number(output), e.mul(r, sum)));
    for (Value gate : {u, r, o})
      keep(gate);
    keep(sum);
    return withKept("h_next", e.nextState(remaining, e.blend(u, o, h, attention), h));
  });
}

void CellEmitter::gruGates() {
  Epilogue &e = epilogue;
  Sums sums = sumsOfBoth(0, 2);
  GateInput update = gate(sums, 0), reset = gate(sums, 1);
  Ref h = e.element(step["h"]);
  e.output(step["update"]);
  e.output(step["reset"]);
  keepGate(0);
  keepGate(1);
  e.emit([&] {
    Value u = e.sigmoid(e.number(update)), r = e.sigmoid(e.number(reset));
    keep(u);
    keep(r);
    return withKept({u, e.factor(e.stored(e.mul(r, e.state(h))))});
  });
}

void CellEmitter::gruOutput() {
  Epilogue &e = epilogue;
  Sums sums = newSums(2, 1);
  if (!hasInputs)
    addX(sums);
  addH(sums, step["reset"]);
  GateInput output = gate(sums, 2);
  Ref h = e.element(step["h"]), update = e.element(step["update"]);
  Ref attention = e.sequenceOf("attention"), remaining = e.sequenceOf("remaining");
  outputRows("h_next");
  keepGate(2);
  e.emit([&] {
    Value o = e.tanh(e.number(output));
    keep(o);
    return withKept("h_next", e.nextState(remaining, e.blend(e.read(update), o, h, attention), h));
  });
}

void CellEmitter::projection() {
  Epilogue &e = epilogue;
  const WeightsView &view = context.projection;
  Value rows = step[step.has("unprojected_rounded") ? "unprojected_rounded" : "unprojected"];
  Sums sums = makeSums(step, rows, view.width(), isQuantized(context.rnn), 0, 1);
  addProduct(step, sums, rows, context.factor(), step["r"], view, context.attr.fpmathMode);
  GateInput input = e.gate({sums, view, 0, 0, true, true, /*isProjection=*/true});
  Ref remaining = e.sequenceOf("remaining"), before = stateBefore(remaining);
  outputRows("h_next");
  e.emit([&] { return withKept("h_next", e.nextState(remaining, e.number(input), before)); });
}

} // namespace

void rnn::emitCell(StepEmitter &step, const CellContext &context) {
  CellEmitter cell(step, context, context.shape.dhc);
  if (isLstm(context.rnn))
    cell.lstm();
  else if (isLinearBeforeReset(context.rnn))
    cell.linearBeforeReset();
  else
    cell.vanilla();
}

void rnn::emitGruGates(StepEmitter &step, const CellContext &context) {
  CellEmitter(step, context, context.shape.dhc).gruGates();
}
void rnn::emitGruOutput(StepEmitter &step, const CellContext &context) {
  CellEmitter(step, context, context.shape.dhc).gruOutput();
}

void rnn::emitProjection(StepEmitter &step, const CellContext &context) {
  CellEmitter(step, context, context.shape.dic).projection();
}

void rnn::emitInputs(StepEmitter &step, const CellContext &context) {
  Sums sums = clearSums(step, step["inputs"], 0, context.shape.gates);
  addProduct(step, sums, step["x"], context.factor(), step["w"], context.layer, context.attr.fpmathMode);
}
