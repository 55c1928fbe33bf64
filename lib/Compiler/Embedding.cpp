//===- Embedding.cpp - The stages for embedders in MLIR -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Implements quern-compiler/Compiler.h on the caller's contexts. Patterns are built for each call, unlike in the
// compiler's warm contexts, because no state may be attached to an embedder's context.
//
//===----------------------------------------------------------------------===//
#include "quern-compiler/Compiler.h"

#include "Compiler/Stages.h"
#include "Primitives/Emitters.h"
#include "Primitives/Registry.h"
#include "Targets/Cpu/Linker.h"
#include "Targets/KernelLowering.h"

using namespace mlir;

namespace quern::compiler {
namespace {

FailureOr<Target> parseTarget(Location loc, StringRef text) {
  Result<Target> target = Target::parse(std::string_view(text));
  if (!target)
    return emitError(loc) << target.error().message;
  return *target;
}

/// Loads the dialects of all stages. Has no effect inside a pass, because its dependent dialects are already loaded.
void loadStageDialects(MLIRContext &context) {
  DialectRegistry registry;
  registerAllStageDialects(registry);
  context.appendDialectRegistry(registry);
  for (StringRef name : registry.getDialectNames())
    context.getOrLoadDialect(name);
}

} // namespace

void registerDialects(DialectRegistry &registry) { registerAllStageDialects(registry); }

OwningOpRef<ModuleOp> emit(MLIRContext &context, StringRef line, StringRef target) {
  Location loc = UnknownLoc::get(&context);
  FailureOr<Target> parsedTarget = parseTarget(loc, target);
  if (failed(parsedTarget))
    return nullptr;
  auto refuse = [&](const Twine &why) -> OwningOpRef<ModuleOp> {
    emitError(loc) << why;
    return nullptr;
  };
  Result<PrimitiveDesc> desc = PrimitiveDesc::parse(std::string_view(line));
  if (!desc)
    return refuse(desc.error().message);
  Result<VerifiedProblem> problem = verify(*desc, *parsedTarget);
  if (!problem)
    return refuse(problem.error().message);
  if (problem->isNoop)
    return refuse("nothing to emit: a tensor of '" + problem->desc.text() + "' has no elements");
  loadStageDialects(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  if (failed(emitProblem(*module, *problem)))
    return nullptr;
  return module;
}

LogicalResult schedule(ModuleOp module, StringRef target) {
  FailureOr<Target> parsed = parseTarget(module.getLoc(), target);
  if (failed(parsed))
    return failure();
  loadStageDialects(*module.getContext());
  std::string whyNot;
  if (failed(scheduleModule(module, *Backend::create(*parsed), *parsed, whyNot)))
    return module.emitError("schedule: ") << whyNot;
  return success();
}

LogicalResult lower(ModuleOp module, StringRef target) {
  FailureOr<Target> parsed = parseTarget(module.getLoc(), target);
  if (failed(parsed))
    return failure();
  loadStageDialects(*module.getContext());
  return Backend::create(*parsed)->lower(module, *parsed, /*verifyIr=*/true);
}

FailureOr<std::string> codegen(ModuleOp module, StringRef target, CodeForm wanted) {
  FailureOr<Target> parsed = parseTarget(module.getLoc(), target);
  if (failed(parsed))
    return failure();
  quern::CodeForm form = wanted == CodeForm::LlvmIr     ? quern::CodeForm::LlvmIr
                         : wanted == CodeForm::Assembly ? quern::CodeForm::Assembly
                                                        : quern::CodeForm::Binary;
  Result<std::string> code = Backend::create(*parsed)->codegen(module, *parsed, form, /*verifyIr=*/true);
  if (!code)
    return module.emitError() << code.error().message;
  return std::move(*code);
}

struct LoadedKernel::Code {
  std::unique_ptr<LinkedObject> object;
};

LoadedKernel::LoadedKernel() = default;
LoadedKernel::LoadedKernel(LoadedKernel &&) noexcept = default;
LoadedKernel &LoadedKernel::operator=(LoadedKernel &&) noexcept = default;
LoadedKernel::~LoadedKernel() = default;

FailureOr<LoadedKernel> load(ModuleOp module, StringRef target, ArrayRef<StringRef> symbols) {
  FailureOr<Target> parsed = parseTarget(module.getLoc(), target);
  if (failed(parsed))
    return failure();
  if (!parsed->isCpu() || !includesIsa(detectedIsa(), parsed->isa) ||
      (isSve(parsed->isa) && parsed->vectorBits != Target::host().vectorBits))
    return module.emitError() << "load: this machine is " << StringRef(nameOfIsa(detectedIsa())) << " and cannot run "
                              << target;
  FailureOr<std::string> object = codegen(module, target, CodeForm::Object);
  if (failed(object))
    return failure();
  Result<std::unique_ptr<LinkedObject>> linked =
      linkObject(*object, std::vector<std::string>(symbols.begin(), symbols.end()));
  if (!linked)
    return module.emitError() << linked.error().message;
  LoadedKernel kernel;
  kernel.addresses = (*linked)->entries;
  kernel.code = std::make_unique<LoadedKernel::Code>(std::move(*linked));
  return kernel;
}

} // namespace quern::compiler
