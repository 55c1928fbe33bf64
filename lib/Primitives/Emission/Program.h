//===- Program.h - Builder of a launch program ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A problem of many steps consists of functions, one for each kind of step, and a program: the order, the loops and the
// buffers of their calls (read by IR/Launch.h). An offset is an expression of the indices of the enclosing loops and of
// sizes known at execution.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_EMISSION_PROGRAM_H
#define QUERN_PRIMITIVES_EMISSION_PROGRAM_H

#include "IR/QuernDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"

#include <string>

namespace quern::emission {

/// A byte offset in a tensor of the problem or in a region.
struct BufferOffset {
  std::string buffer;
  mlir::AffineExpr bytes;
};

/// An argument of a step: its name and type within the step, and the memory that a call passes.
struct Binding {
  std::string name;
  mlir::MemRefType type;
  BufferOffset place;
  /// Entries in the list of runtime sizes, one for each dynamic stride of the type.
  llvm::SmallVector<int64_t, 1> openStrides = {};
  /// Entry that gives the size of all dynamic dims of the type; -1: the program's `openSize`.
  int64_t openDim = -1;
  /// One entry per dynamic dim, if they differ; overrides `openDim`.
  llvm::SmallVector<int64_t, 2> openDims = {};
};

/// Builds the body of a step's function.
class StepEmitter {
public:
  StepEmitter(mlir::func::FuncOp function, llvm::ArrayRef<Binding> bindings);
  bool has(llvm::StringRef name) const { return arguments.contains(name); }
  /// Returns an argument that the step must have.
  mlir::Value operator[](llvm::StringRef name) const { return arguments.lookup(name); }
  /// Returns the location for a part of the step, with its own description.
  mlir::Location locationOf(const llvm::Twine &part) const;
  mlir::OpBuilder builder;
  mlir::Location loc;

private:
  llvm::StringMap<mlir::Value> arguments;
};

/// Returns constants in memory: the global `@name` of the module, which the first call with this name creates.
mlir::Value constantTable(StepEmitter &step, llvm::StringRef name, mlir::DenseElementsAttr values);

class Program {
public:
  /// `openSize` is the entry in the list of runtime sizes for open dims whose binding gives no other; -1 if all sizes
  /// are known.
  Program(mlir::ModuleOp module, int64_t openSize) : module(module), builder(module.getContext()), openSize(openSize) {
    bodies.emplace_back();
  }

  mlir::AffineExpr number(int64_t value) { return builder.getAffineConstantExpr(value); }
  /// Returns entry `index` of the list of runtime sizes.
  mlir::AffineExpr size(int64_t index) { return builder.getAffineSymbolExpr(static_cast<unsigned>(index)); }

  /// Adds scratch that all steps of an execution share, unless a region of this name exists.
  void addRegion(llvm::StringRef name, mlir::AffineExpr bytes);
  /// Calls the step `kind` with these arguments. Steps of one kind may differ only in the names, types and open sizes
  /// of their arguments; if these are equal, they share a function. `independent`: the call is independent of the
  /// previous one.
  void call(llvm::StringRef kind, llvm::ArrayRef<Binding> bindings, llvm::function_ref<void(StepEmitter &)> emitBody,
            bool independent = false);
  /// Begins a loop of `count` iterations and returns its index.
  mlir::AffineExpr beginLoop(mlir::AffineExpr count);
  void endLoop();
  /// Appends an entry to the list of runtime sizes, after those of the arguments: the maximum of `count` s32 elements
  /// of a tensor, `stride` elements apart, clamped to [0, limit].
  void addMaximum(llvm::StringRef tensor, mlir::AffineExpr limit, mlir::AffineExpr count, int64_t stride);
  /// Appends a value computed from the sizes of the arguments to the list of runtime sizes, after the maxima.
  void addSize(mlir::AffineExpr value);
  /// Attaches the program to the module.
  void finish();

private:
  mlir::FlatSymbolRefAttr functionFor(llvm::StringRef kind, llvm::ArrayRef<Binding> bindings,
                                      llvm::function_ref<void(StepEmitter &)> emitBody);

  mlir::ModuleOp module;
  mlir::OpBuilder builder;
  int64_t openSize;
  llvm::StringMap<std::string> functions; ///< names by kind and argument types
  llvm::StringMap<unsigned> kinds;        ///< number of functions of each kind
  llvm::SmallVector<RegionAttr> regions;
  llvm::SmallVector<MaximumAttr> maxima;
  llvm::SmallVector<SizeAttr> computed;
  llvm::SmallVector<llvm::SmallVector<mlir::Attribute>> bodies; ///< bodies of the open loops, the program's first
  llvm::SmallVector<mlir::AffineExpr> trips;
};

} // namespace quern::emission

#endif // QUERN_PRIMITIVES_EMISSION_PROGRAM_H
