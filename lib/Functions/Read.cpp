//===- Read.cpp - Reading a function from bytes ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Functions/Functions.h"

#include "Functions/Canonicalize/Canonicalize.h"
#include "Functions/Canonicalize/Upstream.h"
#include "Functions/Check.h"
#include "Functions/Locations.h"
#include "Functions/OpenSizes.h"
#include "Functions/Text.h"
#include "IR/QuernDialect.h"

#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/AllocationOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace quern;
using namespace quern::functions;

namespace {

constexpr StringLiteral functionName = "function";

/// Records the first error and its location, and suppresses all diagnostics.
class FirstError {
public:
  explicit FirstError(MLIRContext &context)
      : handler(&context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error && text.empty()) {
            text = concat("at ", locationOf(diagnostic.getLocation()), ": ", diagnostic.str());
            text.resize(std::min({text.find('\n'), text.size(), size_t(500)}));
          }
          return success();
        }) {}
  std::string take() { return text.empty() ? "for an unknown reason" : std::move(text); }

private:
  std::string text;
  ScopedDiagnosticHandler handler;
};

Result<OwningOpRef<ModuleOp>> parse(MLIRContext &context, std::string_view bytes) {
  FirstError error(context);
  const std::string copy(bytes); // the parser needs a zero after the text
  const bool isBytecode = StringRef(copy).starts_with("ML\xefR");
  QUERN_RETURN_IF_ERROR(isBytecode ? Result<void>() : checkText(copy));
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(copy, ParserConfig(&context), textName);
  if (!module)
    return invalidArguments("the module is not valid MLIR ", error.take());
  return std::move(module);
}

Result<func::FuncOp> choose(ModuleOp module, std::string_view name) {
  func::FuncOp chosen;
  std::string names;
  int publics = 0;
  for (auto function : module.getOps<func::FuncOp>()) {
    const bool isWanted = name.empty() ? function.isPublic() : function.getName() == StringRef(name);
    names += concat(names.empty() ? "" : ", ", function.getName().str());
    publics += isWanted;
    if (isWanted)
      chosen = function;
  }
  if (names.size() > 200)
    names = names.substr(0, 200) + " …";
  if (!chosen && !name.empty())
    return invalidArguments("the module has no function '", name, "'; it has ", names.empty() ? "none" : names);
  if (publics != 1)
    return invalidArguments("the module has ", publics, " public functions, and none is named; it has ",
                            names.empty() ? "none at all" : names);
  if (chosen.isDeclaration())
    return invalidArguments("function '", chosen.getName().str(), "' is a declaration, without a body");
  return chosen;
}

/// Erases annotations of the caller's compiler: they do not change the result.
void eraseNotes(func::FuncOp function) {
  function.walk([](Operation *op) {
    if (!isa<func::FuncOp>(op))
      op->setDiscardableAttrs(ArrayRef<NamedAttribute>());
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      generic.removeDocAttr();
      generic.removeLibraryCallAttr();
    }
  });
}

/// Moves the function and its constant tables into a separate module. References to other symbols are not checked
/// again: check() has seen the body.
OwningOpRef<ModuleOp> isolate(func::FuncOp function) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  for (auto get : function.getOps<memref::GetGlobalOp>()) // check() refuses them in callers' functions
    if (Operation *table = SymbolTable::lookupNearestSymbolFrom(function, get.getNameAttr()))
      if (!module->lookupSymbol(get.getNameAttr()))
        module->push_back(table->clone());
  function->remove();
  module->push_back(function);
  function->setDiscardableAttrs(ArrayRef<NamedAttribute>());
  function.setName(functionName);
  function.setPublic();
  function.removeArgAttrsAttr();
  function.removeResAttrsAttr();
  return module;
}

Result<void> describeArguments(func::FuncOp function, ReadFunction &result) {
  Builder builder(function.getContext());
  int sources = 0, results = 0;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    const bool isResult = result.uses[i] == 'R';
    const std::string name = isResult ? concat("result", results++) : concat("arg", sources++);
    QUERN_ASSIGN_OR_RETURN(TensorDesc desc, describe(type, name));
    if (result.uses[i] != 'r' && desc.hasBroadcast())
      return unsupported(function, "writes ", name, ", whose elements share addresses");
    function.setArgAttr(static_cast<unsigned>(i), attr::arg, builder.getStringAttr(name));
    result.args.push_back(desc);
  }
  if (result.uses.find_first_not_of('r') == std::string::npos)
    return unsupported(function, "writes nothing");
  return {};
}

} // namespace

void functions::registerDialects(DialectRegistry &registry) {
  registry.insert<bufferization::BufferizationDialect, tensor::TensorDialect>();
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  memref::registerAllocationOpInterfaceExternalModels(registry); // otherwise results are copied
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
}

Result<ReadFunction> functions::read(Upstream &upstream, std::string_view bytes, std::string_view name,
                                     ProductStarts starts) {
  MLIRContext &context = *upstream.simplify.getContext();
  QUERN_ASSIGN_OR_RETURN(OwningOpRef<ModuleOp> parsed, parse(context, bytes));
  FirstError error(context); // keeps the first error of a pass
  QUERN_ASSIGN_OR_RETURN(func::FuncOp chosen, choose(*parsed, name));
  QUERN_RETURN_IF_ERROR(check(chosen, Form::Given));
  ReadFunction result;
  result.module = isolate(chosen);
  const unsigned results = chosen.getNumResults();
  eraseNotes(chosen);
  loadNumbers(chosen);
  const SmallVector<unsigned> kept = argumentsOfEmpty(chosen); // simplifying erases the operations
  if (mlir::failed(decompose(chosen, upstream)))
    return unimplemented(nameAndLocationOf(chosen), " has an operation that cannot be decomposed: ", error.take());
  simplifyReductions(chosen);
  if (mlir::failed(putOnMemrefs(chosen, upstream)))
    return unimplemented("the tensors of ", nameAndLocationOf(chosen), " cannot be bufferized: ", error.take());
  eraseEmpty(chosen, kept);
  separateStarts(chosen, starts == ProductStarts::Separate);
  QUERN_ASSIGN_OR_RETURN(OpenSizes sizes, OpenSizes::of(chosen));
  result.sizes = sizes.text();
  result.numbers = sizes.numbersText();
  QUERN_RETURN_IF_ERROR(flattenTables(chosen));
  QUERN_RETURN_IF_ERROR(check(chosen, Form::Read));
  QUERN_ASSIGN_OR_RETURN(result.uses, writeOnce(chosen, results));
  setFastMathFlags(chosen);
  QUERN_RETURN_IF_ERROR(describeArguments(chosen, result));
  return std::move(result);
}

std::string functions::canonicalText(const ReadFunction &function) {
  std::string text;
  llvm::raw_string_ostream os(text);
  const_cast<ReadFunction &>(function).module->print(os);
  return text;
}

Result<ReadFunction> functions::readCanonical(MLIRContext &context, std::string_view text) {
  QUERN_ASSIGN_OR_RETURN(OwningOpRef<ModuleOp> parsed, parse(context, text));
  QUERN_ASSIGN_OR_RETURN(func::FuncOp chosen, choose(*parsed, functionName));
  QUERN_RETURN_IF_ERROR(check(chosen, Form::Read));
  auto isMemref = [](Type type) { return isa<MemRefType>(type); };
  if (chosen.getNumResults() || !llvm::all_of(chosen.getArgumentTypes(), isMemref))
    return invalidArguments("the stored form of a function must be on memrefs");
  ReadFunction result;
  result.module = isolate(chosen);
  return std::move(result);
}
