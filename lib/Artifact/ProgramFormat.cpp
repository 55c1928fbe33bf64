//===- ProgramFormat.cpp - The launch program in an artifact --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Loops are stored before the steps, so that a step's depth is known when its polynomials are read.
//
//===----------------------------------------------------------------------===//
#include "Artifact/ProgramFormat.h"

#include <algorithm>

namespace quern {
namespace {

constexpr uint32_t maxSteps = 65536, maxFactors = 16, maxSizes = 65536;

void write(const Polynomial &polynomial, ByteWriter &out) {
  out.put<uint32_t>(static_cast<uint32_t>(polynomial.terms.size()));
  for (const Term &term : polynomial.terms) {
    out.put(term.coefficient);
    out.put<uint32_t>(static_cast<uint32_t>(term.symbols.size()));
    for (uint32_t symbol : term.symbols)
      out.put(symbol);
  }
}

void write(const LaunchStep &step, ByteWriter &out) {
  out.put(step.entry);
  out.put(step.iterations);
  out.put(step.nsPerIteration);
  out.put<uint32_t>(static_cast<uint32_t>(step.factors.size()));
  for (const SizeFactor &factor : step.factors) {
    out.put(factor.sizeIndex);
    out.put(factor.divisor);
  }
  out.put<uint32_t>(static_cast<uint32_t>(step.buffers.size()));
  for (const StepBuffer &buffer : step.buffers) {
    out.put(buffer.buffer);
    write(buffer.byteOffset, out);
  }
  out.put<uint32_t>(step.independentOfPrevious);
}

/// Reads the parts in the order in which they are stored. An error about a polynomial names its owner.
class ProgramReader {
public:
  ProgramReader(ByteReader &in, Artifact &artifact) : in(in), artifact(artifact) {}
  Result<void> read();

private:
  Result<void> readSizes();
  Result<void> readChecks();
  Result<void> readLoops();
  Result<void> checkLoops();
  Result<void> readRegions();
  Result<void> readSteps();
  Result<void> readStep();
  Result<void> readFactors(LaunchStep &step);
  Result<void> readBuffers(LaunchStep &step);
  Result<void> readPolynomial(Polynomial &polynomial, uint32_t depth, uint32_t sizes, const char *what, size_t which);
  /// Reads a count; fails if it exceeds `limit`.
  Result<uint32_t> readCount(const char *what, uint32_t limit);
  uint32_t allSizes() const { return artifact.sizeCount + static_cast<uint32_t>(artifact.derivedSizes.size()); }

  ByteReader &in;
  Artifact &artifact;
  std::vector<uint32_t> depths; ///< loop depth of each step
  std::vector<bool> atEdge;     ///< by step: true if a loop starts or ends at this step; `end` is exclusive
  uint32_t stepCount = 0;
};

Result<uint32_t> ProgramReader::readCount(const char *what, uint32_t limit) {
  auto count = in.get<uint32_t>();
  if (count > limit)
    return runtimeError("artifact has ", count, " ", what, "; at most ", limit, " are possible");
  return count;
}

Result<void> ProgramReader::readPolynomial(Polynomial &polynomial, uint32_t depth, uint32_t sizes, const char *what,
                                           size_t which) {
  auto count = in.get<uint32_t>();
  if (count > maxTerms)
    return runtimeError("artifact ", what, " ", which, " has a sum of ", count, " terms; at most ", maxTerms,
                        " are possible");
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    Term term;
    term.coefficient = in.get<int64_t>();
    auto symbols = in.get<uint32_t>();
    if (symbols > maxTermSymbols)
      return runtimeError("artifact ", what, " ", which, " has a product of ", symbols, " symbols; at most ",
                          maxTermSymbols, " are possible");
    for (uint32_t s = 0; s < symbols && in.ok(); ++s) {
      auto symbol = in.get<uint32_t>();
      const bool isIndex = symbol < maxLoopDepth;
      if (isIndex ? symbol >= depth : symbol - maxLoopDepth >= sizes)
        return runtimeError("artifact ", what, " ", which, " depends on ", isIndex ? "loop " : "size ",
                            isIndex ? symbol : symbol - maxLoopDepth, "; it has ", isIndex ? depth : sizes, " of them");
      term.symbols.push_back(symbol);
    }
    if (!std::is_sorted(term.symbols.begin(), term.symbols.end()))
      return runtimeError("artifact ", what, " ", which, " has a product that is not in order");
    polynomial.terms.push_back(std::move(term));
  }
  return {};
}

Result<void> ProgramReader::readSizes() {
  artifact.sizeCount = in.get<uint32_t>();
  if (artifact.sizeCount > maxSizes)
    return runtimeError("artifact has ", artifact.sizeCount, " runtime sizes; at most ", maxSizes, " are possible");
  QUERN_ASSIGN_OR_RETURN(uint32_t count, readCount("derived sizes", maxDerivedSizes));
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    DerivedSize size;
    size.kind = in.get<DerivedSize::Kind>();
    if (size.kind > DerivedSize::Kind::Computed)
      return runtimeError("artifact derived size ", i, " is of kind ", static_cast<uint32_t>(size.kind),
                          "; 0 to 2 are known");
    size.argument = in.get<uint32_t>();
    for (Polynomial *polynomial : {&size.limit, &size.count, &size.stride, &size.value})
      QUERN_RETURN_IF_ERROR(readPolynomial(*polynomial, 0, artifact.sizeCount + i, "derived size", i));
    artifact.derivedSizes.push_back(std::move(size));
  }
  return readChecks();
}

Result<void> ProgramReader::readChecks() {
  QUERN_ASSIGN_OR_RETURN(uint32_t count, readCount("checks", maxChecks));
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    SizeCheck &check = artifact.checks.emplace_back();
    check.what = in.getString();
    for (Polynomial *polynomial : {&check.value, &check.low, &check.high})
      QUERN_RETURN_IF_ERROR(readPolynomial(*polynomial, 0, allSizes(), "check", i));
  }
  return {};
}

Result<void> ProgramReader::readLoops() {
  QUERN_ASSIGN_OR_RETURN(uint32_t count, readCount("loops", maxLoops));
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    LaunchLoop loop;
    loop.first = in.get<uint32_t>();
    loop.end = in.get<uint32_t>();
    QUERN_RETURN_IF_ERROR(readPolynomial(loop.trips, 0, allSizes(), "loop", i));
    artifact.loops.push_back(std::move(loop));
  }
  stepCount = in.get<uint32_t>();
  const bool isKernel = artifact.codeKind != CodeKind::Function;
  if (isKernel ? stepCount < 1 || stepCount > maxSteps : stepCount > 0)
    return runtimeError("artifact has ", stepCount, " steps; ",
                        isKernel ? concat("between 1 and ", maxSteps, " are") : "0 are", " possible");
  return in.ok() ? checkLoops() : Result<void>();
}

/// Checks that loops are nested or disjoint, and listed in the order of their first steps. Fills `depths` and `atEdge`.
Result<void> ProgramReader::checkLoops() {
  depths.assign(stepCount, 0);
  atEdge.assign(stepCount + 1, false);
  std::vector<const LaunchLoop *> open;
  uint32_t begun = 0;
  for (size_t i = 0; i < artifact.loops.size(); ++i) {
    const LaunchLoop &loop = artifact.loops[i];
    while (!open.empty() && open.back()->end <= loop.first)
      open.pop_back();
    const uint32_t end = open.empty() ? stepCount : open.back()->end;
    if (loop.first >= loop.end || loop.end > end || loop.first < begun)
      return runtimeError("artifact loop ", i, " contains steps ", loop.first, " to ", loop.end, "; it may contain ",
                          begun, " to ", end);
    open.push_back(&loop);
    if (open.size() > maxLoopDepth)
      return runtimeError("artifact loop ", i, " is nested in ", open.size() - 1, " others; at most ", maxLoopDepth - 1,
                          " are possible");
    begun = loop.first;
    atEdge[loop.first] = atEdge[loop.end] = true;
    for (uint32_t step = loop.first; step < loop.end; ++step)
      depths[step] = static_cast<uint32_t>(open.size());
  }
  return {};
}

Result<void> ProgramReader::readRegions() {
  QUERN_ASSIGN_OR_RETURN(uint32_t count, readCount("regions", maxRegions));
  for (uint32_t i = 0; i < count && in.ok(); ++i)
    QUERN_RETURN_IF_ERROR(readPolynomial(artifact.regions.emplace_back(), 0, allSizes(), "region", i));
  return {};
}

Result<void> ProgramReader::readFactors(LaunchStep &step) {
  auto count = in.get<uint32_t>();
  if (count > maxFactors)
    return runtimeError("artifact step ", artifact.steps.size(), " has ", count, " factors; at most ", maxFactors,
                        " are possible");
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    SizeFactor factor;
    factor.sizeIndex = in.get<uint32_t>();
    factor.divisor = in.get<int64_t>();
    if (in.ok() && (factor.sizeIndex >= allSizes() || factor.divisor < 1))
      return runtimeError("artifact step ", artifact.steps.size(), " divides size ", factor.sizeIndex, " of ",
                          allSizes(), " by ", factor.divisor);
    step.factors.push_back(factor);
  }
  return {};
}

Result<void> ProgramReader::readBuffers(LaunchStep &step) {
  const size_t which = artifact.steps.size();
  auto count = in.get<uint32_t>();
  if (count > maxStepBuffers)
    return runtimeError("artifact step ", which, " has ", count, " buffers; at most ", maxStepBuffers, " are possible");
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    StepBuffer &buffer = step.buffers.emplace_back();
    buffer.buffer = in.get<uint32_t>();
    QUERN_RETURN_IF_ERROR(readPolynomial(buffer.byteOffset, depths[which], allSizes(), "step", which));
  }
  return {};
}

Result<void> ProgramReader::readStep() {
  const size_t i = artifact.steps.size();
  LaunchStep step;
  step.entry = in.get<uint32_t>();
  step.iterations = in.get<int64_t>();
  step.nsPerIteration = in.get<int64_t>();
  if (step.entry >= artifact.entries.size())
    return runtimeError("artifact step ", i, " runs entry ", step.entry, " of ", artifact.entries.size());
  if (step.iterations < 0 || step.nsPerIteration < 0)
    return runtimeError("artifact step ", i, " has ", step.iterations, " iterations of ", step.nsPerIteration,
                        " ns; the minimum is 0");
  for (auto readPart : {&ProgramReader::readFactors, &ProgramReader::readBuffers})
    QUERN_RETURN_IF_ERROR((this->*readPart)(step));
  auto independent = in.get<uint32_t>();
  if (in.ok() && (independent > 1 || (independent && (i == 0 || atEdge[i]))))
    return runtimeError("artifact step ", i, " has flag ", independent,
                        " for independence of the step before, which it cannot have");
  step.independentOfPrevious = independent != 0;
  artifact.steps.push_back(std::move(step));
  return {};
}

Result<void> ProgramReader::readSteps() {
  for (uint32_t i = 0; i < stepCount && in.ok(); ++i)
    QUERN_RETURN_IF_ERROR(readStep());
  return {};
}

Result<void> ProgramReader::read() {
  for (auto part :
       {&ProgramReader::readSizes, &ProgramReader::readLoops, &ProgramReader::readRegions, &ProgramReader::readSteps})
    if (Result<void> done = (this->*part)(); !done || !in.ok())
      return done;
  return {};
}

/// Checks buffers and offsets of steps, using the ranges of their polynomials.
class OffsetChecker {
public:
  explicit OffsetChecker(const Artifact &artifact) : artifact(artifact) {}
  Result<void> check();

private:
  /// Returns the bytes of an argument or region; nothing if they are known only at execution.
  std::optional<int64_t> bytesOf(uint32_t buffer) const;
  /// Fills `indices` for `step`, which must be the next step. Returns false if a surrounding loop never runs, or if its
  /// trip count depends on sizes.
  bool findIndices(uint32_t step);
  Result<void> checkBuffer(uint32_t step, const StepBuffer &buffer, bool knowsIndices);

  const Artifact &artifact;
  size_t nextLoop = 0;
  std::vector<const LaunchLoop *> open;
  std::vector<SymbolRange> indices; ///< ranges of the indices of the surrounding loops
};

std::optional<int64_t> OffsetChecker::bytesOf(uint32_t buffer) const {
  if (buffer >= artifact.arguments.size())
    return artifact.regions[buffer - artifact.arguments.size()].constant();
  const int64_t bytes = artifact.arguments[buffer].bytes;
  return bytes == 0 && artifact.sizeCount > 0 ? std::nullopt : std::optional(bytes);
}

bool OffsetChecker::findIndices(uint32_t step) {
  for (; !open.empty() && open.back()->end == step; open.pop_back())
    ;
  for (; nextLoop < artifact.loops.size() && artifact.loops[nextLoop].first == step; ++nextLoop)
    open.push_back(&artifact.loops[nextLoop]);
  indices.clear();
  bool known = true;
  for (const LaunchLoop *loop : open) {
    const std::optional<int64_t> trips = loop->trips.constant();
    known &= trips && *trips > 0;
    indices.push_back({0, trips.value_or(1) - 1});
  }
  return known;
}

Result<void> OffsetChecker::checkBuffer(uint32_t step, const StepBuffer &buffer, bool knowsIndices) {
  const size_t count = artifact.arguments.size() + artifact.regions.size();
  if (buffer.buffer >= count)
    return runtimeError("artifact step ", step, " passes buffer ", buffer.buffer, " of ", count);
  if (!knowsIndices || buffer.byteOffset.dependsOnSizes())
    return {};
  const std::optional<SymbolRange> range = rangeOf(buffer.byteOffset, indices);
  const std::optional<int64_t> bytes = bytesOf(buffer.buffer);
  if (!range || range->low < 0 || (bytes && range->high > *bytes))
    return runtimeError("artifact step ", step, " passes buffer ", buffer.buffer, " from byte ",
                        buffer.byteOffset.text(), "; it has ", bytes.value_or(INT64_MAX));
  return {};
}

Result<void> OffsetChecker::check() {
  for (size_t i = 0; i < artifact.derivedSizes.size(); ++i)
    if (artifact.derivedSizes[i].argument >= artifact.arguments.size())
      return runtimeError("artifact derived size ", i, " uses argument ", artifact.derivedSizes[i].argument, " of ",
                          artifact.arguments.size());
  for (size_t i = 0; i < artifact.regions.size(); ++i)
    if (std::optional<int64_t> bytes = artifact.regions[i].constant(); bytes && *bytes < 0)
      return runtimeError("artifact region ", i, " has ", *bytes, " bytes; the minimum is 0");
  for (uint32_t step = 0; step < artifact.steps.size(); ++step) {
    const bool knowsIndices = findIndices(step);
    for (const StepBuffer &buffer : artifact.steps[step].buffers)
      QUERN_RETURN_IF_ERROR(checkBuffer(step, buffer, knowsIndices));
  }
  return {};
}

} // namespace

void writeProgram(const Artifact &artifact, ByteWriter &out) {
  out.put(artifact.sizeCount);
  out.put<uint32_t>(static_cast<uint32_t>(artifact.derivedSizes.size()));
  for (const DerivedSize &size : artifact.derivedSizes) {
    out.put(size.kind);
    out.put(size.argument);
    for (const Polynomial *polynomial : {&size.limit, &size.count, &size.stride, &size.value})
      write(*polynomial, out);
  }
  out.put<uint32_t>(static_cast<uint32_t>(artifact.checks.size()));
  for (const SizeCheck &check : artifact.checks) {
    out.putString(check.what);
    for (const Polynomial *polynomial : {&check.value, &check.low, &check.high})
      write(*polynomial, out);
  }
  out.put<uint32_t>(static_cast<uint32_t>(artifact.loops.size()));
  for (const LaunchLoop &loop : artifact.loops) {
    out.put(loop.first);
    out.put(loop.end);
    write(loop.trips, out);
  }
  out.put<uint32_t>(static_cast<uint32_t>(artifact.steps.size()));
  out.put<uint32_t>(static_cast<uint32_t>(artifact.regions.size()));
  for (const Polynomial &bytes : artifact.regions)
    write(bytes, out);
  for (const LaunchStep &step : artifact.steps)
    write(step, out);
}

Result<void> readProgram(ByteReader &in, Artifact &artifact) { return ProgramReader(in, artifact).read(); }

Result<void> checkProgram(ByteReader &, Artifact &artifact) { return OffsetChecker(artifact).check(); }

} // namespace quern
