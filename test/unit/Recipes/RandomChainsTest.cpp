//===- RandomChainsTest.cpp - The rows recipe against naive loops ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The same random IR twice: by the recipe, for every instruction set of this machine and with a random strategy, and by upstream's linalg
// to scalar loops with f32 widened to f64. Outputs agree, gaps and guards stay untouched, in place or not, in whichever order the iteration
// space is cut. QUERN_TEST_SEED and QUERN_TEST_COUNT choose the chains; a failure prints seed and IR.
//
//===----------------------------------------------------------------------===//
#include "RandomChain.h"

#include "Recipes/Rows.h"
#include "Targets/Cpu/Codegen.h"
#include "Targets/Cpu/Linker.h"
#include "Targets/Cpu/Pipeline.h"
#include "Targets/Cpu/Strategy.h"
#include "quern/kernel_abi.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstdlib>
#include <random>

using namespace quern;
using namespace quern::test;

namespace {

constexpr int64_t guardBytes = 256;

struct Kernel {
  std::unique_ptr<LinkedObject> code;
  std::vector<int64_t> spaces; ///< of each entry
  int64_t scratchBytes = 0, sharedBytes = 0;
  std::string plan;
};

/// Lines of the cache: what stores that need alignment ask for.
template <typename T> struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t line{64};
  T *allocate(size_t count) { return static_cast<T *>(::operator new(count * sizeof(T), line)); }
  void deallocate(T *memory, size_t) { ::operator delete(memory, line); }
  bool operator==(const LineAllocator &) const = default;
};

/// Buffers with guards on both sides, one for each argument.
using Bytes = std::vector<char, LineAllocator<char>>;
using Buffers = std::vector<Bytes>;

class ChainCompiler {
public:
  ChainCompiler() : context(registry(), mlir::MLIRContext::Threading::DISABLED), lowering((context.loadAllAvailableDialects(), context)) {}

  /// Scheduled with `strategy`, or naively without one.
  Kernel compile(const std::string &text, const Target &target, const RowsStrategy *strategy) {
    Kernel kernel;
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context));
    if (!module) {
      ADD_FAILURE() << "the chain does not parse";
      return kernel;
    }
    auto problem = *module->getOps<mlir::func::FuncOp>().begin();
    if (strategy && !schedule(problem, *strategy))
      return kernel;
    if (!strategy && failed(lowerNaively(problem, /*widen=*/true))) {
      ADD_FAILURE() << "no naive loops";
      return kernel;
    }
    std::vector<std::string> symbols;
    for (auto function : module->getOps<mlir::func::FuncOp>()) {
      auto number = [&](llvm::StringRef name) {
        auto attribute = function->getAttrOfType<mlir::IntegerAttr>(name);
        return attribute ? attribute.getInt() : 0;
      };
      symbols.push_back(function.getName().str());
      kernel.spaces.push_back(number(kernel_attr::space));
      kernel.scratchBytes = std::max(kernel.scratchBytes, number(kernel_attr::scratchBytes));
      kernel.sharedBytes = std::max(kernel.sharedBytes, number(kernel_attr::sharedBytes));
      kernel.plan += function->getAttrOfType<mlir::StringAttr>(kernel_attr::plan).str();
    }
    if (failed(lowering.run(*module, target, /*verifyIr=*/true))) {
      ADD_FAILURE() << "does not lower";
      return kernel;
    }
    Result<std::string> object = codegen.run(*module, target, CpuCodeForm::Object, /*verifyIr=*/false);
    EXPECT_TRUE(object) << object.error().message;
    if (!object)
      return kernel;
    auto linked = linkObject(*object, symbols);
    EXPECT_TRUE(linked) << linked.error().message;
    if (linked)
      kernel.code = std::move(*linked);
    return kernel;
  }

private:
  static mlir::DialectRegistry registry() {
    mlir::DialectRegistry all;
    registerAllStageDialects(all);
    return all;
  }
  bool schedule(mlir::func::FuncOp problem, const RowsStrategy &strategy) {
    std::string whyNot;
    auto kernels = scheduleRows(problem, strategy, &whyNot);
    EXPECT_TRUE(succeeded(kernels)) << "not scheduled: " << whyNot;
    if (failed(kernels))
      return false;
    for (mlir::func::FuncOp kernel : *kernels)
      EXPECT_TRUE(succeeded(mlir::verify(kernel)));
    problem.erase();
    return true;
  }

  mlir::MLIRContext context;
  CpuLowering lowering;
  CpuCodegen codegen;
};

Buffers makeBuffers(const RandomChain &chain, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> distribution(-2, 2);
  Buffers buffers;
  for (const ChainArgument &argument : chain.arguments) {
    Bytes buffer(argument.count * bytesOf(argument.element) + 2 * guardBytes, '\x7e');
    for (int64_t i = 0; i < argument.count; ++i)
      storeElement(buffer.data() + guardBytes, i, argument.element, distribution(random));
    buffers.push_back(std::move(buffer));
  }
  return buffers;
}

/// Runs [0, space) of each kernel in two parts, the later one first. `aliased` outputs share the buffer of their input.
void run(const Kernel &kernel, const RandomChain &chain, Buffers &buffers, bool aliased) {
  std::vector<void *> pointers;
  std::vector<bool> taken(buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i) {
    int other = aliased ? chain.arguments[i].aliasOf : -1;
    bool shares = other >= 0 && !taken[other];
    if (shares)
      taken[other] = true;
    pointers.push_back(buffers[shares ? other : i].data() + guardBytes);
  }
  Bytes scratch(kernel.scratchBytes + 64, '\xff'), shared(kernel.sharedBytes + 64, '\xff');
  quern_kernel_args_t args{pointers.data(), scratch.data(), shared.data(), nullptr};
  for (auto [address, space] : llvm::zip_equal(kernel.code->entries, kernel.spaces)) {
    auto entry = reinterpret_cast<quern_kernel_fn>(address);
    entry(&args, space / 3, space);
    entry(&args, 0, space / 3);
  }
  for (size_t i = 0; i < buffers.size(); ++i) // where an output went, for the comparison
    if (pointers[i] != buffers[i].data() + guardBytes)
      buffers[i] = buffers[chain.arguments[i].aliasOf];
}

/// Elements that the oracle left alone must be the same bits; the others agree within the tolerance. `start` is what the output's buffer
/// held.
void compareOutput(const RandomChain &chain, size_t at, const Bytes &want, const Bytes &wantStart, const Bytes &got,
                   const Bytes &gotStart) {
  const ChainArgument &argument = chain.arguments[at];
  int64_t size = bytesOf(argument.element);
  auto unchanged = [&](int64_t from, int64_t to) { return std::equal(got.begin() + from, got.begin() + to, gotStart.begin() + from); };
  EXPECT_TRUE(unchanged(0, guardBytes)) << "writes before argument " << at;
  EXPECT_TRUE(unchanged(static_cast<int64_t>(got.size()) - guardBytes, static_cast<int64_t>(got.size()))) << "writes after argument " << at;
  for (int64_t i = 0; i < argument.count; ++i) {
    int64_t byte = guardBytes + i * size;
    if (std::equal(want.begin() + byte, want.begin() + byte + size, wantStart.begin() + byte)) {
      if (!unchanged(byte, byte + size)) {
        double exact = loadElement(want.data() + guardBytes, i, argument.element);
        double value = loadElement(got.data() + guardBytes, i, argument.element);
        ASSERT_NEAR(value, exact, chain.tolerance) << "argument " << at << ", element " << i << " is not the chain's";
      }
      continue;
    }
    double exact = loadElement(want.data() + guardBytes, i, argument.element),
           value = loadElement(got.data() + guardBytes, i, argument.element);
    ASSERT_NEAR(value, exact, chain.tolerance) << "argument " << at << ", element " << i;
  }
}

void check(const Kernel &kernel, const RandomChain &chain, const Buffers &start, const Buffers &want, bool aliased) {
  Buffers got = start;
  run(kernel, chain, got, aliased);
  std::vector<bool> taken(start.size());
  for (size_t i = 0; i < chain.arguments.size(); ++i) {
    if (!chain.arguments[i].isOutput)
      continue;
    int other = aliased ? chain.arguments[i].aliasOf : -1;
    bool shares = other >= 0 && !taken[other];
    if (shares)
      taken[other] = true;
    compareOutput(chain, i, want[i], start[i], got[i], start[shares ? other : i]);
  }
  for (size_t i = 0; i < chain.arguments.size(); ++i)
    if (!chain.arguments[i].isOutput && !taken[i]) {
      EXPECT_EQ(got[i], start[i]) << "input " << i << " was changed";
    }
}

/// The target's own strategy, or one that stresses: odd unrolling, little scratch, short blocks.
RowsStrategy randomStrategy(const Target &target, std::mt19937_64 &random) {
  RowsStrategy strategy = rowsStrategyFor(target);
  auto pick = [&](int64_t from, int64_t to) { return from + static_cast<int64_t>(random() % static_cast<uint64_t>(to - from + 1)); };
  if (pick(0, 1))
    return strategy;
  strategy.unroll = pick(1, 6);
  strategy.sweepOps = pick(1, 80);
  strategy.blockSteps = pick(1, 40);
  strategy.maxColumns = pick(1, 6);
  strategy.recomputeOps = pick(0, 40);
  strategy.scratchBytes = pick(0, 1) ? pick(0, 4000) : strategy.scratchBytes;
  strategy.l2Bytes = pick(0, 1) ? 1024 : strategy.l2Bytes;
  strategy.streamBytes = pick(0, 1) ? 0 : strategy.streamBytes;
  strategy.splitRows = pick(0, 1) ? 1000 : strategy.splitRows;
  strategy.splitElements = pick(1, 40);
  strategy.maxChunks = pick(2, 9);
  return strategy;
}

uint64_t fromEnvironment(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(RandomChains, RecipeEqualsNaiveLoops) {
  ChainCompiler compiler;
  uint64_t first = fromEnvironment("QUERN_TEST_SEED", 1), count = fromEnvironment("QUERN_TEST_COUNT", 60);
  std::map<std::string, int> seen;
  for (uint64_t seed = first; seed < first + count && !::testing::Test::HasFailure(); ++seed) {
    RandomChain chain = makeRandomChain(seed);
    SCOPED_TRACE("QUERN_TEST_SEED=" + std::to_string(seed) + " QUERN_TEST_COUNT=1\n" + chain.text);
    Buffers start = makeBuffers(chain, seed), want = start;
    Target target;
    target.isa = std::min(detectedIsa(), CpuIsa::Avx512);
    Kernel naive = compiler.compile(chain.text, target, nullptr);
    ASSERT_TRUE(naive.code);
    run(naive, chain, want, false);
    std::mt19937_64 random(seed);
    for (CpuIsa isa : {CpuIsa::Sse42, CpuIsa::Avx2, CpuIsa::Avx512}) {
      if (isa > detectedIsa())
        continue;
      target.isa = isa;
      RowsStrategy strategy = randomStrategy(target, random);
      Kernel kernel = compiler.compile(chain.text, target, &strategy);
      ASSERT_TRUE(kernel.code);
      SCOPED_TRACE(std::string(nameOfIsa(isa)) + ": " + kernel.plan);
      check(kernel, chain, start, want, /*aliased=*/false);
      check(kernel, chain, start, want, /*aliased=*/true);
      for (const char *feature :
           {"along the row", "across rows", "destination", "a value in scratch", "operand in scratch", "one by one", "streams", "chunks"})
        seen[feature] += kernel.plan.find(feature) != std::string::npos;
    }
  }
  for (const auto &[feature, times] : seen) // a full run meets every way of scheduling
    EXPECT_TRUE(times > 0 || count < 60) << "no chain met: " << feature;
}

} // namespace
