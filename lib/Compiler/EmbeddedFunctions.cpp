//===- EmbeddedFunctions.cpp - Compiling parts of a caller's module -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Implements quern-compiler/Functions.h. Functions are compiled in the compiler's own context: they are passed as
// bytes, as at run time.
//
//===----------------------------------------------------------------------===//
#include "quern-compiler/Functions.h"

#include "Compiler/Compiler.h"
#include "Compiler/Functions.h"
#include "Functions/Canonicalize/Canonicalize.h"
#include "Functions/Check.h"
#include "quern-compiler/Bridge.h"

#include "mlir/Bytecode/BytecodeWriter.h"

using namespace mlir;

namespace quern::compiler {
namespace {

/// Reads the function for a target and returns the canonical bytes of its descriptor.
Result<std::string> read(func::FuncOp function, const Target &target, bool allowNaive) {
  PrimitiveDesc desc;
  desc.attr.naive = allowNaive;
  auto &mlir = desc.op.emplace<MlirDesc>();
  mlir.module = bytecodeOf(function);
  mlir.function = function.getName().str();
  return readMlir(desc, target);
}

Result<CompiledFunction> compile(func::FuncOp function, StringRef targetText, bool allowNaive) {
  QUERN_ASSIGN_OR_RETURN(Target target, Target::parse(std::string_view(targetText)));
  Result<std::string> bytes = read(function, target, allowNaive);
  QUERN_ASSIGN_OR_RETURN(PrimitiveDesc desc,
                         bytes ? PrimitiveDesc::fromBytes(*bytes) : Result<PrimitiveDesc>(bytes.takeError()));
  QUERN_ASSIGN_OR_RETURN(std::string artifact, compileProblem(desc, target, QUERN_COMPILER_ARTIFACT, false));
  return CompiledFunction{desc.text(), std::move(artifact)};
}

} // namespace

std::string whyNotTaken(Operation *op) {
  Result<void> ok = functions::checkOperation(*op, functions::Form::Given);
  return ok ? std::string() : ok.error().message;
}

LogicalResult decomposeSoftmax(func::FuncOp function) { return functions::decomposeSoftmax(function); }

std::string bytecodeOf(func::FuncOp function) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  auto copy = cast<func::FuncOp>(function->clone());
  copy->setDiscardableAttrs(ArrayRef<NamedAttribute>());
  copy.setPublic();
  module->push_back(copy);
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  (void)writeBytecodeToFile(*module, os); // cannot fail: the output is a string, and no version is requested
  return bytes;
}

std::string whyNoKernel(func::FuncOp function, StringRef targetText, bool allowNaive) {
  Result<Target> target = Target::parse(std::string_view(targetText));
  if (!target)
    return target.error().message;
  Result<std::string> bytes = read(function, *target, allowNaive);
  return bytes ? std::string() : bytes.error().message;
}

FailureOr<CompiledFunction> compileAhead(func::FuncOp function, StringRef target, bool allowNaive) {
  Result<CompiledFunction> compiled = compile(function, target, allowNaive);
  if (!compiled)
    return function.emitError("no kernel for ") << target << ": " << compiled.error().message;
  return std::move(*compiled);
}

} // namespace quern::compiler
