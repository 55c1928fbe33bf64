//===- OpenWidths.cpp - RNNs whose widths are given at execution ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One layer in one direction, in f32. With open widths gates are no dim of a matrix: each is a product of its own, from
// the weights as they lie, and what a cell makes of the sums is elementwise ops behind it. The products with x are made
// for all of time at once. States are a region [T + 1][N][DHC], of which the state at the start is the slot before the
// first step, whichever end that is.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Rnn/Emit/OpenWidths.h"

#include "Primitives/Emission/Program.h"
#include "Primitives/Rnn/Emit/Epilogue.h"
#include "Primitives/Rnn/Emit/States.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace quern;
using namespace quern::emission;
using namespace quern::rnn;

namespace {

/// [rows, channels] of f32, whose channels lie side by side; a vector without rows.
struct Matrix {
  std::string buffer;
  AffineExpr rows, channels, row; ///< each a number or an entry of the list of sizes; `row` is a stride, in elements
  AffineExpr bytes;
};

class OpenWidthsEmitter {
public:
  OpenWidthsEmitter(ModuleOp module, const VerifiedProblem &problem)
      : builder(module.getContext()), rnn(std::get<Boxed<RnnDesc>>(problem.desc.op)), s(Shape::of(rnn)),
        context{rnn, problem.desc.attr, s, {}, {}, {}}, program(module, /*openSize=*/-1),
        states(problem, context, program), steps(states.steps()), batch(states.batch()),
        inputs(states.dimOf("weights_layer", rnn.weightsLayer, 2)),
        channels(states.dimOf("weights_layer", rnn.weightsLayer, 4)) {
    int64_t entries = 0;
    for (const ArgumentInfo &argument : problem.arguments)
      entries += argument.runtimeSizes();
    allRows = program.size(entries);
  }
  void emit();

private:
  using Bindings = SmallVector<Binding>;
  using CellBody = llvm::function_ref<void(StepEmitter &step, Epilogue &epilogue)>;
  bool isReversed() const { return rnn.direction == RnnDirection::Right2Left; }

  /// The rows of a tensor whose last two dims these are, from an element on.
  Matrix tensor(StringRef name, const TensorDesc &desc, AffineExpr elements) const;
  Matrix scratch(StringRef name, AffineExpr rows, AffineExpr width, AffineExpr count, AffineExpr index);
  Matrix planeOf(StringRef name, int64_t gate, AffineExpr rows) {
    return scratch(name, rows, channels, program.number(s.gates), program.number(gate));
  }
  Matrix stateAt(AffineExpr slot) { return scratch("states", batch, channels, steps + 1, slot); }
  Matrix own(StringRef name) { return scratch(name, batch, channels, program.number(1), program.number(0)); }
  Matrix weightsOf(StringRef name, const TensorDesc &desc, int64_t gate) const;
  Binding bind(StringRef name, const Matrix &matrix) const;

  void product(const Matrix &to, const Matrix &x, const Matrix &weights, bool beside);
  /// A copy; of nothing, zeros.
  void copy(std::optional<Matrix> from, const Matrix &to);
  void emitInputs();
  void emitStart();
  void emitStep(AffineExpr t, AffineExpr before, AffineExpr next);
  void emitFinish();
  void productsOfState(const Matrix &state, int64_t first, int64_t end);

  /// The sums of gate `gate` and its bias, as "x<gate>", "h<gate>", "bias<gate>".
  void addGate(Bindings &bindings, int64_t gate, AffineExpr t);
  void addRow(Bindings &bindings, StringRef name, StringRef tensor, const TensorDesc &desc, int64_t row) const;
  GateInput gate(StepEmitter &step, Epilogue &epilogue, int64_t gate) const;
  void call(StringRef kind, Bindings bindings, const Matrix &to, CellBody body, bool beside = false);
  void vanilla(AffineExpr t, AffineExpr next);
  void lstm(AffineExpr t, AffineExpr next);
  void gru(AffineExpr t, AffineExpr before, AffineExpr next);
  void linearBeforeReset(AffineExpr t, AffineExpr before, AffineExpr next);

  Builder builder;
  const RnnDesc &rnn;
  const Shape s;
  const CellContext context;
  Program program;
  States states;
  const AffineExpr steps, batch, inputs, channels;
  AffineExpr allRows; ///< T N
};

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Matrix OpenWidthsEmitter::tensor(StringRef name, const TensorDesc &desc, AffineExpr elements) const {
  const int rowDim = desc.ndims - 2;
  return {name.str(), states.dimOf(name, desc, rowDim), states.dimOf(name, desc, rowDim + 1),
          states.strideOf(name, desc, rowDim), (elements + desc.offset0) * bytesOf(desc.dataType)};
}

Matrix OpenWidthsEmitter::scratch(StringRef name, AffineExpr rows, AffineExpr width, AffineExpr count,
                                  AffineExpr index) {
  AffineExpr bytes = rows * width * bytesOf(DataType::F32);
  program.addRegion(name, bytes * count);
  return {name.str(), rows, width, width, bytes * index};
}

/// [I, DHC] of one gate.
Matrix OpenWidthsEmitter::weightsOf(StringRef name, const TensorDesc &desc, int64_t gate) const {
  Matrix matrix = tensor(name, desc, states.strideOf(name, desc, 3) * gate);
  matrix.rows = states.dimOf(name, desc, 2);
  matrix.row = states.strideOf(name, desc, 2);
  return matrix;
}

Binding OpenWidthsEmitter::bind(StringRef name, const Matrix &matrix) const {
  Binding binding{name.str(), {}, {matrix.buffer, matrix.bytes}};
  auto numberOf = [](AffineExpr size, auto &entries) {
    if (auto number = dyn_cast<AffineConstantExpr>(size))
      return number.getValue();
    entries.push_back(cast<AffineSymbolExpr>(size).getPosition());
    return ShapedType::kDynamic;
  };
  SmallVector<int64_t> shape, strides;
  if (matrix.rows) {
    shape.push_back(numberOf(matrix.rows, binding.openDims));
    strides.push_back(numberOf(matrix.row, binding.openStrides));
  }
  shape.push_back(numberOf(matrix.channels, binding.openDims));
  strides.push_back(1);
  binding.type = MemRefType::get(shape, Float32Type::get(builder.getContext()),
                                 StridedLayoutAttr::get(builder.getContext(), 0, strides));
  return binding;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void OpenWidthsEmitter::product(const Matrix &to, const Matrix &x, const Matrix &weights, bool beside) {
  program.call(
      "rnn_product", {bind("x", x), bind("weights", weights), bind("sums", to)},
      [&](StepEmitter &step) { addPlainProduct(step, step["sums"], step["x"], step["weights"]); }, beside);
}

void OpenWidthsEmitter::copy(std::optional<Matrix> from, const Matrix &to) {
  Bindings bindings;
  if (from)
    bindings.push_back(bind("from", *from));
  call(from ? "rnn_copy" : "rnn_clear", bindings, to, [&](StepEmitter &step, Epilogue &e) {
    const Ref element = e.elementOf("from");
    e.emit([&]() -> SmallVector<Value> { return {element >= 0 ? e.read(element) : e.f32(0)}; });
  });
}

void OpenWidthsEmitter::call(StringRef kind, Bindings bindings, const Matrix &to, CellBody body, bool beside) {
  bindings.push_back(bind("to", to));
  program.call(
      kind, bindings,
      [&](StepEmitter &step) {
        Epilogue epilogue(step, context, s.dhc);
        epilogue.output(step["to"]);
        body(step, epilogue);
      },
      beside);
}

/// src_layer without gaps, and its products with the weights of every gate.
void OpenWidthsEmitter::emitInputs() {
  AffineExpr t = program.beginLoop(steps);
  copy(tensor("src_layer", rnn.srcLayer, t * states.strideOf("src_layer", rnn.srcLayer, 0)),
       scratch("inputs", batch, inputs, steps, t));
  program.endLoop();
  const Matrix x{"inputs", allRows, inputs, inputs, program.number(0)};
  for (int64_t g = 0; g < s.gates; ++g)
    product(planeOf("products", g, allRows), x, weightsOf("weights_layer", rnn.weightsLayer, g), /*beside=*/g > 0);
}

void OpenWidthsEmitter::emitStart() {
  auto given = [&](StringRef name, const TensorDesc &desc) {
    return desc.isZero() ? std::nullopt : std::optional(tensor(name, desc, program.number(0)));
  };
  copy(given("src_iter", rnn.srcIter), stateAt(isReversed() ? steps : program.number(0)));
  if (isLstm(rnn))
    copy(given("src_iter_c", rnn.srcIterC), own("cells"));
}

void OpenWidthsEmitter::emitFinish() {
  AffineExpr t = program.beginLoop(steps);
  copy(stateAt(isReversed() ? t : t + 1),
       tensor("dst_layer", rnn.dstLayer, t * states.strideOf("dst_layer", rnn.dstLayer, 0)));
  program.endLoop();
  if (!rnn.dstIter.isZero())
    copy(stateAt(isReversed() ? program.number(0) : steps), tensor("dst_iter", rnn.dstIter, program.number(0)));
  if (!rnn.dstIterC.isZero())
    copy(own("cells"), tensor("dst_iter_c", rnn.dstIterC, program.number(0)));
}

void OpenWidthsEmitter::productsOfState(const Matrix &state, int64_t first, int64_t end) {
  Matrix x = state;
  x.channels = states.dimOf("weights_iter", rnn.weightsIter, 2); // as many as DHC
  for (int64_t g = first; g < end; ++g)
    product(planeOf("sums", g, batch), x, weightsOf("weights_iter", rnn.weightsIter, g), /*beside=*/g > first);
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

void OpenWidthsEmitter::addRow(Bindings &bindings, StringRef name, StringRef tensorName, const TensorDesc &desc,
                               int64_t row) const {
  if (desc.isZero())
    return;
  Matrix matrix = tensor(tensorName, desc, states.strideOf(tensorName, desc, 2) * row);
  matrix.rows = {};
  bindings.push_back(bind(name, matrix));
}

void OpenWidthsEmitter::addGate(Bindings &bindings, int64_t gate, AffineExpr t) {
  const std::string number = std::to_string(gate);
  Matrix x = planeOf("products", gate, allRows);
  x.rows = batch;
  x.bytes = x.bytes + t * (batch * channels * bytesOf(DataType::F32));
  bindings.push_back(bind("x" + number, x));
  bindings.push_back(bind("h" + number, planeOf("sums", gate, batch)));
  addRow(bindings, "bias" + number, "bias", rnn.bias, gate);
}

GateInput OpenWidthsEmitter::gate(StepEmitter &step, Epilogue &e, int64_t gate) const {
  const std::string number = std::to_string(gate);
  GateInput input;
  input.sum = e.element(step["h" + number]);
  input.inputs = e.element(step["x" + number]);
  if (step.has("bias" + number))
    input.bias = e.channel(step["bias" + number], std::nullopt);
  return input;
}

void OpenWidthsEmitter::vanilla(AffineExpr t, AffineExpr next) {
  Bindings bindings;
  addGate(bindings, 0, t);
  call("rnn_cell", bindings, stateAt(next), [&](StepEmitter &step, Epilogue &e) {
    GateInput input = gate(step, e, 0);
    e.emit([&]() -> SmallVector<Value> { return {e.activation(e.number(input))}; });
  });
}

void OpenWidthsEmitter::lstm(AffineExpr t, AffineExpr next) {
  const bool hasPeephole = !rnn.weightsPeephole.isZero();
  auto peep = [&](Epilogue &e, Value sum, Ref weights, Value cell) {
    return hasPeephole ? e.add(sum, e.mul(e.read(weights), cell)) : sum;
  };
  auto peephole = [&](StepEmitter &step, Epilogue &e, const char *name) {
    return hasPeephole ? e.channel(step[name], std::nullopt) : -1;
  };
  Bindings ofCells, ofState;
  for (int64_t g = 0; g < 3; ++g)
    addGate(ofCells, g, t);
  addRow(ofCells, "peephole0", "weights_peephole", rnn.weightsPeephole, 0);
  addRow(ofCells, "peephole1", "weights_peephole", rnn.weightsPeephole, 1);
  ofCells.push_back(bind("c", own("cells")));
  call("rnn_cells", ofCells, own("cells"), [&](StepEmitter &step, Epilogue &e) {
    GateInput i = gate(step, e, 0), f = gate(step, e, 1), candidate = gate(step, e, 2);
    Ref c = e.element(step["c"]), ofI = peephole(step, e, "peephole0"), ofF = peephole(step, e, "peephole1");
    e.emit([&]() -> SmallVector<Value> {
      Value before = e.read(c);
      Value in = e.sigmoid(peep(e, e.number(i), ofI, before)), forget = e.sigmoid(peep(e, e.number(f), ofF, before));
      return {e.add(e.mul(forget, before), e.mul(in, e.tanh(e.number(candidate))))};
    });
  });
  addGate(ofState, 3, t);
  addRow(ofState, "peephole2", "weights_peephole", rnn.weightsPeephole, 2);
  ofState.push_back(bind("c", own("cells")));
  call("rnn_state", ofState, stateAt(next), [&](StepEmitter &step, Epilogue &e) {
    GateInput o = gate(step, e, 3);
    Ref c = e.element(step["c"]), ofO = peephole(step, e, "peephole2");
    e.emit([&]() -> SmallVector<Value> {
      Value cell = e.read(c);
      return {e.mul(e.sigmoid(peep(e, e.number(o), ofO, cell)), e.tanh(cell))};
    });
  });
}

void OpenWidthsEmitter::gru(AffineExpr t, AffineExpr before, AffineExpr next) {
  Bindings ofUpdate, ofReset, ofOutput;
  addGate(ofUpdate, 0, t);
  call("rnn_update", ofUpdate, own("update"), [&](StepEmitter &step, Epilogue &e) {
    GateInput u = gate(step, e, 0);
    e.emit([&]() -> SmallVector<Value> { return {e.sigmoid(e.number(u))}; });
  });
  addGate(ofReset, 1, t);
  ofReset.push_back(bind("h", stateAt(before)));
  call(
      "rnn_reset", ofReset, own("reset"),
      [&](StepEmitter &step, Epilogue &e) {
        GateInput r = gate(step, e, 1);
        Ref h = e.element(step["h"]);
        e.emit([&]() -> SmallVector<Value> { return {e.mul(e.sigmoid(e.number(r)), e.read(h))}; });
      },
      /*beside=*/true);
  productsOfState(own("reset"), 2, 3);
  addGate(ofOutput, 2, t);
  ofOutput.push_back(bind("update", own("update")));
  ofOutput.push_back(bind("h", stateAt(before)));
  call("rnn_output", ofOutput, stateAt(next), [&](StepEmitter &step, Epilogue &e) {
    GateInput o = gate(step, e, 2);
    Ref u = e.element(step["update"]), h = e.element(step["h"]);
    e.emit([&]() -> SmallVector<Value> { return {e.blend(e.read(u), e.tanh(e.number(o)), h, /*attention=*/-1)}; });
  });
}

void OpenWidthsEmitter::linearBeforeReset(AffineExpr t, AffineExpr before, AffineExpr next) {
  Bindings bindings;
  for (int64_t g = 0; g < 3; ++g)
    addGate(bindings, g, t);
  addRow(bindings, "hidden_bias", "bias", rnn.bias, 3);
  bindings.push_back(bind("h", stateAt(before)));
  call("rnn_cell", bindings, stateAt(next), [&](StepEmitter &step, Epilogue &e) {
    GateInput update = gate(step, e, 0), reset = gate(step, e, 1), output = gate(step, e, 2), hidden;
    hidden.sum = std::exchange(output.sum, -1);
    if (step.has("hidden_bias"))
      hidden.bias = e.channel(step["hidden_bias"], std::nullopt);
    Ref h = e.element(step["h"]);
    e.emit([&]() -> SmallVector<Value> {
      Value u = e.sigmoid(e.number(update)), r = e.sigmoid(e.number(reset));
      Value o = e.tanh(e.add(e.number(output), e.mul(r, e.number(hidden))));
      return {e.blend(u, o, h, /*attention=*/-1)};
    });
  });
}

/// Reads the state of slot `before`, writes that of `next`.
void OpenWidthsEmitter::emitStep(AffineExpr t, AffineExpr before, AffineExpr next) {
  const bool hasResetFirst = isGru(rnn) && !isLinearBeforeReset(rnn);
  productsOfState(stateAt(before), 0, hasResetFirst ? 2 : s.gates);
  if (isLstm(rnn))
    lstm(t, next);
  else if (hasResetFirst)
    gru(t, before, next);
  else if (isGru(rnn))
    linearBeforeReset(t, before, next);
  else
    vanilla(t, next);
}

void OpenWidthsEmitter::emit() {
  program.addSize(steps * batch);
  emitInputs();
  emitStart();
  AffineExpr index = program.beginLoop(steps), t = isReversed() ? steps - 1 - index : index;
  isReversed() ? emitStep(t, t + 1, t) : emitStep(t, t, t + 1);
  program.endLoop();
  emitFinish();
  program.finish();
}

} // namespace

void rnn::emitOpenWidths(ModuleOp module, const VerifiedProblem &problem) { OpenWidthsEmitter(module, problem).emit(); }
