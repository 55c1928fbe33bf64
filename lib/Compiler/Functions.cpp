//===- Functions.cpp - Callers' functions in the compiler -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Reading creates the canonical form and tries to partition it, so that refusals can name the caller's locations.
// Emission starts from the canonical form only, so that equal forms give equal kernels.
//
//===----------------------------------------------------------------------===//
#include "Compiler/Functions.h"

#include "Compiler/Stages.h"
#include "Functions/Functions.h"
#include "IR/Naive.h"
#include "IR/QuernDialect.h"
#include "Primitives/Registry.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Diagnostics.h"

#include <deque>
#include <mutex>

using namespace mlir;

namespace quern {
namespace {

/// Returns true if a problem has a matrix product and other operations.
bool hasProductAmongOthers(func::FuncOp problem) {
  size_t others = 0;
  bool hasProduct = false;
  for (auto op : problem.getOps<linalg::LinalgOp>()) {
    FailureOr<linalg::ContractionDimensions> dims = linalg::inferContractionDims(op);
    hasProduct |= succeeded(dims) && !dims->m.empty() && !dims->n.empty() && !dims->k.empty();
    others += !isa<linalg::FillOp>(op.getOperation());
  }
  return hasProduct && others > 1;
}

/// Returns true if the target's recipes support a problem, by scheduling a copy of it. The rows recipe would treat a
/// product like any other reduction; that counts as unsupported, because the product alone may be a contraction.
bool isTaken(func::FuncOp problem, const Backend &backend, const Target &target, std::string &whyNot) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(problem.getLoc());
  module->push_back(problem.clone());
  if (failed(scheduleModule(*module, backend, target, whyNot)))
    return false;
  auto isOfRows = [](func::FuncOp kernel) {
    auto own = attrOf<KernelAttr>(kernel);
    return own && own.getPlan().starts_with("rows");
  };
  if (!hasProductAmongOthers(problem) || llvm::none_of(module->getOps<func::FuncOp>(), isOfRows))
    return true;
  whyNot = "the rows recipe would schedule a product with it";
  return false;
}

/// Cache of recent partitions: a read is usually followed by a compilation of the same function.
class KnownCuts {
public:
  static KnownCuts &instance() {
    static auto *known = new KnownCuts; // never destroyed: a thread may still compile at exit
    return *known;
  }
  functions::Cuts of(const std::string &function) {
    std::lock_guard lock(mutex);
    auto found = llvm::find_if(known, [&](const auto &one) { return one.first == function; });
    return found == known.end() ? functions::Cuts() : found->second;
  }
  void add(std::string function, functions::Cuts cuts) {
    constexpr size_t most = 16, maxBytes = size_t(1) << 20;
    if (function.size() > maxBytes)
      return;
    std::lock_guard lock(mutex);
    if (known.size() == most)
      known.pop_front();
    known.emplace_back(std::move(function), std::move(cuts));
  }

private:
  std::mutex mutex;
  std::deque<std::pair<std::string, functions::Cuts>> known; ///< results by function and target, oldest first
};

/// Partitions a function that was read; `desc` is its descriptor.
Result<void> cutFor(ModuleOp module, const PrimitiveDesc &desc, const Backend &backend, const Target &target,
                    std::string *whyCut = nullptr) {
  const std::string function = desc.canonicalBytes() + target.text();
  functions::Cuts cuts = KnownCuts::instance().of(function);
  const bool isKnown = !cuts.empty();
  auto takes = [&](func::FuncOp problem, std::string &whyNot) { return isTaken(problem, backend, target, whyNot); };
  Result<void> done = functions::cut(module, takes, desc.attr.naive, cuts, whyCut);
  if (done && !isKnown)
    KnownCuts::instance().add(function, std::move(cuts));
  return done;
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
    const bool isCut = !mlir->oracle && !problem.isNoop;
    Result<void> taken = isCut ? cutFor(*function.module, desc, backend, target) : Result<void>();
    if (taken)
      return desc.canonicalBytes();
    if (!refused)
      refused = taken.takeError();
  }
  return *refused;
}

Result<void> emitMlir(ModuleOp module, const VerifiedProblem &problem, const Backend &backend, const Target &target,
                      std::string &whyCut) {
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
  } else if (Result<void> done = cutFor(own, problem.desc, backend, target, &whyCut); !done) {
    return done;
  }
  if (auto program = attrOf<ProgramAttr>(own))
    module->setAttr(ProgramAttr::name, program);
  module.getBody()->getOperations().splice(module.getBody()->end(), own.getBody()->getOperations());
  return {};
}

} // namespace quern
