//===- Compiler.cpp - From descriptors to code ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// After `emit`, only the header fields of the artifact depend on the descriptor. Every text form starts with the
// problem's line and the target as comments, so that quern-opt can replay a dump.
//
//===----------------------------------------------------------------------===//
#include "Compiler/Compiler.h"

#include "Artifact/Artifact.h"
#include "Compiler/DebugInfo.h"
#include "Compiler/Functions.h"
#include "Compiler/LaunchWriter.h"
#include "Compiler/Stages.h"
#include "Compiler/Trace.h"
#include "Compiler/TraceParts.h"
#include "Desc/Key.h"
#include "IR/Launch.h"
#include "IR/Plan.h"
#include "IR/QuernDialect.h"
#include "IR/ValueNames.h"
#include "Primitives/Emitters.h"
#include "Primitives/Registry.h"
#include "Support/Stage.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

#include <chrono>
#include <cstdio>

using namespace mlir;

namespace quern {
namespace {

thread_local StageTimes threadStageTimes;

/// Adds the time of its scope to a counter.
class Timer {
public:
  explicit Timer(uint64_t &sum) : sum(sum), start(Clock::now()) {}
  ~Timer() {
    sum += static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count());
  }

private:
  using Clock = std::chrono::steady_clock;
  uint64_t &sum;
  Clock::time_point start;
};

/// Keeps the first error of the context's diagnostics, with its notes, and suppresses the default printer.
class DiagnosticCapture {
public:
  explicit DiagnosticCapture(MLIRContext &context)
      : handler(&context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error && first.empty()) {
            first = diagnostic.str();
            for (Diagnostic &note : diagnostic.getNotes())
              first += "; " + note.str();
          }
          return success();
        }) {}
  /// Returns the text up to its first line break, or a placeholder.
  std::string firstLine() const {
    return first.empty() ? "failed without a diagnostic" : first.substr(0, first.find('\n'));
  }

private:
  std::string first;
  ScopedDiagnosticHandler handler;
};

/// One problem and its state between the stages.
class Compilation {
public:
  Compilation(VerifiedProblem problem, const Target &target, bool verifyIr, StageTimes &times)
      : problem(std::move(problem)), target(target), verifyIr(verifyIr), times(times), lease(takeLease(times)),
        backend(takeBackend(*lease, target, times)), capture(lease->context),
        module(ModuleOp::create(UnknownLoc::get(&lease->context))) {}

  Result<void> emit();
  Result<void> schedule();
  Result<void> lower();
  Result<std::string> codegen(CodeForm form);
  Result<std::string> artifact();
  /// Returns all stages as text with the origins of their lines, as JSON.
  Result<std::string> trace();
  /// Returns the object with DWARF whose source is the file `path`, and with that file's text.
  Result<std::string> debugObject(const std::string &path);
  /// Adds the launch to an artifact: entries, steps, arguments, scratch.
  Result<void> addLaunch(Artifact &artifact);
  std::string moduleText();
  std::string heading(StringRef comment) const {
    return (comment + Twine(problem.desc.title()) + "\n" + comment + "target " + target.text() + "  key " + key() +
            "\n")
        .str();
  }
  /// Returns the name of the artifact's file in a cache.
  std::string key() const { return keyOf(problem.desc, target).digest.hex(); }
  const BackendTraits &traits() const { return backend.traits; }
  /// Returns the kernels' plans in the order in which they run, after `schedule` or `lower`.
  std::string plan();
  std::string partition; ///< set by `emit` if the input is a function: a line for each problem

private:
  static ContextLease takeLease(StageTimes &times) {
    Timer timer(times.contextNs);
    return ContextLease();
  }
  static Backend &takeBackend(CompileContext &context, const Target &target, StageTimes &times) {
    Timer timer(times.contextNs);
    return context.backendFor(target);
  }
  Error failed(Stage stage, Status status, const std::string &why) const {
    return {status, concat(toString(stage), ": ", why, " in '", problem.desc.title(), "' for ", target.text())};
  }
  /// Returns true for a caller's function: its operations may lack a lowering for the target. For a primitive that is a
  /// defect of Quern.
  bool isOfCaller() const { return problem.desc.kind() == PrimitiveKind::Mlir; }
  /// Emits and schedules with locations. `fields`, if not null, receives the results of the recipes.
  Result<std::vector<TracedStage>> traceSchedule(llvm::json::Object *fields = nullptr);
  /// Returns the number of an execution's run-time sizes, including derived ones.
  int64_t sizeCount() const;
  Result<void> verifyModule(Stage stage) {
    if (verifyIr && mlir::failed(mlir::verify(*module)))
      return failed(stage, Status::Internal, capture.firstLine());
    return {};
  }

  VerifiedProblem problem;
  const Target &target;
  bool verifyIr;
  StageTimes &times;
  ContextLease lease;
  Backend &backend;
  DiagnosticCapture capture;
  OwningOpRef<ModuleOp> module;
};

Result<void> Compilation::emit() {
  Timer timer(times.emitNs);
  if (isOfCaller()) {
    if (Result<void> done = emitMlir(*module, problem, backend, target, partition); !done)
      return failed(Stage::Emit, done.error().status, done.error().message);
  } else if (mlir::failed(emitProblem(*module, problem))) {
    return failed(Stage::Emit, Status::Unimplemented, capture.firstLine());
  }
  return verifyModule(Stage::Emit);
}

Result<void> Compilation::schedule() {
  Timer timer(times.scheduleNs);
  if (int64_t sizes = sizeCount(); sizes && traits().passesSizes)
    (*module)->setAttr(attr::sizeCount, Builder(&lease->context).getIndexAttr(sizes));
  std::string whyNot;
  if (mlir::failed(scheduleModule(*module, backend, target, whyNot)))
    return failed(Stage::Schedule, Status::Unimplemented, whyNot);
  return verifyModule(Stage::Schedule);
}

Result<void> Compilation::lower() {
  Timer timer(times.lowerNs);
  if (mlir::failed(backend.lower(*module, target, verifyIr)))
    return failed(Stage::Lower, isOfCaller() ? Status::Unimplemented : Status::Internal, capture.firstLine());
  return {};
}

Result<std::string> Compilation::codegen(CodeForm form) {
  Timer timer(times.codegenNs);
  Result<std::string> code = backend.codegen(*module, target, form, verifyIr);
  if (!code)
    return Error{code.error().status,
                 concat(code.error().message, " in '", problem.desc.title(), "' for ", target.text())};
  return code;
}

std::string Compilation::plan() {
  SmallVector<PlanAttr> plans;
  for (Operation &op : module->getBody()->getOperations())
    if (auto kernel = attrOf<KernelAttr>(&op); kernel && kernel.getPlan())
      plans.push_back(kernel.getPlan());
  return textOf(plans);
}

std::string Compilation::moduleText() { return heading("// ") + namedText(*module); }

int64_t Compilation::sizeCount() const {
  auto program = attrOf<ProgramAttr>(*module);
  int64_t count = program ? llvm::count_if(program.getSteps(), llvm::IsaPred<MaximumAttr, NumberAttr, SizeAttr>) : 0;
  for (const ArgumentInfo &argument : problem.arguments)
    count += argument.runtimeSizes();
  return count;
}

Result<void> Compilation::addLaunch(Artifact &artifact) {
  FailureOr<Launch> launch = launchOf(*module);
  if (mlir::failed(launch))
    return failed(Stage::Codegen, Status::Internal, capture.firstLine());
  if (Result<void> added = LaunchWriter(artifact, problem.arguments).add(std::move(*launch)); !added)
    return failed(Stage::Codegen, added.error().status, added.error().message);
  return {};
}

Result<std::string> Compilation::artifact() {
  QUERN_ASSIGN_OR_RETURN(std::string code, codegen(CodeForm::Binary));
  Artifact artifact;
  artifact.codeKind = traits().codeKind;
  artifact.descriptor = problem.desc.text();
  artifact.target = target.text();
  artifact.buildId = compilerBuildId();
  artifact.keyBytes = keyOf(problem.desc, target).bytes;
  artifact.plan = plan();
  QUERN_RETURN_IF_ERROR(addLaunch(artifact));
  artifact.code = std::move(code);
  return artifact.serialize();
}

Result<std::vector<TracedStage>> Compilation::traceSchedule(llvm::json::Object *fields) {
  std::vector<TracedStage> stages;
  const auto add = [&](Result<void> done, const char *name, const char *of) -> Result<void> {
    if (!done)
      return done;
    QUERN_ASSIGN_OR_RETURN(TracedStage stage, traceModule(module, name, heading("// "), of));
    stages.push_back(std::move(stage));
    return {};
  };
  QUERN_RETURN_IF_ERROR(add(emit(), "emit", ""));
  if (fields)
    (*fields)["recipes"] = opinionsAsJson(*module, backend, target);
  QUERN_RETURN_IF_ERROR(add(schedule(), "schedule", "emit"));
  return stages;
}

Result<std::string> Compilation::debugObject(const std::string &path) {
  QUERN_ASSIGN_OR_RETURN(std::vector<TracedStage> stages, traceSchedule());
  QUERN_RETURN_IF_ERROR(lower());
  addDebugInfo(*module, "schedule", path);
  QUERN_ASSIGN_OR_RETURN(std::string object, codegen(CodeForm::Binary));
  return addDebugSections(object, locatedText(stages.back(), stages.front()));
}

Result<std::string> Compilation::trace() {
  llvm::json::Object fields;
  QUERN_ASSIGN_OR_RETURN(std::vector<TracedStage> stages, traceSchedule(&fields));
  const std::string plan = this->plan();
  Artifact artifact;
  FailureOr<Launch> launch = launchOf(*module);
  QUERN_RETURN_IF_ERROR(addLaunch(artifact));
  fields["program"] = programAsJson(artifact, problem.arguments, launch->regions);
  QUERN_RETURN_IF_ERROR(lower());
  if (mlir::failed(addDebugScopes(*module, "schedule")))
    return failed(Stage::Codegen, Status::Internal, capture.firstLine());
  for (const CodeForm form : {CodeForm::LlvmIr, CodeForm::Assembly}) {
    QUERN_ASSIGN_OR_RETURN(std::string text, codegen(form));
    text.insert(0, heading(form == CodeForm::LlvmIr ? "; " : traits().assemblyComment));
    if (form == CodeForm::LlvmIr) {
      stages.push_back(traceLlvm(text, "schedule"));
      continue;
    }
    QUERN_ASSIGN_OR_RETURN(CodeListing listing, backend.list(*module, target));
    stages.push_back(traceAssembly(text, "schedule", std::move(listing)));
  }
  if (traits().codeKind != CodeKind::ElfObject)
    stages.back().language = "spirv";
  fields["key"] = key();
  return traceAsJson(problem.desc.title(), target.text(), plan, stages, std::move(fields));
}

Result<VerifiedProblem> verifyForCode(const PrimitiveDesc &desc, const Target &target) {
  Result<VerifiedProblem> problem = verify(desc, target);
  if (problem && problem->isNoop)
    return Error{Status::NotRequired,
                 concat("nothing to compile: a tensor of '", problem->desc.text(), "' has no elements")};
  return problem;
}

/// Returns the iterations of each entry and the number of steps that run it, such as "8 + 3 x 2".
std::string iterationsOf(const Artifact &artifact) {
  std::string text;
  for (uint32_t entry = 0; entry < artifact.entries.size(); ++entry) {
    auto runs = [&](const LaunchStep &step) { return step.entry == entry; };
    auto steps = llvm::count_if(artifact.steps, runs);
    text += concat(text.empty() ? "" : " + ", steps > 1 ? concat(steps, " x ") : "",
                   llvm::find_if(artifact.steps, runs)->iterations);
  }
  return text;
}

constexpr bool checksEnabled() {
#ifdef QUERN_ENABLE_CHECKS
  return true;
#else
  return false;
#endif
}

/// Runs the stages up to the one that `form` shows.
Result<std::string> runStages(Compilation &run, quern_compiler_form form, const std::string &sourcePath) {
  if (form == QUERN_COMPILER_TRACE)
    return run.trace();
  if (form == QUERN_COMPILER_DEBUG_OBJECT)
    return run.debugObject(sourcePath);
  QUERN_RETURN_IF_ERROR(run.emit());
  if (form == QUERN_COMPILER_EMIT)
    return run.moduleText();
  QUERN_RETURN_IF_ERROR(run.schedule());
  if (form == QUERN_COMPILER_SCHEDULE)
    return run.moduleText();
  QUERN_RETURN_IF_ERROR(run.lower());
  switch (form) {
  case QUERN_COMPILER_LOWER:
    return run.moduleText();
  case QUERN_COMPILER_ARTIFACT:
    return run.artifact();
  case QUERN_COMPILER_OBJECT:
  case QUERN_COMPILER_SPIRV:
    return run.codegen(CodeForm::Binary);
  default:
    break;
  }
  const bool isAssembly = form == QUERN_COMPILER_ASM;
  Result<std::string> text = run.codegen(isAssembly ? CodeForm::Assembly : CodeForm::LlvmIr);
  if (text)
    text->insert(0, run.heading(isAssembly ? run.traits().assemblyComment : "; "));
  return text;
}

} // namespace

std::string StageTimes::text() const {
  auto ms = [](uint64_t ns) { return static_cast<double>(ns) * 1e-6; };
  char line[160];
  std::snprintf(line, sizeof(line), "context %.3f emit %.3f schedule %.3f lower %.3f codegen %.3f total %.3f ms",
                ms(contextNs), ms(emitNs), ms(scheduleNs), ms(lowerNs), ms(codegenNs), ms(totalNs()));
  return line;
}

const StageTimes &lastStageTimes() { return threadStageTimes; }

Result<std::string> compileProblem(const PrimitiveDesc &desc, const Target &target, int32_t form, bool verifyIr,
                                   const std::string &sourcePath) {
  threadStageTimes = {};
  if (form < QUERN_COMPILER_EMIT || form > QUERN_COMPILER_DEBUG_OBJECT)
    return invalidArguments("code form ", form, " is unknown; the forms are ", static_cast<int>(QUERN_COMPILER_EMIT),
                            " to ", static_cast<int>(QUERN_COMPILER_DEBUG_OBJECT));
  QUERN_ASSIGN_OR_RETURN(VerifiedProblem problem, verifyForCode(desc, target));
  Compilation run(std::move(problem), target, verifyIr || checksEnabled(), threadStageTimes);
  const CodeKind kind = run.traits().codeKind;
  if (form == QUERN_COMPILER_SPIRV && kind != CodeKind::SpirV)
    return unimplemented("target '", target.text(), "' has an object, not a SPIR-V module");
  if ((form == QUERN_COMPILER_OBJECT || form == QUERN_COMPILER_DEBUG_OBJECT) && kind != CodeKind::ElfObject)
    return unimplemented("target '", target.text(), "' has a SPIR-V module, not an object");
  return runStages(run, static_cast<quern_compiler_form>(form), sourcePath);
}

Result<std::string> explainProblem(const PrimitiveDesc &desc, const Target &target) {
  QUERN_ASSIGN_OR_RETURN(VerifiedProblem problem, verifyForCode(desc, target));
  std::string implementation = problem.implementation;
  StageTimes times;
  Compilation run(std::move(problem), target, checksEnabled(), times);
  QUERN_RETURN_IF_ERROR(run.emit());
  QUERN_RETURN_IF_ERROR(run.schedule());
  Artifact artifact;
  QUERN_RETURN_IF_ERROR(run.addLaunch(artifact));
  int64_t shared = artifact.sharedScratchBytes;
  std::string regions;
  for (const Polynomial &bytes : artifact.regions)
    regions += (regions.empty() ? "; regions of " : ", ") + bytes.text();
  return concat(implementation, "; ", run.plan(), "; ", iterationsOf(artifact), " iterations, ",
                artifact.scratchBytesPerThread, " bytes of scratch per thread",
                shared ? concat(", ", shared, " shared") : "", regions + (regions.empty() ? "" : " bytes"),
                artifact.loops.empty() && artifact.regions.empty() ? "" : concat("; ", artifact.launchText()),
                run.partition.empty() ? "" : "\ngroups\n", run.partition);
}

} // namespace quern
