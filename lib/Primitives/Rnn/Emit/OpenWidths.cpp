//===- OpenWidths.cpp - RNNs whose widths are known only at execution -----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One layer in one direction, in f32 or bf16. With open widths, gates cannot be a dim of a matrix: each gate is a
// separate product with the weights in place, followed by elementwise ops for the cell. The products with x are
// computed for all time steps at once. States are a region [T + 1][N][DHC]; the state at the start is slot 0 or T,
// before the first step in its direction.
//
// Weights may be packed as `any` packs them, with separate panels for each gate. Sums then include the panels' padding.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Rnn/Emit/OpenWidths.h"

#include "Primitives/Emission/Program.h"
#include "Primitives/Emission/Tensors.h"
#include "Primitives/Rnn/Emit/Epilogue.h"
#include "Primitives/Rnn/Emit/States.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace quern;
using namespace quern::emission;
using namespace quern::rnn;

namespace {

/// A matrix [rows, channels] with contiguous channels; a vector if it has no rows.
struct Matrix {
  std::string buffer;
  DataType type;
  AffineExpr rows, channels, row; ///< each a constant or an entry of the list of sizes; `row` is a stride in elements
  AffineExpr bytes;
};

/// weights_layer or weights_iter. A panel has `block` columns; a group has `kPack` rows, 1 in plain weights.
struct OpenWeights {
  std::string name;
  const TensorDesc *desc = nullptr;
  int64_t block = 1, kPack = 1;
  AffineExpr panels, groups; ///< numbers of panels and of groups
  AffineExpr inputs;         ///< rows
  AffineExpr width;          ///< columns of all panels, padding included
};

class OpenWidthsEmitter {
public:
  OpenWidthsEmitter(ModuleOp module, const VerifiedProblem &problem)
      : builder(module.getContext()), rnn(std::get<Boxed<RnnDesc>>(problem.desc.op)), s(Shape::of(rnn)),
        context{rnn, problem.desc.attr, s, {}, {}, {}}, program(module, /*openSize=*/-1),
        states(problem, context, program), steps(states.steps()), batch(states.batch()),
        inputs(states.dimOf("weights_layer", rnn.weightsLayer, 2)),
        channels(states.dimOf("weights_layer", rnn.weightsLayer, 4)) {
    for (const ArgumentInfo &copy : problem.intermediates)
      factor = copy.index == arg::src ? copy.desc.dataType : factor;
    for (const ArgumentInfo &argument : problem.arguments)
      entries += argument.runtimeSizes();
    allRows = computed(steps * batch);
    layer = readWeights("weights_layer", rnn.weightsLayer);
    iter = readWeights("weights_iter", rnn.weightsIter);
  }
  void emit();

private:
  using Bindings = SmallVector<Binding>;
  using CellBody = llvm::function_ref<void(StepEmitter &step, Epilogue &epilogue)>;
  /// Converts a number to a state, in the type that products read.
  Value stored(Epilogue &e, Value number) const {
    Value state = e.stored(number);
    return factor == DataType::F32 ? e.number(state) : state;
  }
  bool hasResetFirst() const { return isGru(rnn) && !isLinearBeforeReset(rnn); }
  bool isReversed() const { return rnn.direction == RnnDirection::Right2Left; }

  /// Returns the rows of a tensor, which are its last two dims, from element `elements` on.
  Matrix tensor(StringRef name, const TensorDesc &desc, AffineExpr elements) const;
  /// Returns matrix `index` of `count` in a region; its rows are `pitch` elements apart.
  Matrix scratch(StringRef name, DataType type, AffineExpr rows, AffineExpr width, AffineExpr pitch, AffineExpr count,
                 AffineExpr index);
  Matrix planeOf(StringRef name, int64_t gate, AffineExpr rows, AffineExpr pitch) {
    return scratch(name, DataType::F32, rows, channels, pitch, program.number(s.gates), program.number(gate));
  }
  Matrix stateAt(AffineExpr slot) { return scratch("states", factor, batch, channels, channels, steps + 1, slot); }
  Matrix own(StringRef name) {
    return scratch(name, DataType::F32, batch, channels, channels, program.number(1), program.number(0));
  }
  Matrix resetState() {
    return scratch("reset", factor, batch, channels, channels, program.number(1), program.number(0));
  }
  /// Appends a value computed from sizes to the list of sizes and returns its entry.
  AffineExpr computed(AffineExpr value) {
    if (isa<AffineConstantExpr, AffineSymbolExpr>(value))
      return value;
    program.addSize(value);
    return program.size(entries++);
  }
  OpenWeights readWeights(StringRef name, const TensorDesc &desc);
  Binding bindWeights(const OpenWeights &weights, int64_t gate);
  Binding bind(StringRef name, const Matrix &matrix);

  /// Emits a product with the weights of one gate. `to` is passed without the padding columns of panels, which are also
  /// written.
  void product(Matrix to, Matrix x, const OpenWeights &weights, int64_t gate, bool independent);
  /// Copies `from`, or zeros if it is absent.
  void copy(std::optional<Matrix> from, const Matrix &to);
  void emitInputs();
  void emitStart();
  void emitStep(AffineExpr t, AffineExpr before, AffineExpr next);
  void emitFinish();
  void productsOfState(const Matrix &state, int64_t first, int64_t end);

  /// Adds the sums of gate `gate` and its bias, as "x<gate>", "h<gate>", "bias<gate>".
  void addGate(Bindings &bindings, int64_t gate, AffineExpr t);
  void addRow(Bindings &bindings, StringRef name, StringRef tensor, const TensorDesc &desc, int64_t row);
  GateInput gate(StepEmitter &step, Epilogue &epilogue, int64_t gate) const;
  void call(StringRef kind, Bindings bindings, const Matrix &to, CellBody body, bool independent = false);
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
  /// Type of the rows that products read: the problem's, or f32 with values that are rounded to the problem's type.
  DataType factor = context.state();
  int64_t entries = 0; ///< number of entries in the list of sizes
  AffineExpr allRows;  ///< T N
  OpenWeights layer, iter;
};

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Matrix OpenWidthsEmitter::tensor(StringRef name, const TensorDesc &desc, AffineExpr elements) const {
  const int rowDim = desc.ndims - 2;
  return {name.str(),
          desc.dataType,
          states.dimOf(name, desc, rowDim),
          states.dimOf(name, desc, rowDim + 1),
          states.strideOf(name, desc, rowDim),
          (elements + desc.offset0) * bytesOf(desc.dataType)};
}

Matrix OpenWidthsEmitter::scratch(StringRef name, DataType type, AffineExpr rows, AffineExpr width, AffineExpr pitch,
                                  AffineExpr count, AffineExpr index) {
  AffineExpr bytes = rows * pitch * bytesOf(type);
  program.addRegion(name, bytes * count);
  return {name.str(), type, rows, width, pitch, bytes * index};
}

OpenWeights OpenWidthsEmitter::readWeights(StringRef name, const TensorDesc &desc) {
  enum : int { Input = 2, Output = 4 };
  int64_t blocks[maxDims];
  desc.blockSizes(blocks);
  OpenWeights weights{name.str(), &desc, blocks[Output], blocks[Input]};
  weights.panels = states.blocksOf(name, desc, Output);
  weights.groups = states.blocksOf(name, desc, Input);
  weights.inputs = states.dimOf(name, desc, Input);
  weights.width = computed(weights.panels * weights.block);
  return weights;
}

/// Returns a constant size; for an open one kDynamic, and appends its entry in the list of sizes to `entries`.
template <typename Entries> int64_t numberOf(AffineExpr size, Entries &entries) {
  if (auto number = dyn_cast<AffineConstantExpr>(size))
    return number.getValue();
  entries.push_back(cast<AffineSymbolExpr>(size).getPosition());
  return ShapedType::kDynamic;
}

/// Binds the weights of one gate: [I, DHC], or in panels.
Binding OpenWidthsEmitter::bindWeights(const OpenWeights &weights, int64_t gate) {
  enum : int { Input = 2, Gate = 3, Output = 4 };
  const TensorDesc &desc = *weights.desc;
  const AffineExpr elements = states.strideOf(weights.name, desc, Gate) * gate + desc.offset0;
  Binding binding{"weights", {}, {weights.name, elements * bytesOf(desc.dataType)}};
  AffineExpr row = states.strideOf(weights.name, desc, Input);
  SmallVector<int64_t> shape, strides;
  auto add = [&](AffineExpr extent, AffineExpr stride) {
    shape.push_back(numberOf(extent, binding.openDims));
    strides.push_back(numberOf(stride, binding.openStrides));
  };
  if (weights.block > 1) {
    add(weights.panels, states.strideOf(weights.name, desc, Output));
    add(weights.groups, row);
    add(states.number(weights.block), states.number(weights.kPack));
    if (weights.kPack > 1)
      add(states.number(weights.kPack), states.number(1));
  } else {
    add(weights.inputs, row);
    add(channels, states.number(1));
  }
  binding.type = MemRefType::get(shape, elementType(desc.dataType, builder),
                                 StridedLayoutAttr::get(builder.getContext(), 0, strides));
  return binding;
}

Binding OpenWidthsEmitter::bind(StringRef name, const Matrix &matrix) {
  Binding binding{name.str(), {}, {matrix.buffer, matrix.bytes}};
  SmallVector<int64_t> shape, strides;
  if (matrix.rows) {
    shape.push_back(numberOf(matrix.rows, binding.openDims));
    strides.push_back(numberOf(matrix.row, binding.openStrides));
  }
  shape.push_back(numberOf(matrix.channels, binding.openDims));
  strides.push_back(1);
  binding.type = MemRefType::get(shape, elementType(matrix.type, builder),
                                 StridedLayoutAttr::get(builder.getContext(), 0, strides));
  return binding;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void OpenWidthsEmitter::product(Matrix to, Matrix x, const OpenWeights &weights, int64_t gate, bool independent) {
  const bool hasPanels = weights.block > 1;
  x.channels = weights.inputs;
  to.channels = hasPanels ? weights.width : channels;
  program.call(
      "rnn_product", {bind("x", x), bindWeights(weights, gate), bind("sums", to)},
      [&](StepEmitter &step) {
        (hasPanels ? addPanelProduct : addPlainProduct)(step, step["sums"], step["x"], step["weights"]);
      },
      independent);
}

void OpenWidthsEmitter::copy(std::optional<Matrix> from, const Matrix &to) {
  Bindings bindings;
  if (from)
    bindings.push_back(bind("from", *from));
  call(from ? "rnn_copy" : "rnn_clear", bindings, to, [&](StepEmitter &, Epilogue &e) {
    const Ref element = e.elementOf("from");
    e.emit([&]() -> SmallVector<Value> {
      if (from && from->type == to.type)
        return {e.read(element)};
      Value number = from ? e.number(element) : e.f32(0);
      return {to.type == DataType::F32 ? number : e.stored(number)};
    });
  });
}

void OpenWidthsEmitter::call(StringRef kind, Bindings bindings, const Matrix &to, CellBody body, bool independent) {
  bindings.push_back(bind("to", to));
  program.call(
      kind, bindings,
      [&](StepEmitter &step) {
        Epilogue epilogue(step, context, s.dhc);
        epilogue.output(step["to"]);
        body(step, epilogue);
      },
      independent);
}

/// Emits a dense copy of src_layer and its products with the weights of every gate.
void OpenWidthsEmitter::emitInputs() {
  AffineExpr t = program.beginLoop(steps);
  copy(tensor("src_layer", rnn.srcLayer, t * states.strideOf("src_layer", rnn.srcLayer, 0)),
       scratch("inputs", factor, batch, inputs, inputs, steps, t));
  program.endLoop();
  const Matrix x{"inputs", factor, allRows, inputs, inputs, program.number(0)};
  for (int64_t g = 0; g < s.gates; ++g)
    product(planeOf("products", g, allRows, layer.width), x, layer, g, /*independent=*/g > 0);
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
  for (int64_t g = first; g < end; ++g)
    product(planeOf("sums", g, batch, iter.width), state, iter, g, /*independent=*/g > first);
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

void OpenWidthsEmitter::addRow(Bindings &bindings, StringRef name, StringRef tensorName, const TensorDesc &desc,
                               int64_t row) {
  if (desc.isZero())
    return;
  Matrix matrix = tensor(tensorName, desc, states.strideOf(tensorName, desc, 2) * row);
  matrix.rows = {};
  bindings.push_back(bind(name, matrix));
}

void OpenWidthsEmitter::addGate(Bindings &bindings, int64_t gate, AffineExpr t) {
  const std::string number = std::to_string(gate);
  Matrix x = planeOf("products", gate, allRows, layer.width);
  x.rows = batch;
  x.bytes = x.bytes + t * (batch * layer.width * bytesOf(DataType::F32));
  bindings.push_back(bind("x" + number, x));
  bindings.push_back(bind("h" + number, planeOf("sums", gate, batch, iter.width)));
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
    e.emit([&]() -> SmallVector<Value> { return {stored(e, e.activation(e.number(input)))}; });
  });
}

void OpenWidthsEmitter::lstm(AffineExpr t, AffineExpr next) {
  const bool hasPeephole = !rnn.weightsPeephole.isZero();
  auto peep = [&](Epilogue &e, Value sum, Ref weights, Value cell) {
    return hasPeephole ? e.add(sum, e.mul(e.number(weights), cell)) : sum;
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
      return {stored(e, e.mul(e.sigmoid(peep(e, e.number(o), ofO, cell)), e.tanh(cell)))};
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
      "rnn_reset", ofReset, resetState(),
      [&](StepEmitter &step, Epilogue &e) {
        GateInput r = gate(step, e, 1);
        Ref h = e.element(step["h"]);
        e.emit([&]() -> SmallVector<Value> { return {stored(e, e.mul(e.sigmoid(e.number(r)), e.number(h)))}; });
      },
      /*independent=*/true);
  productsOfState(resetState(), 2, 3);
  addGate(ofOutput, 2, t);
  ofOutput.push_back(bind("update", own("update")));
  ofOutput.push_back(bind("h", stateAt(before)));
  call("rnn_output", ofOutput, stateAt(next), [&](StepEmitter &step, Epilogue &e) {
    GateInput o = gate(step, e, 2);
    Ref u = e.element(step["update"]), h = e.element(step["h"]);
    e.emit([&]() -> SmallVector<Value> { return {stored(e, e.blend(e.read(u), e.tanh(e.number(o)), e.number(h)))}; });
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
      return {stored(e, e.blend(u, o, e.number(h)))};
    });
  });
}

/// Emits one time step, which reads the state in slot `before` and writes slot `next`.
void OpenWidthsEmitter::emitStep(AffineExpr t, AffineExpr before, AffineExpr next) {
  productsOfState(stateAt(before), 0, hasResetFirst() ? 2 : s.gates);
  if (isLstm(rnn))
    lstm(t, next);
  else if (hasResetFirst())
    gru(t, before, next);
  else if (isGru(rnn))
    linearBeforeReset(t, before, next);
  else
    vanilla(t, next);
}

void OpenWidthsEmitter::emit() {
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
