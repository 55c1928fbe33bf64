//===- Timing.cpp - Speed of kernels relative to the peak -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Timing.h"

#include "Desc/Target.h"
#include "Replay.h"
#include "Sizes.h"
#include "Targets/Cpu/Codegen.h"
#include "Targets/Cpu/Pipeline.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <ctime>

using namespace mlir;

namespace quern {
namespace {

constexpr int compilations = 9, rounds = 31;
constexpr double nsPerRound = 2e6;
constexpr int64_t peakSums = 16, peakSteps = 20000;

/// Uses the CPU time of this thread, which depends little on other load.
double nsOf(llvm::function_ref<void()> f) {
  auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
  };
  double start = now();
  f();
  return now() - start;
}

double medianOf(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// A kernel of peakSums vectors, to each of which peakSteps multiply-adds are applied.
struct PeakKernel {
  std::string text;
  double operations = 0;
};

PeakKernel peakKernel(StringRef kind, const Target &target) {
  bool isDouble = kind == "f64", isPairs = kind == "bf16", isQuads = kind == "int8";
  int64_t lanes = isDouble ? target.lanes32() / 2 : target.lanes32(), packed = isPairs ? 2 : isQuads ? 4 : 1;
  std::string sum = isDouble ? "f64" : isQuads ? "i32" : "f32", n = std::to_string(lanes), k = std::to_string(packed);
  std::string element = isPairs   ? "bf16"
                        : isQuads ? "i8"
                                  : sum,
              sums = "vector<" + n + "x" + sum + ">", zero = isQuads ? "0" : "0.0";
  std::string many = "vector<" + n + "x" + k + "x", one = "vector<" + k + "x", carried, types, dots, yielded;
  for (int64_t i = 0; i < peakSums; ++i) {
    std::string number = std::to_string(i), comma = i ? ", " : "";
    carried += comma + "%s" + number + " = %zero";
    types += comma + sums;
    yielded += comma + "%r" + number;
    if (packed == 1 && target.isX86() && !target.has(CpuIsa::Avx2)) {
      dots += "      %p" + number + " = arith.mulf %x, %x : " + sums + "\n      %r" + number + " = arith.addf %s" +
              number + ", %p" + number + " : " + sums + "\n";
      continue;
    }
    dots += "      %r" + number + " = ";
    if (packed == 1)
      dots += "math.fma %x, %x, %s" + number + " : " + sums + "\n";
    else
      dots += "vector.contract {indexing_maps = [affine_map<(l, k) -> (k)>, affine_map<(l, k) -> (l, k)>, "
              "affine_map<(l, k) -> (l)>], "
              "iterator_types = [\"parallel\", \"reduction\"], kind = #vector.kind<add>} %one, %many, %s" +
              number + " : " + one + (isQuads ? "i32" : element) + ">, " + many + (isQuads ? "i32" : element) +
              "> into " + sums + "\n";
  }
  std::string flat = std::to_string(lanes * packed), few = isPairs ? "%one" : "%few",
              shaped = isPairs ? "%many" : "%shaped", loads;
  if (packed == 1)
    loads = "  %x = vector.load %data[%c0] : memref<64x" + element + ">, " + sums + "\n";
  else
    loads = "  " + few + " = vector.load %data[%c0] : memref<64x" + element + ">, " + one + element +
            ">\n  %flat = vector.load %data[%c0] : memref<64x" + element + ">, vector<" + flat + "x" + element +
            ">\n  " + shaped + " = vector.shape_cast %flat : vector<" + flat + "x" + element + "> to " + many +
            element + ">\n";
  if (isQuads)
    loads += "  %one = arith.extui %few : " + one + "i8> to " + one + "i32>\n  %many = arith.extsi %shaped : " + many +
             "i8> to " + many + "i32>\n";
  PeakKernel kernel;
  kernel.operations = 2.0 * static_cast<double>(lanes * packed * peakSums * peakSteps);
  kernel.text = "func.func @peak(%data: memref<64x" + element + ">, %result: memref<16x" + sum +
                ">, %begin: index, %end: index) attributes {quern.kernel = #quern.kernel<space = 1>} {\n"
                "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  %steps = arith.constant " +
                std::to_string(peakSteps) + " : index\n  %zero = arith.constant dense<" + zero + "> : " + sums + "\n" +
                loads + "  %r:" + std::to_string(peakSums) + " = scf.for %i = %c0 to %steps step %c1 iter_args(" +
                carried + ") -> (" + types + ") {\n" + dots + "      scf.yield " + yielded + " : " + types + "\n  }\n";
  for (int64_t i = 0; i < peakSums; ++i)
    kernel.text += "  vector.store %r#" + std::to_string(i) + ", %result[%c0] : memref<16x" + sum + ">, " + sums + "\n";
  kernel.text += "  return\n}\n";
  return kernel;
}

double operationsOf(ModuleOp module) {
  double operations = 0;
  module.walk([&](linalg::LinalgOp op) {
    double count = op.getNumReductionLoops() ? 2 : 0;
    for (int64_t extent : op.getStaticLoopRanges())
      count *= static_cast<double>(extent);
    operations += count;
  });
  return operations;
}

/// Compiles `module` several times; the last result is left in `lowered`.
LogicalResult compileOften(ModuleOp module, StringRef target, ProblemTiming &timing, OwningOpRef<ModuleOp> &lowered) {
  std::vector<double> schedule, lower, codegen;
  CpuLowering lowering(*module.getContext());
  CpuCodegen generator;
  Target parsed = *Target::parse(target.str());
  bool works = true;
  for (int i = 0; i < compilations && works; ++i) {
    lowered = module.clone();
    schedule.push_back(nsOf([&] { works &= succeeded(compiler::schedule(*lowered, target)); }));
    if (works)
      lower.push_back(nsOf([&] { works &= succeeded(lowering.run(*lowered, parsed, /*verifyIr=*/false)); }));
    if (works)
      codegen.push_back(
          nsOf([&] { works &= bool(generator.run(*lowered, parsed, CodeForm::Binary, /*verifyIr=*/false)); }));
  }
  if (!works)
    return failure();
  timing.scheduleMs = medianOf(schedule) / 1e6;
  timing.lowerMs = medianOf(lower) / 1e6;
  timing.codegenMs = medianOf(codegen) / 1e6;
  return success();
}

} // namespace

std::string ProblemTiming::text() const {
  std::string out;
  llvm::raw_string_ostream os(out);
  os << llvm::format("compile: %.2f ms (schedule %.2f, lower %.2f, codegen %.2f)\n", scheduleMs + lowerMs + codegenMs,
                     scheduleMs, lowerMs, codegenMs);
  os << llvm::format("run: %.2f us, %.1f operations/ns, %.1f %% of the peak of ", ns / 1e3, operations / ns,
                     shareOfPeak * 100)
     << peak << llvm::format(", %.1f\n", peakPerNs);
  return out;
}

FailureOr<ProblemTiming> timeProblem(ModuleOp module, StringRef target, StringRef peak, uint64_t seed,
                                     ArrayRef<int64_t> values) {
  if (peak != "f32" && peak != "f64" && peak != "bf16" && peak != "int8")
    return module.emitError("time: the peak is f32, f64, bf16 or int8, not '") << peak << "'";
  ProblemTiming timing;
  timing.peak = peak.str();
  OwningOpRef<ModuleOp> closed = module.clone();
  FailureOr<RuntimeSizes> closing = closeSizes(*closed, values);
  if (failed(closing))
    return failure();
  const RuntimeSizes &sizes = *closing;
  timing.operations = operationsOf(*closed);
  PeakKernel kernel = peakKernel(peak, *Target::parse(target.str()));
  auto peakModule = parseSourceString<ModuleOp>(kernel.text, ParserConfig(module.getContext()));
  OwningOpRef<ModuleOp> lowered;
  if (!peakModule || failed(compileOften(module, target, timing, lowered)) ||
      failed(compiler::lower(*peakModule, target)))
    return failure();
  auto replay = Replay::load(*lowered, target, seed, sizes), peakReplay = Replay::load(*peakModule, target, seed, {});
  if (failed(replay) || failed(peakReplay))
    return failure();
  (*replay)->run();
  double once = nsOf([&] { (*replay)->run(); });
  auto times = static_cast<int64_t>(std::clamp(nsPerRound / once, 1.0, 1e6));
  std::vector<double> runs, peaks, shares;
  for (int i = 0; i < rounds; ++i) {
    peaks.push_back(kernel.operations / nsOf([&] { (*peakReplay)->run(); }));
    runs.push_back(nsOf([&] {
                     for (int64_t n = 0; n < times; ++n)
                       (*replay)->run();
                   }) /
                   static_cast<double>(times));
    shares.push_back(timing.operations / runs.back() / peaks.back());
  }
  timing.ns = medianOf(runs);
  timing.peakPerNs = medianOf(peaks);
  timing.shareOfPeak = medianOf(shares);
  return timing;
}

} // namespace quern
