//===- Epilogue.h - The elementwise op after a cell's products ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One linalg op over sequences n and channels o. The operands are collected first; the body reads each by the index
// that it received.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_RNN_EMIT_EPILOGUE_H
#define QUERN_PRIMITIVES_RNN_EMIT_EPILOGUE_H

#include "Primitives/Emission/Arithmetic/Convert.h"
#include "Primitives/Rnn/Emit/Cell.h"

namespace quern::rnn {

/// Index of an operand in the body; negative: absent.
using Ref = int;

/// Operands from which the pre-activation of one gate is computed: (sum + inputs + shift) scale + bias.
struct GateInput {
  Ref sum = -1, inputs = -1, shift = -1, scale = -1, bias = -1;
  float commonScale = 1; ///< used if `scale` is absent
};

class Epilogue {
public:
  Epilogue(emission::StepEmitter &step, const CellContext &context, int64_t channels);

  /// Adds an operand [N, channels].
  Ref element(mlir::Value memref) { return add(memref, {n, o}); }
  /// Adds gate `gate` of an operand [N, G, channels].
  Ref gateOf(mlir::Value memref, int64_t gate) { return add(memref, {n, constant(gate), o}); }
  /// Adds the sums of one product, without the padding of the last panel.
  Ref sumOf(const Sums &sums, const WeightsView &view) { return add(withoutPadding(step, sums, view), {n, o}); }
  /// Adds the step's argument `name`, [N, channels]; absent if the step does not have it.
  Ref elementOf(llvm::StringRef name) { return step.has(name) ? element(step[name]) : -1; }
  /// Adds an operand [channels].
  Ref channel(mlir::Value memref) { return add(memref, {o}); }
  /// Adds row `row` of the step's argument `name`, [R, channels], or the argument `name` + row, [channels]; absent if
  /// the step has neither.
  Ref rowOf(llvm::StringRef name, int64_t row);
  /// Adds an operand [N].
  Ref sequence(mlir::Value memref) { return add(memref, {n}); }
  /// Adds the step's argument `name`, [N]; absent if the step does not have it.
  Ref sequenceOf(llvm::StringRef name) { return step.has(name) ? sequence(step[name]) : -1; }
  /// A gate of products with x, h or both, and its bias.
  struct Gate {
    const Sums &sums; ///< without memory: the products were computed before
    const WeightsView &view;
    int64_t gate;                ///< index of the gate in the weights
    int64_t biasRow;             ///< index of the gate's row in the bias
    bool ofX = true, ofH = true; ///< true if the products of x, or of h, are added
    bool isProjection = false;
  };
  GateInput gate(const Gate &which);

  /// Adds an output: [N, channels], or `gate` of [N, G, channels].
  void output(mlir::Value memref, std::optional<int64_t> gate = std::nullopt);
  /// Emits the body from the operands' elements; returns one value for each output.
  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>()>;
  void emit(Body body);

  // The functions below are for use in the body.
  mlir::Value read(Ref ref); ///< the element as stored
  mlir::Value number(Ref ref) { return number(read(ref)); }
  mlir::Value number(mlir::Value element); ///< converts a float to f32
  mlir::Value state(Ref ref) { return emitNumber(*b, loc, context, read(ref)); }
  mlir::Value stored(mlir::Value x) { return emitStored(*b, loc, context, x); }
  /// Rounds a stored state to the type that products read.
  mlir::Value factor(mlir::Value stored) {
    return stored.getType().isF32() ? emission::roundedFactor(*b, loc, stored, context.factor()) : stored;
  }
  mlir::Value number(const GateInput &input);
  mlir::Value f32(double value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value sigmoid(mlir::Value x);
  mlir::Value tanh(mlir::Value x);
  /// Emits the activation of a vanilla cell.
  mlir::Value activation(mlir::Value x);
  /// Emits (1 - attention) u, or u without attention.
  mlir::Value attended(mlir::Value u, Ref attention);
  /// Emits u h + (1 - u) o, where attention scales u first.
  mlir::Value blend(mlir::Value u, mlir::Value o, Ref h, Ref attention);
  /// Returns `x` if the sequence has a step left, else `kept`.
  mlir::Value whereAlive(Ref remaining, mlir::Value x, mlir::Value kept);
  /// Returns the state for `number`, or the previous state if the sequence has ended; 0 if there is no previous state
  /// with these channels.
  mlir::Value nextState(Ref remaining, mlir::Value number, Ref before);
  mlir::OpBuilder &builder() { return *b; }

private:
  Ref add(mlir::Value memref, llvm::ArrayRef<mlir::AffineExpr> address);
  mlir::AffineExpr constant(int64_t value) { return mlir::getAffineConstantExpr(value, step.builder.getContext()); }
  mlir::Value shiftOf(const Gate &which);

  emission::StepEmitter &step;
  const CellContext &context;
  int64_t channels;
  mlir::AffineExpr n, o;
  llvm::SmallVector<mlir::Value> inputs, outputs;
  llvm::SmallVector<mlir::AffineMap> inputMaps, outputMaps;
  mlir::OpBuilder *b = nullptr; ///< inserts into the body
  mlir::ValueRange elements;
  mlir::Location loc;
};

} // namespace quern::rnn

#endif // QUERN_PRIMITIVES_RNN_EMIT_EPILOGUE_H
