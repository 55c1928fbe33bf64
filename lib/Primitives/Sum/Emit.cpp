//===- Emit.cpp - Emission of sum as linalg -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One elementwise op that reads every source:
//   dst = sat(((s_0 · src_0) + s_1 · src_1) + …)
// Each operation rounds separately, in this order, to f32, or to f64 if a tensor is f64; a factor of 1 is not applied.
// Sums without floats are computed on integers (Primitives/Integers.h). If there are more sources than a kernel
// supports, the sum is split into several ops. Each is in a function that receives only the arguments that it needs;
// the functions pass their partial sums in memory that the kernels of an execution share.
//
//===----------------------------------------------------------------------===//
#include "IR/QuernDialect.h"
#include "Primitives/Arguments.h"
#include "Primitives/Emission/Arithmetic/Convert.h"
#include "Primitives/Emission/Arithmetic/Integers.h"
#include "Primitives/Emission/Padding.h"
#include "Primitives/Emission/Tensors.h"
#include "Primitives/Emitters.h"
#include "Primitives/Integers.h"
#include "Primitives/Sum/Sum.h"

#include <algorithm>
#include <optional>

using namespace mlir;
using namespace quern;
using namespace quern::emission;

namespace {

class SumEmitter {
public:
  SumEmitter(ModuleOp module, const VerifiedProblem &problem)
      : module(module), problem(problem), sum(std::get<SumDesc>(problem.desc.op)), builder(module.getContext()),
        space(sum.dst.dims, sum.dst.ndims), compute(builder.getF32Type()) {
    SmallVector<DataType> types;
    for (const TensorDesc &src : sum.srcs)
      types.push_back(src.dataType);
    if (llvm::is_contained(types, DataType::F64) || sum.dst.dataType == DataType::F64)
      compute = builder.getF64Type();
    if (computesOnIntegers(problem.desc))
      integers.emplace(module.getContext(), sum.scales, types);
  }
  void emit();

private:
  /// Adds the terms of the sources from `first` on, whose elements are `in`, to `before`, which may be null.
  Value added(OpBuilder &b, Location at, Value before, size_t first, ValueRange in) const;
  /// Converts the sum of all terms to an element of dst.
  Value stored(OpBuilder &b, Location at, Value all) const {
    return integers ? integers->finish(b, at, all, sum.dst.dataType) : narrowed(b, at, all, sum.dst.dataType);
  }
  VerifiedProblem problemOf(size_t first, size_t end) const;
  void emitWhole();
  void emitPart(size_t first, size_t end);

  ModuleOp module;
  const VerifiedProblem &problem;
  const SumDesc &sum;
  Builder builder;
  ArrayRef<int64_t> space;
  FloatType compute;
  std::optional<IntegerSum> integers; ///< set if the sum is computed on integers
};

Value SumEmitter::added(OpBuilder &b, Location at, Value before, size_t first, ValueRange in) const {
  if (integers)
    return integers->add(b, at, before, first, in);
  for (auto [i, element] : llvm::enumerate(in)) {
    Value term = widened(b, at, element, sum.srcs[first + i].dataType, compute);
    if (float scale = sum.scales[first + i]; scale != 1)
      term = arith::MulFOp::create(b, at, term, arith::ConstantOp::create(b, at, b.getFloatAttr(compute, scale)));
    before = before ? arith::AddFOp::create(b, at, before, term).getResult() : term;
  }
  return before;
}

void SumEmitter::emitWhole() {
  FunctionEmitter function(module, problem, "sum", argumentTypesToFill(problem, module.getContext()));
  SmallVector<Operand> inputs;
  for (size_t i = 0; i < sum.srcs.size(); ++i)
    inputs.push_back(function.tensor(arg::sourceAt(i), space));
  function.step("sum", "sum of the sources times their scales");
  function.elementwise(
      space, inputs, filledOutput(function, arg::dst, space), [&](OpBuilder &b, Location at, ValueRange in, Value) {
        return integers ? integers->emit(b, at, in, sum.dst.dataType) : stored(b, at, added(b, at, Value(), 0, in));
      });
  function.finish();
  if (!fillsPadding(problem))
    emitPadding(module, problem, "sum");
}

/// Returns the arguments of a part.
VerifiedProblem SumEmitter::problemOf(size_t first, size_t end) const {
  VerifiedProblem part;
  part.arguments.assign(problem.arguments.begin() + static_cast<ptrdiff_t>(first),
                        problem.arguments.begin() + static_cast<ptrdiff_t>(end));
  if (end == sum.srcs.size())
    part.arguments.push_back(problem.arguments.back());
  return part;
}

/// Emits the part that adds sources `first` to `end` - 1 to the sum of the parts before. Only the last part writes the
/// destination, because any source may use its memory.
void SumEmitter::emitPart(size_t first, size_t end) {
  VerifiedProblem part = problemOf(first, end);
  bool isLast = end == sum.srcs.size();
  SmallVector<Type> types = argumentTypes(part, module.getContext());
  types.push_back(MemRefType::get(space, integers ? Type(integers->type()) : compute));
  FunctionEmitter function(module, part, ("sum" + Twine(first)).str(), types);
  function.setArgAttribute(types.size() - 1, attr::shared, builder.getIndexAttr(0));
  SmallVector<Operand> inputs;
  for (size_t i = first; i < end; ++i)
    inputs.push_back(function.tensor(arg::sourceAt(i), space));
  Operand partial{function.argument(types.size() - 1), builder.getMultiDimIdentityMap(space.size())};
  if (isLast)
    inputs.push_back(partial);
  function.step("sum", "sum of sources " + Twine(first) + " to " + Twine(end - 1) + " times their scales");
  function.elementwise(space, inputs, isLast ? function.tensor(arg::dst, space) : partial,
                       [&](OpBuilder &b, Location at, ValueRange in, Value old) {
                         Value before = !first ? Value() : isLast ? in.back() : old;
                         Value all = added(b, at, before, first, in.take_front(end - first));
                         return isLast ? stored(b, at, all) : all;
                       });
  function.finish();
}

void SumEmitter::emit() {
  if (sum.srcs.size() <= sum::maxSourcesPerKernel)
    return emitWhole();
  for (size_t first = 0; first < sum.srcs.size(); first += sum::maxSourcesPerKernel)
    emitPart(first, std::min(first + sum::maxSourcesPerKernel, sum.srcs.size()));
  VerifiedProblem dstOnly;
  dstOnly.arguments.push_back(problem.arguments.back());
  emitPadding(module, dstOnly, "sum");
}

} // namespace

void quern::emitSum(ModuleOp module, const VerifiedProblem &problem) { SumEmitter(module, problem).emit(); }
