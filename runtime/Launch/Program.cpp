//===- Program.cpp - A launch prepared for execution ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Order of the numbers: trip counts of loops; starts of regions and their end; for each step its iterations and the
// coefficients of its buffers; size and slots of each group; number of useful threads.
//
//===----------------------------------------------------------------------===//
#include "Launch/Program.h"

#include "Launch/Scratch.h"
#include "Launch/Steps.h"
#include "Support/ThreadCost.h"

#include <cstring>

namespace quern {
namespace {

int64_t saturatingProduct(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

int64_t saturatingSum(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/// Returns the estimated ns of these iterations on one core; INT64_MAX if it is unknown.
int64_t workOf(int64_t iterations, int64_t nsPerIteration) {
  return nsPerIteration <= 0 ? INT64_MAX : saturatingProduct(iterations, nsPerIteration);
}

int64_t worth(int64_t iterations, int64_t nsPerIteration, int64_t nsWorthOne) {
  return std::clamp<int64_t>(workOf(iterations, nsPerIteration) / nsWorthOne, 1,
                             std::clamp<int64_t>(iterations, 1, maxThreadCount));
}

Error beyondInt64(const char *what) {
  return unimplemented("the ", what, " of this execution's sizes are beyond int64");
}

/// Returns the value of a polynomial that depends only on sizes.
CheckedInt evaluate(const Polynomial &polynomial, const int64_t *sizes) {
  CheckedInt sum(0);
  for (const Term &term : polynomial.terms) {
    CheckedInt product(term.coefficient);
    for (uint32_t symbol : term.symbols)
      product *= sizes[symbol - maxLoopDepth];
    sum += product;
  }
  return sum;
}

/// Returns true for a single step that runs once on tensors, with constant offsets inside its buffers.
bool isPlainLaunch(const Artifact &artifact) {
  if (artifact.steps.size() != 1 || !artifact.loops.empty() || !artifact.regions.empty() ||
      !artifact.derivedSizes.empty() || !artifact.checks.empty())
    return false;
  return std::ranges::all_of(artifact.steps[0].buffers, [&](const StepBuffer &buffer) {
    const std::optional<int64_t> offset = buffer.byteOffset.constant();
    return offset && buffer.buffer < artifact.arguments.size() && *offset >= 0 &&
           *offset <= artifact.arguments[buffer.buffer].bytes;
  });
}

} // namespace

Result<std::vector<KernelStep>> stepsOf(const Artifact &artifact, std::span<void *const> functions) {
  std::vector<KernelStep> steps;
  for (const LaunchStep &step : artifact.steps) {
    if (step.entry >= functions.size() || step.iterations < 0)
      return runtimeError("a launch step of the artifact runs entry ", step.entry, " of ", functions.size(), " over ",
                          step.iterations, " iterations");
    steps.push_back({step, reinterpret_cast<quern_kernel_fn>(functions[step.entry])});
  }
  return steps;
}

int usefulThreads(int64_t iterations, int64_t nsPerIteration) {
  return static_cast<int>(worth(iterations, nsPerIteration, nsWorthAThread));
}

/// Adds the terms of a polynomial that depends on no loop index.
void Program::add(const Polynomial &polynomial, uint32_t number) {
  for (const Term &term : polynomial.terms) {
    Addend &addend = addends.emplace_back(Addend{number, term.coefficient, {}});
    for (uint32_t symbol : term.symbols)
      addend.sizes.push_back(symbol - maxLoopDepth);
  }
  open |= polynomial.dependsOnSizes();
}

/// Returns the position of a product among the products of the step, to which it is added if necessary. The step must
/// be the last one.
Result<uint32_t> Program::productOf(BoundStep &step, std::span<const uint32_t> depths) {
  for (uint32_t i = 0; i < step.productCount; ++i) {
    const IndexProduct &known = products[step.firstProduct + i];
    if (std::ranges::equal(std::span(productFactors).subspan(known.first, known.count), depths))
      return i;
  }
  if (step.productCount == maxStepProducts)
    return runtimeError("a launch step depends on more than ", maxStepProducts, " products of loop indices");
  products.push_back({static_cast<uint32_t>(productFactors.size()), static_cast<uint32_t>(depths.size())});
  productFactors.insert(productFactors.end(), depths.begin(), depths.end());
  return step.productCount++;
}

Result<void> Program::addStep(const KernelStep &call) {
  BoundStep &step = steps.emplace_back();
  step = {&call, numbers++, static_cast<uint32_t>(bufferPlaces.size()), 0, static_cast<uint32_t>(products.size()), 0};
  open |= !call.factors.empty();
  struct Part {
    uint32_t buffer, product; ///< 0: none
    const Term *term;
    size_t depths;
  };
  std::vector<Part> parts;
  for (uint32_t b = 0; b < call.buffers.size(); ++b) {
    bufferPlaces.push_back(call.buffers[b].buffer);
    for (const Term &term : call.buffers[b].byteOffset.terms) {
      const auto firstSize = std::lower_bound(term.symbols.begin(), term.symbols.end(), maxLoopDepth);
      const auto depths = static_cast<size_t>(firstSize - term.symbols.begin());
      QUERN_ASSIGN_OR_RETURN(uint32_t product,
                             depths ? productOf(step, std::span(term.symbols).first(depths)) : Result<uint32_t>(0u));
      parts.push_back({b, depths ? product + 1 : 0, &term, depths});
    }
    open |= call.buffers[b].byteOffset.dependsOnSizes();
  }
  step.coefficients = numbers;
  numbers += static_cast<uint32_t>(call.buffers.size()) * (1 + step.productCount);
  for (const Part &part : parts) {
    Addend &addend = addends.emplace_back(
        Addend{step.coefficients + part.buffer * (1 + step.productCount) + part.product, part.term->coefficient, {}});
    for (uint32_t symbol : std::span(part.term->symbols).subspan(part.depths))
      addend.sizes.push_back(symbol - maxLoopDepth);
  }
  return {};
}

void Program::addInstructions(const Artifact &artifact) {
  size_t nextLoop = 0;
  std::vector<std::pair<uint32_t, uint32_t>> around; // pairs of a loop and its first instruction
  for (uint32_t i = 0; i < artifact.steps.size(); ++i) {
    for (; nextLoop < artifact.loops.size() && artifact.loops[nextLoop].first == i; ++nextLoop) {
      code.push_back({Instruction::Begin, static_cast<uint32_t>(nextLoop), 0});
      around.emplace_back(static_cast<uint32_t>(nextLoop), static_cast<uint32_t>(code.size()));
    }
    if (artifact.steps[i].independentOfPrevious && !groups.empty()) {
      ++groups.back().stepCount;
    } else {
      code.push_back({Instruction::Run, static_cast<uint32_t>(groups.size()), 0});
      groups.push_back({i, 1});
    }
    for (; !around.empty() && artifact.loops[around.back().first].end == i + 1; around.pop_back()) {
      code.push_back({Instruction::End, around.back().first, around.back().second});
      code[around.back().second - 1].target = static_cast<uint32_t>(code.size());
    }
  }
}

Result<void> Program::take(const Artifact &artifact, std::span<const KernelStep> calls) {
  plain = isPlainLaunch(artifact);
  givenSizes = artifact.sizeCount;
  if (plain) {
    threadsOfPlain = quern::usefulThreads(calls[0].iterations, calls[0].nsPerIteration);
    return {};
  }
  arguments = artifact.arguments;
  derived = artifact.derivedSizes;
  checks = artifact.checks;
  open = !derived.empty() || !checks.empty();
  for (const LaunchLoop &loop : artifact.loops)
    add(loop.trips, numbers++);
  firstRegion = numbers;
  regions = static_cast<uint32_t>(artifact.regions.size());
  CheckedInt known(0);
  for (const Polynomial &bytes : artifact.regions) {
    add(bytes, numbers++);
    openRegions |= bytes.dependsOnSizes();
    known += roundUp(bytes.constant().value_or(0), static_cast<int64_t>(scratchAlignment));
  }
  if (known.overflowed())
    return unimplemented("the regions of a launch are beyond int64");
  knownRegions = known.value();
  ++numbers;
  for (const KernelStep &call : calls)
    QUERN_RETURN_IF_ERROR(addStep(call));
  addInstructions(artifact);
  firstGroup = numbers;
  numbers += 2 * static_cast<uint32_t>(groups.size()) + 1;
  if (open)
    return {};
  fixed.resize(numbers);
  return bind(nullptr, nullptr, fixed.data());
}

Result<void> Program::sumUp(const int64_t *sizes, int64_t *bound) const {
  std::memset(bound, 0, numbers * sizeof(int64_t));
  for (const Addend &addend : addends) {
    CheckedInt product(addend.coefficient);
    for (uint32_t size : addend.sizes)
      product *= sizes[size];
    product += bound[addend.number];
    if (product.overflowed())
      return beyondInt64("loops, offsets and regions");
    bound[addend.number] = product.value();
  }
  return {};
}

Result<void> Program::placeRegions(int64_t *bound) const {
  CheckedInt end(0);
  for (size_t region = 0; region <= regions; ++region) {
    const int64_t bytes = bound[firstRegion + region];
    bound[firstRegion + region] = end.value();
    if (bytes < 0)
      return runtimeError("region ", region, " of the launch has ", bytes, " bytes; the least is 0");
    end += roundUp(bytes, static_cast<int64_t>(scratchAlignment));
    if (end.overflowed())
      return beyondInt64("regions");
  }
  return {};
}

Result<void> Program::measureGroups(const int64_t *sizes, int64_t *bound) const {
  for (size_t g = 0; g < groups.size(); ++g) {
    const StepGroup &group = groups[g];
    CheckedInt total(0);
    for (const BoundStep &step : std::span(steps).subspan(group.firstStep, group.stepCount)) {
      const int64_t iterations = iterationsOf(*step.call, sizes);
      if (iterations < 0)
        return beyondInt64("iterations");
      bound[step.iterations] = iterations;
      total += CheckedInt(iterations) * (group.stepCount == 1 ? 1 : std::max<int64_t>(1, step.call->nsPerIteration));
    }
    if (total.overflowed())
      return beyondInt64("iterations");
    bound[firstGroup + 2 * g] = total.value();
    const int64_t ns = group.stepCount == 1 ? steps[group.firstStep].call->nsPerIteration : 1;
    bound[firstGroup + 2 * g + 1] = worth(total.value(), ns, nsWorthASlot);
  }
  return {};
}

/// Computes the number of useful threads. Counts only groups that can be split.
void Program::countThreads(int64_t *bound) const {
  int64_t work = 0, most = 1;
  int64_t times[maxLoopDepth + 1] = {1}; // by depth
  size_t depth = 0;
  for (const Instruction &instruction : code) {
    if (instruction.kind == Instruction::Begin) {
      times[depth + 1] = saturatingProduct(times[depth], std::max<int64_t>(0, trips(bound, instruction.index)));
      ++depth;
    } else if (instruction.kind == Instruction::End)
      --depth;
    else if (const GroupSize size = sizeOf(bound, instruction.index); size.slots > 1) {
      const StepGroup &group = groups[instruction.index];
      const int64_t ns = workOf(size.total, group.stepCount == 1 ? steps[group.firstStep].call->nsPerIteration : 1);
      work = saturatingSum(work, saturatingProduct(ns, times[depth]));
      most = std::max(most, size.slots);
    }
  }
  bound[firstGroup + 2 * groups.size()] = std::clamp<int64_t>(work / nsWorthAThread, 1, most);
}

/// Returns the bytes of an argument or region; INT64_MAX if unknown.
int64_t Program::bytesOf(uint32_t place, const int64_t *bufferBytes, const int64_t *bound) const {
  if (place >= arguments.size()) {
    const size_t region = place - arguments.size();
    return regionStart(bound, region + 1) - regionStart(bound, region);
  }
  if (arguments[place].bytes > 0 || givenSizes == 0)
    return arguments[place].bytes;
  return bufferBytes ? bufferBytes[place] : INT64_MAX;
}

/// Checks that every buffer of a step starts inside its argument or region, for all indices of the surrounding loops.
/// Treats products that share an index as independent.
Result<void> Program::checkStep(const BoundStep &step, const int64_t *bufferBytes, const int64_t *bound,
                                std::span<const int64_t> trips) const {
  int64_t last[maxStepProducts];
  for (uint32_t p = 0; p < step.productCount; ++p) {
    const IndexProduct &product = products[step.firstProduct + p];
    last[p] = 1;
    for (uint32_t depth : std::span(productFactors).subspan(product.first, product.count))
      last[p] = saturatingProduct(last[p], trips[depth] - 1);
  }
  const int64_t *coefficient = bound + step.coefficients;
  for (uint32_t b = 0; b < step.call->buffers.size(); ++b) {
    const uint32_t place = bufferPlaces[step.firstBuffer + b];
    const int64_t start = *coefficient++;
    CheckedInt low(start), high(start);
    for (uint32_t p = 0; p < step.productCount; ++p, ++coefficient)
      (*coefficient < 0 ? low : high) += CheckedInt(*coefficient) * last[p];
    const int64_t bytes = bytesOf(place, bufferBytes, bound);
    if (low.overflowed() || high.overflowed() || low.value() < 0 || high.value() > bytes)
      return runtimeError("launch step ", &step - steps.data(), " begins between bytes ", low.value(), " and ",
                          high.value(), " of buffer ", place, ", which has ", bytes);
  }
  return {};
}

Result<void> Program::checkOffsets(const int64_t *bufferBytes, const int64_t *bound) const {
  int64_t around[maxLoopDepth]; // trip counts of the surrounding loops
  size_t depth = 0;
  for (uint32_t at = 0; at < code.size(); ++at) {
    const Instruction &instruction = code[at];
    if (instruction.kind == Instruction::Begin) {
      around[depth] = trips(bound, instruction.index);
      if (around[depth] > 0)
        ++depth;
      else
        at = instruction.target - 1;
    } else if (instruction.kind == Instruction::End) {
      --depth;
    } else {
      const StepGroup &group = groups[instruction.index];
      for (const BoundStep &step : std::span(steps).subspan(group.firstStep, group.stepCount)) {
        if (bound[step.iterations] == 0) // a part without elements may start anywhere
          continue;
        QUERN_RETURN_IF_ERROR(checkStep(step, bufferBytes, bound, {around, depth}));
      }
    }
  }
  return {};
}

Result<void> Program::bind(const int64_t *sizes, const int64_t *bufferBytes, int64_t *bound) const {
  QUERN_RETURN_IF_ERROR(sumUp(sizes, bound));
  QUERN_RETURN_IF_ERROR(placeRegions(bound));
  QUERN_RETURN_IF_ERROR(measureGroups(sizes, bound));
  countThreads(bound);
  return checkOffsets(bufferBytes, bound);
}

std::vector<int64_t> Program::numbersFor(const int64_t *sizes) const {
  if (!open || derivedSizeCount() || checksSizes())
    return {};
  std::vector<int64_t> bound(std::max<size_t>(1, numberCount()));
  return bind(sizes, nullptr, bound.data()) ? std::move(bound) : std::vector<int64_t>();
}

Result<void> Program::deriveSizes(void *const *buffers, const int64_t *given, int64_t *sizes) const {
  std::copy(given, given + (given ? givenSizes : 0), sizes);
  for (size_t i = 0; i < derived.size(); ++i) {
    const DerivedSize &size = derived[i];
    const CheckedInt limit = evaluate(size.limit, sizes), count = evaluate(size.count, sizes),
                     stride = evaluate(size.stride, sizes), value = evaluate(size.value, sizes);
    if (limit.overflowed() || count.overflowed() || stride.overflowed() || value.overflowed())
      return beyondInt64("derived sizes");
    if (size.kind == DerivedSize::Kind::Computed) {
      sizes[givenSizes + i] = value.value();
      continue;
    }
    const auto *elements = static_cast<const int32_t *>(buffers[size.argument]);
    if (size.kind == DerivedSize::Kind::Number) {
      sizes[givenSizes + i] = *elements;
      continue;
    }
    int64_t greatest = 0;
    for (int64_t e = 0; e < count.value(); ++e)
      greatest = std::max<int64_t>(greatest, elements[e * stride.value()]);
    sizes[givenSizes + i] = std::clamp<int64_t>(greatest, 0, std::max<int64_t>(0, limit.value()));
  }
  return checkSizes(sizes);
}

Result<void> Program::checkSizes(const int64_t *sizes) const {
  for (const SizeCheck &check : checks) {
    const CheckedInt value = evaluate(check.value, sizes), low = evaluate(check.low, sizes),
                     high = evaluate(check.high, sizes);
    if (value.overflowed() || low.overflowed() || high.overflowed())
      return beyondInt64("sizes and offsets");
    if (value.value() < low.value() || value.value() > high.value())
      return low.value() > high.value()
                 ? invalidArguments(check.what, " is ", value.value(), "; the other sizes allow no value")
             : low.value() == high.value()
                 ? invalidArguments(check.what, " is ", value.value(), "; the other sizes require ", low.value())
                 : invalidArguments(check.what, " is ", value.value(), "; ", low.value(), " to ", high.value(),
                                    " is possible");
  }
  return {};
}

} // namespace quern
