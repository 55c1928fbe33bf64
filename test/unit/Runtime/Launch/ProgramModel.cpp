//===- ProgramModel.cpp - Launch programs of C++ kernels ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Steps that run concurrently use different buffers, so their order does not matter.
//
//===----------------------------------------------------------------------===//
#include "Runtime/Launch/ProgramModel.h"

#include "Launch/Steps.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

namespace quern::test {
namespace {

constexpr int64_t rows = 40;
constexpr uint32_t argumentCount = 5, regionCount = 4;

int64_t mix(int64_t a, int64_t b, int64_t c) {
  auto z = static_cast<uint64_t>(a) * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(b) * 0xbf58476d1ce4e5b9u +
           static_cast<uint64_t>(c) + 1;
  return static_cast<int64_t>(z ^ (z >> 29));
}

/// Runs a program and evaluates every polynomial at its use.
class Interpreter {
public:
  Interpreter(const Artifact &artifact, std::span<const KernelStep> steps, void *const *arguments,
              std::vector<int64_t> sizes)
      : artifact(artifact), steps(steps), arguments(arguments), sizes(std::move(sizes)) {
    for (const Polynomial &bytes : artifact.regions)
      regions.emplace_back(static_cast<size_t>(valueOf(bytes)) / sizeof(int64_t) + 1, -1);
  }
  void run() { runRange(0, static_cast<uint32_t>(steps.size()), 0, 0); }

private:
  int64_t valueOf(const Polynomial &polynomial) const {
    int64_t sum = 0;
    for (const Term &term : polynomial.terms) {
      int64_t product = term.coefficient;
      for (uint32_t symbol : term.symbols)
        product *= symbol < maxLoopDepth ? indices[symbol] : sizes[symbol - maxLoopDepth];
      sum += product;
    }
    return sum;
  }
  void runStep(const KernelStep &step) {
    std::vector<void *> named;
    for (const StepBuffer &buffer : step.buffers) {
      const size_t region = buffer.buffer - artifact.arguments.size();
      void *base = buffer.buffer < artifact.arguments.size() ? arguments[buffer.buffer] : regions[region].data();
      named.push_back(static_cast<char *>(base) + valueOf(buffer.byteOffset));
    }
    alignas(64) int64_t scratch[rowElements];
    invoke(step, {named.empty() ? arguments : named.data(), scratch, nullptr, sizes.data()}, 0,
           iterationsOf(step, sizes.data()));
  }
  /// Runs steps [first, end) and the loops around them, starting with loop number `loop`.
  void runRange(uint32_t first, uint32_t end, size_t loop, int depth) {
    while (first < end) {
      if (loop == artifact.loops.size() || artifact.loops[loop].first != first) {
        runStep(steps[first++]);
        continue;
      }
      const LaunchLoop &around = artifact.loops[loop];
      const int64_t trips = valueOf(around.trips);
      for (indices[depth] = 0; indices[depth] < trips; ++indices[depth])
        runRange(around.first, around.end, loop + 1, depth + 1);
      first = around.end;
      while (loop < artifact.loops.size() && artifact.loops[loop].first < first)
        ++loop;
    }
  }

  const Artifact &artifact;
  std::span<const KernelStep> steps;
  void *const *arguments;
  std::vector<int64_t> sizes;
  std::vector<std::vector<int64_t>> regions;
  int64_t indices[maxLoopDepth] = {};
};

void *const functions[] = {reinterpret_cast<void *>(mixRows), reinterpret_cast<void *>(mixThroughScratch)};

std::vector<void *> pointersTo(ProgramModel::Memory &memory) {
  std::vector<void *> pointers;
  for (std::vector<int64_t> &argument : memory)
    pointers.push_back(argument.data());
  return pointers;
}

class Generator {
public:
  Generator(std::mt19937_64 &random, bool isOpen) : random(random), isOpen(isOpen) {}

  ProgramModel make() {
    Artifact &artifact = model.artifact;
    artifact.entries = {"mix", "scratch"};
    artifact.scratchBytesPerThread = rowBytes;
    artifact.arguments.assign(argumentCount, {1, 1, isOpen ? 0 : rows * rowBytes});
    if (isOpen) {
      model.sizes = {2, 3};
      artifact.sizeCount = 2;
    }
    for (uint32_t r = 0; r < regionCount; ++r)
      artifact.regions.push_back(isOpen ? Polynomial(timesSize(rows / 2 * rowBytes, 0)) : Polynomial(rows * rowBytes));
    addBody(2 + draw(3), {});
    return std::move(model);
  }

private:
  int64_t draw(int64_t below) { return static_cast<int64_t>(random() % static_cast<uint64_t>(below)); }
  static Polynomial timesSize(int64_t coefficient, uint32_t size) {
    Polynomial polynomial;
    polynomial.terms.push_back({coefficient, {symbolOfSize(size)}});
    return polynomial;
  }

  /// `trips` has the trip counts of the enclosing loops.
  void addBody(int64_t items, const std::vector<int64_t> &trips) {
    for (int64_t item = 0; item < items; ++item)
      if (trips.size() < 3 && draw(3) == 0)
        addLoop(trips);
      else
        addGroup(trips);
  }
  void addLoop(std::vector<int64_t> trips) {
    const int64_t count = draw(5) - (draw(8) == 0);
    const size_t loop = model.artifact.loops.size();
    model.artifact.loops.push_back({count, static_cast<uint32_t>(model.artifact.steps.size()), 0});
    if (isOpen && count > 2) // 3 is the value of size 1
      model.artifact.loops[loop].trips = count == 3 ? timesSize(1, 1) : timesSize(2, 0);
    trips.push_back(count);
    addBody(1 + draw(3), trips);
    model.artifact.loops[loop].end = static_cast<uint32_t>(model.artifact.steps.size());
  }
  void addGroup(const std::vector<int64_t> &trips) {
    std::vector<uint32_t> places(argumentCount + regionCount);
    std::iota(places.begin(), places.end(), 0u);
    std::shuffle(places.begin(), places.end(), random);
    const int64_t steps = 1 + draw(3);
    for (int64_t s = 0; s < steps; ++s) {
      LaunchStep &step = model.artifact.steps.emplace_back();
      step.entry = static_cast<uint32_t>(draw(2));
      step.iterations = rowElements;
      step.nsPerIteration = draw(4) == 0 ? 10 : 5000;
      if (isOpen && draw(2)) {
        step.iterations = rowElements / 3;
        step.factors = {{1, 1}};
      }
      step.independentOfPrevious = s > 0;
      for (size_t b = 0; b < 3; ++b)
        step.buffers.push_back({places[static_cast<size_t>(s) * 3 + b], offset(trips)});
    }
  }
  /// Returns an offset that advances by rows with some of the loops, forward or backward.
  Polynomial offset(const std::vector<int64_t> &trips) {
    Polynomial offset;
    int64_t constant = draw(3) * rowBytes, stride = rowBytes;
    for (size_t depth = 0; depth < trips.size(); ++depth) {
      if (draw(4) == 0 || trips[depth] <= 0)
        continue;
      const bool isReversed = draw(2);
      if (isReversed)
        constant += stride * (trips[depth] - 1);
      if (isOpen && trips[depth] == 2 && stride % 2 == 0) // a stride that depends on size 0
        offset.terms.push_back({(isReversed ? -stride : stride) / 2, {static_cast<uint32_t>(depth), symbolOfSize(0)}});
      else
        offset.terms.push_back({isReversed ? -stride : stride, {static_cast<uint32_t>(depth)}});
      stride += rowBytes;
    }
    if (trips.size() > 1 && trips[0] > 0 && trips[1] > 0 && draw(3) == 0)
      offset.terms.push_back({rowBytes, {0, 1}});
    offset.terms.push_back({constant, {}});
    return offset;
  }

  std::mt19937_64 &random;
  bool isOpen;
  ProgramModel model;
};

} // namespace

void mixRows(const quern_kernel_args_t *args, int64_t begin, int64_t end) {
  const auto *a = static_cast<const int64_t *>(args->buffers[0]), *b = static_cast<const int64_t *>(args->buffers[1]);
  auto *c = static_cast<int64_t *>(args->buffers[2]);
  for (int64_t i = begin; i < end; ++i)
    c[i] = mix(a[rowElements - 1 - i], b[i], c[i]);
}

void mixThroughScratch(const quern_kernel_args_t *args, int64_t begin, int64_t end) {
  auto *scratch = static_cast<int64_t *>(args->scratch);
  std::copy_n(static_cast<const int64_t *>(args->buffers[0]), rowElements, scratch);
  void *const buffers[] = {scratch, args->buffers[1], args->buffers[2]};
  const quern_kernel_args_t inner{buffers, nullptr, args->shared, args->sizes};
  mixRows(&inner, begin, end);
}

ProgramModel::Memory ProgramModel::start() const {
  Memory memory(argumentCount, std::vector<int64_t>(rows * rowElements));
  for (size_t a = 0; a < memory.size(); ++a)
    std::iota(memory[a].begin(), memory[a].end(), static_cast<int64_t>(a) * 1000000);
  return memory;
}

ProgramModel::Memory ProgramModel::interpret() const {
  const Result<std::vector<KernelStep>> steps = stepsOf(artifact, functions);
  EXPECT_TRUE(steps);
  Memory memory = start();
  Interpreter(artifact, *steps, pointersTo(memory).data(), sizes).run();
  return memory;
}

ProgramModel::Memory ProgramModel::run(const ExecutionContext &context) const {
  Result<Memory> memory = tryRun(context);
  EXPECT_TRUE(memory) << memory.error().message;
  return memory ? *memory : Memory();
}

Result<ProgramModel::Memory> ProgramModel::tryRun(const ExecutionContext &context) const {
  const Result<std::vector<KernelStep>> steps = stepsOf(artifact, functions);
  EXPECT_TRUE(steps);
  Program program;
  Result<void> built = program.take(artifact, *steps);
  EXPECT_TRUE(built) << built.error().message;
  std::vector<int64_t> numbers(program.numberCount());
  if (!program.fixedNumbers()) {
    Result<void> bound = program.bind(sizes.data(), nullptr, numbers.data());
    EXPECT_TRUE(bound) << bound.error().message;
  }
  const int64_t *bound = program.fixedNumbers() ? program.fixedNumbers() : numbers.data();
  std::vector<int64_t> regions(static_cast<size_t>(program.regionsEnd(bound)) / sizeof(int64_t), -1);
  Memory memory = start();
  const std::vector<void *> buffers = pointersTo(memory);
  const ProgramRun run{program, bound, buffers.data(), sizes.data(), nullptr, reinterpret_cast<char *>(regions.data())};
  if (Result<void> done = runProgram(run, {artifact.scratchBytesPerThread, 0}, context); !done)
    return done.takeError();
  return memory;
}

ProgramModel randomProgram(std::mt19937_64 &random, bool isOpen) { return Generator(random, isOpen).make(); }

} // namespace quern::test
