//===- Main.cpp - quern-opt: stages and passes on IR from a file ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Reads IR of any stage, as `quern dump` prints it, lowers it further and prints or runs it. Exit codes: 0 success; 1
// the IR does not parse, a stage failed or --check found a difference; 2 bad options.
//
//===----------------------------------------------------------------------===//
#include "Desc/Target.h"
#include "EmptyAccesses.h"
#include "Replay.h"
#include "Sizes.h"
#include "StandardStreams.h"
#include "Targets/Cpu/Pipeline.h"
#include "Timing.h"
#include "Transforms/Transforms.h"
#include "quern-compiler/Compiler.h"
#include "quern-compiler/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
namespace cl = llvm::cl;

namespace {

struct Options {
  cl::OptionCategory category{"quern-opt options"};
  cl::opt<std::string> input{cl::Positional, cl::desc("<IR file, - for standard input>"), cl::init("-"),
                             cl::cat(category)};
  cl::opt<std::string> output{"o", cl::desc("Output file, - for standard output"), cl::init("-"), cl::cat(category)};
  cl::opt<std::string> target{"target", cl::desc("An instruction set, or native"), cl::init("native"),
                              cl::cat(category)};
  PassPipelineCLParser passes{"", "Passes to run first"};
  cl::opt<bool> schedule{"schedule", cl::desc("Stop after scheduling by the first recipe that supports the problem"),
                         cl::cat(category)};
  cl::opt<bool> naive{"naive", cl::desc("Emit scalar loops in f64 instead of scheduling"), cl::cat(category)};
  cl::opt<bool> expandMath{"expand-math", cl::desc("Stop after expanding math and narrow floats"), cl::cat(category)};
  cl::opt<bool> lower{"lower", cl::desc("Stop after lowering to the LLVM dialect"), cl::cat(category)};
  cl::opt<bool> llvmIr{"llvm", cl::desc("Print LLVM IR"), cl::cat(category)};
  cl::opt<bool> codegen{"codegen", cl::desc("Print assembly"), cl::cat(category)};
  cl::opt<bool> run{"run", cl::desc("Run the kernel on data from --seed and print digests of the changed buffers"),
                    cl::cat(category)};
  cl::opt<bool> check{
      "check",
      cl::desc("Run the passes, schedule, run, and compare with the naive loops of the input on the same data"),
      cl::cat(category)};
  cl::opt<bool> allowEmpty{"allow-empty",
                           cl::desc("Accept masked accesses outside of buffers in --check if no lane is active"),
                           cl::cat(category)};
  cl::opt<bool> time{"time", cl::desc("Time compilation and execution on one thread, relative to a measured peak"),
                     cl::cat(category)};
  cl::opt<std::string> peak{"peak", cl::desc("Multiply-adds that define the peak of --time: f32, f64, bf16 or int8"),
                            cl::init("f32"), cl::cat(category)};
  cl::opt<uint64_t> seed{"seed", cl::desc("Seed of the data of --run and --check"), cl::init(1), cl::cat(category)};
  cl::opt<int64_t> values{"values", cl::desc("Number of values of each buffer that --run prints"), cl::init(0),
                          cl::cat(category)};
  cl::list<int64_t> sizes{"sizes",
                          cl::desc("Open sizes of --check, --run and --time, in the order of the kernel's list"),
                          cl::CommaSeparated, cl::cat(category)};
  cl::opt<double> tolerance{
      "tolerance", cl::desc("Largest relative error that --check accepts (default: 32 ULP, 1 ULP of types below f32)"),
      cl::init(0), cl::cat(category)};
};

/// Limits --help to this tool's options and the passes; LLVM's libraries register many others.
void hideOptionsOfLibraries(Options &options) {
  auto &registered = cl::getRegisteredOptions();
  for (StringRef ofParser : {"pass-pipeline", "quern-schedule"}) // "quern-schedule" stands for all passes
    registered.lookup(ofParser)->addCategory(options.category);
  cl::HideUnrelatedOptions(options.category);
}

/// Lowers a module of problems (linalg), kernels (vector, scf) or lowered kernels (LLVM dialect) through the requested
/// stages.
class Driver {
public:
  Driver(const Options &options, llvm::raw_ostream &os) : options(options), os(os) {}

  LogicalResult process(ModuleOp module) {
    if (options.check)
      return check(module);
    if (failed(runPasses(module)))
      return failure();
    if (options.time)
      return time(module);
    bool carriesOn = options.expandMath || options.lower || options.llvmIr || options.codegen || options.run;
    if ((options.schedule || options.naive || carriesOn) && failed(schedule(module, options.naive)))
      return failure();
    if (options.expandMath)
      return succeeded(expand(module)) ? print(module) : failure();
    bool lowers = options.lower || options.llvmIr || options.codegen || options.run;
    if (lowers && failed(lower(module)))
      return failure();
    if (options.run)
      return run(module);
    if (options.llvmIr || options.codegen)
      return printCode(module);
    return print(module);
  }

private:
  std::vector<int64_t> sizeList() const { return {options.sizes.begin(), options.sizes.end()}; }
  LogicalResult runPasses(ModuleOp module) {
    auto passes = PassManager::on<ModuleOp>(module.getContext(), OpPassManager::Nesting::Implicit);
    auto fail = [&](const Twine &why) { return module.emitError(why); };
    return failure(failed(options.passes.addToPipeline(passes, fail)) || failed(passes.run(module)));
  }
  /// Returns true if a function has a reduction. Without one, every operation must be rounded as written.
  static bool hasReduction(func::FuncOp function) {
    auto reduces = [](linalg::LinalgOp op) {
      return op.getNumReductionLoops() ? WalkResult::interrupt() : WalkResult::advance();
    };
    return function.walk(reduces).wasInterrupted();
  }
  LogicalResult schedule(ModuleOp module, bool naive) {
    if (!naive)
      return quern::compiler::schedule(module, options.target);
    for (auto function : llvm::to_vector(module.getOps<func::FuncOp>())) {
      if (quern::isKernel(function))
        continue;
      if (failed(quern::lowerNaively(function, /*widen=*/hasReduction(function))))
        return failure();
    }
    return success();
  }
  LogicalResult expand(ModuleOp module) {
    auto target = quern::Target::parse(options.target.getValue());
    return quern::expandForTarget(module, *target);
  }
  /// Lowers kernels; lowered ones stay unchanged.
  LogicalResult lower(ModuleOp module) {
    bool isLowered = module.getOps<func::FuncOp>().empty() && !module.getBody()->empty();
    return isLowered ? success() : quern::compiler::lower(module, options.target);
  }
  LogicalResult print(ModuleOp module) {
    module.print(os);
    return success();
  }
  LogicalResult printCode(ModuleOp module) {
    using quern::compiler::CodeForm;
    FailureOr<std::string> text =
        quern::compiler::codegen(module, options.target, options.codegen ? CodeForm::Assembly : CodeForm::LlvmIr);
    if (failed(text))
      return failure();
    os << *text;
    return success();
  }
  LogicalResult run(ModuleOp module) {
    auto buffers = quern::replay(module, options.target, options.seed, {sizeList(), {}});
    if (failed(buffers))
      return failure();
    for (const quern::Buffer &buffer : *buffers)
      os << quern::describe(buffer, options.values) << '\n';
    return success();
  }
  FailureOr<std::vector<quern::Buffer>> results(ModuleOp module, bool naive) {
    OwningOpRef<ModuleOp> copy = module.clone(), closed = module.clone();
    auto sizes = quern::closeSizes(*closed, sizeList());
    if (failed(sizes))
      return failure();
    if (naive)
      copy = std::move(closed);
    if (!naive && failed(runPasses(*copy)))
      return failure();
    if (failed(schedule(*copy, naive)))
      return failure();
    if (options.check && !options.allowEmpty)
      quern::trapEmptyAccesses(*copy);
    if (failed(lower(*copy)))
      return failure();
    return quern::replay(*copy, options.target, options.seed, *sizes);
  }
  LogicalResult check(ModuleOp module) {
    quern::explainTraps("quern-opt");
    auto scheduled = results(module, false);
    auto naive = results(module, true);
    if (failed(scheduled) || failed(naive))
      return failure();
    std::string report;
    bool same = quern::agree(*scheduled, *naive, options.tolerance, report);
    os << report;
    return success(same);
  }

  LogicalResult time(ModuleOp module) {
    auto timing = quern::timeProblem(module, options.target, options.peak, options.seed, sizeList());
    if (failed(timing))
      return failure();
    os << timing->text();
    return success();
  }

  const Options &options;
  llvm::raw_ostream &os;
};

} // namespace

int main(int argc, char **argv) {
  quern::openStandardStreams();
  quern::compiler::registerPasses(); // before the options, because each pass is one
  registerCanonicalizerPass();
  registerCSEPass();
  Options options;
  hideOptionsOfLibraries(options);
  if (!cl::ParseCommandLineOptions(argc, argv, "Runs Quern's stages and passes on IR from a file\n", &llvm::errs()))
    return 2;
  if (auto target = quern::Target::parse(options.target.getValue()); !target) {
    llvm::errs() << "quern-opt: " << target.error().message << '\n';
    return 2;
  }
  auto input = llvm::MemoryBuffer::getFileOrSTDIN(options.input);
  if (!input) {
    llvm::errs() << "quern-opt: " << options.input << ": " << input.getError().message() << '\n';
    return 2;
  }
  std::error_code failure;
  llvm::ToolOutputFile output(options.output, failure, llvm::sys::fs::OF_Text);
  if (failure) {
    llvm::errs() << "quern-opt: " << options.output << ": " << failure.message() << '\n';
    return 2;
  }
  DialectRegistry registry;
  quern::compiler::registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false); // one line per error
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*input), llvm::SMLoc());
  SourceMgrDiagnosticHandler diagnostics(sources, &context, llvm::errs());
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (!module || failed(Driver(options, output.os()).process(*module)))
    return 1;
  output.os().flush();
  if (const std::error_code error = output.os().error()) {
    output.os().clear_error(); // otherwise its destructor would terminate the program
    llvm::errs() << "quern-opt: " << options.output << ": " << error.message() << '\n';
    return 2;
  }
  output.keep();
  return 0;
}
