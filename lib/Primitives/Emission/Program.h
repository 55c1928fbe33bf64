//===- Program.h - Building a launch program --------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A problem of many steps is functions, one for each kind of step, and a program that says in which order, in which
// loops and on which buffers they are called (IR/Launch.h reads it). An offset is an expression of the indices of the
// loops around the call and of sizes that an execution tells.
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

/// A tensor of the problem, or a region, from a byte on.
struct Place {
  std::string buffer;
  mlir::AffineExpr bytes;
};

/// An argument of a step: its name within the step, what it looks like there, and where a call has it.
struct Binding {
  std::string name;
  mlir::MemRefType type;
  Place place;
  /// Entries of the list of runtime sizes, one for each dynamic stride of the type.
  llvm::SmallVector<int64_t, 1> openStrides = {};
  /// The entry that dynamic dims of the type have; -1: that of the program.
  int64_t openDim = -1;
  /// Where they have several: one for each.
  llvm::SmallVector<int64_t, 2> openDims = {};
};

/// Builds the body of a step's function.
class StepEmitter {
public:
  StepEmitter(mlir::func::FuncOp function, llvm::ArrayRef<Binding> bindings);
  bool has(llvm::StringRef name) const { return arguments.contains(name); }
  /// An argument, which the step must have.
  mlir::Value operator[](llvm::StringRef name) const { return arguments.lookup(name); }
  /// The location of a part of the step, which has words of its own.
  mlir::Location locationOf(const llvm::Twine &part) const;
  mlir::OpBuilder builder;
  mlir::Location loc;

private:
  llvm::StringMap<mlir::Value> arguments;
};

/// Constants in memory, which the module holds once as `@name`.
mlir::Value constantTable(StepEmitter &step, llvm::StringRef name, mlir::DenseElementsAttr values);

class Program {
public:
  /// `openSize` is the entry of the list of runtime sizes that open dims of a step's argument have where its binding
  /// says nothing else; -1 where sizes are all known.
  Program(mlir::ModuleOp module, int64_t openSize) : module(module), builder(module.getContext()), openSize(openSize) {
    bodies.emplace_back();
  }

  mlir::AffineExpr number(int64_t value) { return builder.getAffineConstantExpr(value); }
  /// Entry `index` of the list of runtime sizes.
  mlir::AffineExpr size(int64_t index) { return builder.getAffineSymbolExpr(static_cast<unsigned>(index)); }

  /// Scratch that all steps of an execution share.
  void addRegion(llvm::StringRef name, mlir::AffineExpr bytes);
  /// Calls the step `kind` of these arguments; steps of one kind differ in nothing but the types and names of their
  /// arguments, and those that agree in both are one function. `beside`: the call is independent of the one before it.
  void call(llvm::StringRef kind, llvm::ArrayRef<Binding> bindings, llvm::function_ref<void(StepEmitter &)> emitBody,
            bool beside = false);
  /// A loop of `count` trips; returns its index.
  mlir::AffineExpr beginLoop(mlir::AffineExpr count);
  void endLoop();
  /// The greatest of `count` s32 elements of a tensor, at most `limit`, as an entry of the list of runtime sizes
  /// behind those of the arguments.
  void addMaximum(llvm::StringRef tensor, mlir::AffineExpr limit, mlir::AffineExpr count, int64_t stride);
  /// What is computed of the sizes of the arguments, as an entry of the list behind those and maxima.
  void addSize(mlir::AffineExpr value);
  /// Writes the program on the module.
  void finish();

private:
  mlir::FlatSymbolRefAttr functionFor(llvm::StringRef kind, llvm::ArrayRef<Binding> bindings,
                                      llvm::function_ref<void(StepEmitter &)> emitBody);

  mlir::ModuleOp module;
  mlir::OpBuilder builder;
  int64_t openSize;
  llvm::StringMap<std::string> functions; ///< by kind and arguments
  llvm::StringMap<unsigned> kinds;        ///< how many functions each has
  llvm::SmallVector<RegionAttr> regions;
  llvm::SmallVector<MaximumAttr> maxima;
  llvm::SmallVector<SizeAttr> computed;
  llvm::SmallVector<llvm::SmallVector<mlir::Attribute>> bodies; ///< of the loops that are open, the program's own first
  llvm::SmallVector<mlir::AffineExpr> trips;
};

} // namespace quern::emission

#endif // QUERN_PRIMITIVES_EMISSION_PROGRAM_H
