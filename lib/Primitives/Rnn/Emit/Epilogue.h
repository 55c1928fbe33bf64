//===- Epilogue.h - The elementwise op behind a cell's products -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One linalg op over sequences n and channels o. Operands are gathered first, each read in the body
// by the number that it got.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_RNN_EMIT_EPILOGUE_H
#define QUERN_PRIMITIVES_RNN_EMIT_EPILOGUE_H

#include "Primitives/Emission/Arithmetic/Convert.h"
#include "Primitives/Rnn/Emit/Cell.h"

namespace quern::rnn {

/// What an operand is called in the body; none is negative.
using Ref = int;

/// The products of one gate, which become a number: (sum + inputs + shift) scale + bias.
struct GateInput {
  Ref sum = -1, inputs = -1, shift = -1, scale = -1, bias = -1;
  float commonScale = 1; ///< where `scale` is none
};

class Epilogue {
public:
  Epilogue(emission::StepEmitter &step, const CellContext &context, int64_t channels);

  /// [N, channels]
  Ref element(mlir::Value memref) { return add(memref, {n, o}); }
  /// Of gate `gate` of [N, G, channels].
  Ref gateOf(mlir::Value memref, int64_t gate) { return add(memref, {n, constant(gate), o}); }
  /// Sums of one product as they are.
  Ref sumOf(const Sums &sums, const WeightsView &view) { return add(withoutPadding(step, sums, view), {n, o}); }
  /// The step's [N, channels] of that name; none if it has no such.
  Ref elementOf(llvm::StringRef name) { return step.has(name) ? element(step[name]) : -1; }
  /// Row `row` of [R, channels]; [channels] without one.
  Ref channel(mlir::Value memref, std::optional<int64_t> row) {
    return row ? add(memref, {constant(*row), o}) : add(memref, {o});
  }
  /// [N]
  Ref sequence(mlir::Value memref) { return add(memref, {n}); }
  /// The step's argument of that name; none if it has no such.
  Ref sequenceOf(llvm::StringRef name) { return step.has(name) ? sequence(step[name]) : -1; }
  /// Gate `gate` of products with x and h (or one of them), and its bias.
  struct Gate {
    const Sums *sums; ///< null: all there is are products of x that were made before
    const WeightsView &view;
    int64_t gate;                ///< of the weights
    int64_t biasRow;             ///< of the bias
    bool ofX = true, ofH = true; ///< what was multiplied
    bool isProjection = false;
  };
  GateInput gate(const Gate &which);

  /// [N, channels]; `gate` of [N, G, channels]
  void output(mlir::Value memref, std::optional<int64_t> gate = std::nullopt);
  /// The body gets the operands' elements and returns one value for each output.
  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>()>;
  void emit(Body body);

  // In the body.
  mlir::Value read(Ref ref); ///< as it is stored
  mlir::Value number(Ref ref) { return number(read(ref)); }
  mlir::Value number(mlir::Value element); ///< of a float, in f32
  mlir::Value state(Ref ref) { return emitNumber(*b, loc, context, read(ref)); }
  mlir::Value stored(mlir::Value x) { return emitStored(*b, loc, context, x); }
  /// A state as it is stored, as products read it.
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
  /// Of a vanilla cell.
  mlir::Value activation(mlir::Value x);
  /// u h + (1 - u) o, with u as attention leaves it.
  mlir::Value blend(mlir::Value u, mlir::Value o, Ref h, Ref attention);
  mlir::Value blend(mlir::Value u, mlir::Value o, mlir::Value h);
  /// `x` where the sequence has a step left, else `kept`.
  mlir::Value whereAlive(Ref remaining, mlir::Value x, mlir::Value kept);
  /// The state of `number`, or where no step is left the one before; 0 if there is none of its channels.
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
  mlir::OpBuilder *b = nullptr; ///< of the body
  mlir::ValueRange elements;
  mlir::Location loc;
};

} // namespace quern::rnn

#endif // QUERN_PRIMITIVES_RNN_EMIT_EPILOGUE_H
