//===- Functions.cpp - Callers' functions in the compiler -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Reading creates the canonical form and checks that it can be partitioned, so that refusals can name the caller's
// locations. Emission starts from the canonical form only, so that equal forms give equal kernels.
//
//===----------------------------------------------------------------------===//
#include "Compiler/Functions.h"

#include "Compiler/Stages.h"
#include "Functions/Functions.h"
#include "IR/Naive.h"
#include "IR/QuernDialect.h"
#include "Primitives/Registry.h"
#include "Transforms/Packed/PackedElements.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace quern {
namespace {

/// Returns true if a problem has a matrix product and another operation that is not a fill.
bool hasProductAmongOthers(func::FuncOp problem) {
  auto isFill = [](linalg::LinalgOp op) { return isa<linalg::FillOp>(op.getOperation()); };
  auto isProduct = [](linalg::LinalgOp op) {
    if (!op.getNumReductionLoops() || op.getNumDpsInputs() < 2)
      return false;
    FailureOr<linalg::ContractionDimensions> dims = linalg::inferContractionDims(op);
    return succeeded(dims) && !dims->m.empty() && !dims->n.empty() && !dims->k.empty();
  };
  auto ops = problem.getOps<linalg::LinalgOp>();
  return std::distance(ops.begin(), ops.end()) - llvm::count_if(ops, isFill) > 1 && llvm::any_of(ops, isProduct);
}

/// Returns true if the target's recipes support a problem. The rows recipe would treat a product like any other
/// reduction; that counts as unsupported, because the product alone may be a contraction.
bool isSupported(func::FuncOp problem, const Backend &backend, const Target &target, std::string &whyNot) {
  OwningOpRef<ModuleOp> module; // half bytes become several problems
  SmallVector<func::FuncOp> problems{problem};
  if (llvm::any_of(problem.getArgumentTypes(), isPacked)) {
    module = ModuleOp::create(problem.getLoc());
    module->push_back(problem.clone());
    pairElements(*module);
    if (failed(unpackElements(*module, whyNot)))
      return false;
    problems = llvm::to_vector(module->getOps<func::FuncOp>());
  }
  bool hasRows = false;
  for (func::FuncOp one : problems) {
    MatchPtr match = backend.match(one, target, whyNot);
    if (!match)
      return false;
    hasRows |= match->recipe == Recipe::Rows;
  }
  if (!hasRows || !hasProductAmongOthers(problem))
    return true;
  whyNot = "the rows recipe would schedule a product with it";
  return false;
}

/// Replaces number arguments by the values in `mlir`, which only the function of an oracle has.
Result<void> fillNumbers(func::FuncOp function, const MlirDesc &mlir) {
  const std::optional<std::vector<MlirNumber>> numbers = MlirNumber::parse(mlir.numbers);
  for (const MlirNumber &number : numbers ? *numbers : std::vector<MlirNumber>()) {
    if (number.value && !mlir.oracle)
      return unimplemented("number ", number.argument, " has a value, which only an execution may pass");
    if (number.value && !functions::fillNumber(function, static_cast<unsigned>(number.argument), *number.value))
      return invalidArguments("argument ", number.argument, " of the code is not a number");
  }
  return {};
}

/// Gives the arguments the names that an execution uses, and open sizes of the code the values in the descriptor.
/// Refuses code whose arguments differ from the descriptor's.
Result<void> nameArguments(func::FuncOp function, const VerifiedProblem &problem) {
  Builder builder(function.getContext());
  if (function.getNumArguments() != problem.arguments.size())
    return invalidArguments("the code has ", function.getNumArguments(), " arguments, the descriptor ",
                            problem.arguments.size());
  for (auto [i, argument] : llvm::enumerate(problem.arguments)) {
    QUERN_ASSIGN_OR_RETURN(TensorDesc desc, functions::describe(function.getArgument(i).getType(), argument.name));
    if (!(desc == argument.desc) && !functions::fillSizes(function, static_cast<unsigned>(i), argument.desc))
      return invalidArguments("argument ", i, " of the code has a different type than in the descriptor");
    function.setArgAttr(static_cast<unsigned>(i), attr::arg, builder.getStringAttr(argument.name));
  }
  return {};
}

} // namespace

/// Reads a function. If the recipes refuse it as it is written, tries again with products that start from 0 and are
/// added to the rest.
Result<std::string> readMlir(const PrimitiveDesc &given, const Target &target) {
  const auto *mlir = std::get_if<MlirDesc>(&given.op);
  if (!mlir || mlir->isRead())
    return invalidArguments("there is nothing to read in '", given.title(), "'");
  ContextLease lease(CompileContext::Use::Reading);
  Backend &backend = lease->backendFor(target);
  ScopedDiagnosticHandler silence(&lease->context, [](Diagnostic &) { return success(); });
  auto supports = [&](func::FuncOp problem, std::string &whyNot) {
    return isSupported(problem, backend, target, whyNot);
  };
  std::optional<Error> refused;
  for (auto starts : {functions::ProductStarts::InPlace, functions::ProductStarts::Separate}) {
    QUERN_ASSIGN_OR_RETURN(functions::ReadFunction function,
                           functions::read(lease->upstream(), mlir->module, mlir->function, starts));
    PrimitiveDesc desc;
    desc.attr = given.attr;
    auto &read = desc.op.emplace<MlirDesc>();
    read.code = functions::canonicalText(function);
    read.args = std::move(function.args);
    read.uses = std::move(function.uses);
    read.sizes = std::move(function.sizes);
    read.numbers = std::move(function.numbers);
    read.oracle = mlir->oracle;
    QUERN_ASSIGN_OR_RETURN(VerifiedProblem problem, verify(desc, target));
    const bool isPartitioned = !mlir->oracle && !problem.isNoop;
    Result<void> done =
        isPartitioned ? functions::checkPartition(*function.module, supports, desc.attr.naive) : Result<void>();
    if (done)
      return desc.canonicalBytes();
    if (!refused)
      refused = done.takeError();
  }
  return *refused;
}

Result<void> emitMlir(ModuleOp module, const VerifiedProblem &problem, const Backend &backend, const Target &target,
                      std::string &partitionText) {
  const auto &mlir = std::get<MlirDesc>(problem.desc.op);
  QUERN_ASSIGN_OR_RETURN(functions::ReadFunction function, functions::readCanonical(*module.getContext(), mlir.code));
  ModuleOp own = *function.module;
  auto only = *own.getOps<func::FuncOp>().begin();
  functions::nameSteps(only);
  const bool hasErrors = mlir.oracle && mlir.uses.size() > only.getNumArguments();
  SmallVector<unsigned> written;
  for (unsigned i = 0; hasErrors && i < only.getNumArguments(); ++i)
    if (mlir.uses[i] != 'r')
      written.push_back(i);
  functions::addErrorArguments(only, written);
  QUERN_RETURN_IF_ERROR(nameArguments(only, problem));
  QUERN_RETURN_IF_ERROR(fillNumbers(only, mlir));
  QUERN_RETURN_IF_ERROR(functions::foldSizes(only));
  functions::replaceEmpty(only);
  if (mlir.oracle) {
    QUERN_RETURN_IF_ERROR(hasErrors ? functions::computeErrors(only, written) : Result<void>());
    only->setAttr(attr::naive, BoolAttr::get(module.getContext(), hasErrors));
  } else {
    auto supports = [&](func::FuncOp candidate, std::string &whyNot) {
      return isSupported(candidate, backend, target, whyNot);
    };
    QUERN_RETURN_IF_ERROR(functions::partition(own, supports, problem.desc.attr.naive, partitionText));
  }
  if (auto program = attrOf<ProgramAttr>(own))
    module->setAttr(ProgramAttr::name, program);
  module.getBody()->getOperations().splice(module.getBody()->end(), own.getBody()->getOperations());
  return {};
}

} // namespace quern
