//===- Launch.cpp - The calls that a module asks for ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A call of a program names a problem, whose kernels carry that name (KernelAttr) and take all of its arguments: each is called in turn,
// with the same buffers.
//
//===----------------------------------------------------------------------===//
#include "Compiler/Launch.h"

#include "Compiler/Polynomials.h"
#include "IR/QuernDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace quern;

namespace {

using Names = SmallVector<StringRef, 4>;

/// The names of the tensors that a kernel takes, scheduled or lowered; nothing where it is no kernel.
std::optional<Names> tensorsOf(Operation *kernel) {
  if (auto lowered = attrOf<LoweredAttr>(kernel))
    return llvm::map_to_vector<4>(lowered.getArguments(), [](ArgumentAttr argument) { return argument.getName(); });
  auto function = dyn_cast<func::FuncOp>(kernel);
  if (!function || !isKernel(kernel))
    return std::nullopt;
  Names names;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto name = function.getArgAttrOfType<StringAttr>(i, attr::arg))
      names.push_back(name.getValue());
  return names;
}

StringRef problemOf(Operation *op) {
  auto kernel = attrOf<KernelAttr>(op);
  return kernel ? kernel.getProblem() : StringRef();
}

/// The call of quern.calls with these buffers.
FailureOr<KernelCall> callOf(Operation *kernel, Attribute buffers, size_t count) {
  KernelCall call{kernel, {}, false};
  auto list = dyn_cast<ArrayAttr>(buffers);
  for (size_t i = 0; list && i + 1 < list.size(); i += 2) {
    auto name = dyn_cast<StringAttr>(list[i]);
    auto offset = dyn_cast<IntegerAttr>(list[i + 1]);
    if (name && offset && offset.getInt() >= 0)
      call.buffers.push_back({name.getValue(), offset.getInt()});
  }
  if (!list || list.size() != 2 * count || call.buffers.size() != count)
    return kernel->emitError() << attr::calls << " must list a name and an offset in bytes for each of the " << count
                               << " arguments of each call";
  return call;
}

/// Every kernel where it stands.
FailureOr<Launch> launchInOrder(ModuleOp module) {
  Launch launch;
  for (Operation &kernel : module.getBody()->getOperations()) {
    std::optional<Names> tensors = tensorsOf(&kernel);
    if (!tensors)
      continue;
    auto calls = kernel.getAttrOfType<ArrayAttr>(attr::calls);
    bool isBeside = kernel.hasAttr(attr::beside);
    if (!calls) {
      KernelCall &call = launch.calls.emplace_back(KernelCall{&kernel, {}, isBeside});
      for (StringRef name : *tensors)
        call.buffers.push_back({name, {}});
      continue;
    }
    for (auto [i, buffers] : llvm::enumerate(calls)) {
      FailureOr<KernelCall> call = callOf(&kernel, buffers, tensors->size());
      if (failed(call))
        return failure();
      call->besidePrevious = i > 0 || isBeside;
      launch.calls.push_back(std::move(*call));
    }
  }
  return launch;
}

/// Reads quern.program, quern.regions and quern.maxima.
class ProgramParser {
public:
  explicit ProgramParser(ModuleOp module) : module(module) {}
  FailureOr<Launch> parse();

private:
  struct Problem {
    SmallVector<Operation *, 1> kernels;
    size_t arguments = 0;
    bool isCalled = false;
  };
  InFlightDiagnostic error() { return module.emitError() << attr::program << ": "; }
  LogicalResult collectProblems();
  LogicalResult parseRegions();
  LogicalResult parseMaxima();
  LogicalResult parseBody(ArrayAttr body, unsigned depth);
  LogicalResult parseLoop(DictionaryAttr loop, unsigned depth);
  LogicalResult parseCall(DictionaryAttr call, unsigned depth, bool isFirst);
  FailureOr<Polynomial> parseValue(Attribute map, unsigned depth, const Twine &what);

  ModuleOp module;
  Launch launch;
  llvm::StringMap<Problem> problems;
};

LogicalResult ProgramParser::collectProblems() {
  for (Operation &op : module.getBody()->getOperations()) {
    std::optional<Names> tensors = tensorsOf(&op);
    if (!tensors)
      continue;
    StringRef name = problemOf(&op);
    if (name.empty())
      return error() << "@" << SymbolTable::getSymbolName(&op).getValue() << " does not say which problem it is of";
    if (op.hasAttr(attr::calls) || op.hasAttr(attr::beside))
      return error() << "@" << name << " says itself when it is called";
    Problem &problem = problems[name];
    if (!problem.kernels.empty() && problem.arguments != tensors->size())
      return error() << "the kernels of @" << name << " take " << problem.arguments << " and " << tensors->size() << " arguments";
    problem.kernels.push_back(&op);
    problem.arguments = tensors->size();
  }
  return success();
}

FailureOr<Polynomial> ProgramParser::parseValue(Attribute attribute, unsigned depth, const Twine &what) {
  auto map = dyn_cast_or_null<AffineMapAttr>(attribute);
  if (!map)
    return error() << what << " is no affine map";
  std::string whyNot;
  FailureOr<Polynomial> polynomial = polynomialOf(map.getValue(), depth, whyNot);
  if (failed(polynomial))
    return error() << what << " " << whyNot;
  return polynomial;
}

LogicalResult ProgramParser::parseRegions() {
  auto regions = module->getAttrOfType<DictionaryAttr>(attr::regions);
  if (!regions)
    return success();
  for (NamedAttribute region : regions) {
    FailureOr<Polynomial> bytes = parseValue(region.getValue(), 0, "region '" + region.getName().getValue() + "'");
    if (failed(bytes))
      return failure();
    launch.regions.push_back({region.getName().getValue(), std::move(*bytes)});
  }
  if (launch.regions.size() > maxRegions)
    return error() << launch.regions.size() << " regions; the limit is " << maxRegions;
  return success();
}

LogicalResult ProgramParser::parseMaxima() {
  auto maxima = module->getAttrOfType<ArrayAttr>(attr::maxima);
  if (!maxima)
    return success();
  if (maxima.size() > maxDerivedSizes)
    return error() << maxima.size() << " maxima; the limit is " << maxDerivedSizes;
  for (Attribute attribute : maxima) {
    auto parts = dyn_cast<ArrayAttr>(attribute);
    auto name = parts && parts.size() == 4 ? dyn_cast<StringAttr>(parts[0]) : StringAttr();
    if (!name)
      return error() << attr::maxima << " must list [an argument, the limit, the count, the stride]";
    Launch::Maximum maximum{name.getValue(), {}, {}, {}};
    Polynomial *const values[] = {&maximum.limit, &maximum.count, &maximum.stride};
    for (auto [i, part] : llvm::enumerate(values)) {
      FailureOr<Polynomial> value = parseValue(parts[i + 1], 0, "the maximum of '" + name.getValue() + "'");
      if (failed(value))
        return failure();
      *part = std::move(*value);
    }
    launch.maxima.push_back(std::move(maximum));
  }
  return success();
}

LogicalResult ProgramParser::parseLoop(DictionaryAttr loop, unsigned depth) {
  auto body = loop.getAs<ArrayAttr>("body");
  if (!body || body.empty() || loop.size() != 2)
    return error() << "a loop must be {loop = trips, body = [at least one call or loop]}";
  if (depth == maxLoopDepth)
    return error() << "a loop lies within " << depth << " others; the limit is " << maxLoopDepth - 1;
  FailureOr<Polynomial> trips = parseValue(loop.get("loop"), 0, "the trips of a loop");
  if (failed(trips))
    return failure();
  if (launch.loops.size() == maxLoops)
    return error() << "more than " << maxLoops << " loops";
  size_t position = launch.loops.size();
  launch.loops.push_back({std::move(*trips), static_cast<uint32_t>(launch.calls.size()), 0});
  if (failed(parseBody(body, depth + 1)))
    return failure();
  launch.loops[position].end = static_cast<uint32_t>(launch.calls.size());
  return success();
}

LogicalResult ProgramParser::parseCall(DictionaryAttr item, unsigned depth, bool isFirst) {
  auto symbol = item.getAs<FlatSymbolRefAttr>("call");
  auto buffers = item.getAs<ArrayAttr>("buffers");
  bool isBeside = item.contains("beside");
  if (!symbol || !buffers || item.size() != (isBeside ? 3 : 2))
    return error() << "a call must be {call = @problem, buffers = [[name, offset], …]}, and may be beside the one before";
  auto found = problems.find(symbol.getValue());
  if (found == problems.end())
    return error() << "the module has no @" << symbol.getValue();
  Problem &problem = found->second;
  if (buffers.size() != problem.arguments)
    return error() << "@" << symbol.getValue() << " takes " << problem.arguments << " buffers; a call names " << buffers.size();
  if (isBeside && isFirst)
    return error() << "a call of @" << symbol.getValue() << " is beside the one before, and there is none";
  problem.isCalled = true;
  KernelCall call{nullptr, {}, isBeside};
  for (auto [i, attribute] : llvm::enumerate(buffers)) {
    auto parts = dyn_cast<ArrayAttr>(attribute);
    auto name = parts && parts.size() == 2 ? dyn_cast<StringAttr>(parts[0]) : StringAttr();
    if (!name)
      return error() << "buffer " << i << " of a call of @" << symbol.getValue() << " must be [name, offset]";
    FailureOr<Polynomial> offset =
        parseValue(parts[1], depth, "the offset in '" + name.getValue() + "' of a call of @" + symbol.getValue());
    if (failed(offset))
      return failure();
    call.buffers.push_back({name.getValue(), std::move(*offset)});
  }
  for (Operation *kernel : problem.kernels) { // those of one execution share one scratch, from one to the next
    KernelCall one = call;
    one.kernel = kernel;
    one.besidePrevious &= kernel == problem.kernels.front() && !attrOf<KernelAttr>(kernel).getSharedBytes();
    launch.calls.push_back(std::move(one));
  }
  return success();
}

LogicalResult ProgramParser::parseBody(ArrayAttr body, unsigned depth) {
  bool followsCall = false;
  for (Attribute attribute : body) {
    auto item = dyn_cast<DictionaryAttr>(attribute);
    bool isLoop = item && item.contains("loop");
    if (!item || (!isLoop && !item.contains("call")))
      return error() << "it must list calls and loops: {call = …} and {loop = …}";
    if (failed(isLoop ? parseLoop(item, depth) : parseCall(item, depth, !followsCall)))
      return failure();
    followsCall = !isLoop;
  }
  return success();
}

FailureOr<Launch> ProgramParser::parse() {
  auto program = module->getAttrOfType<ArrayAttr>(attr::program);
  if (!program)
    return error() << "it must be a list of calls and loops";
  if (failed(collectProblems()) || failed(parseRegions()) || failed(parseMaxima()) || failed(parseBody(program, 0)))
    return failure();
  for (Operation &op : module.getBody()->getOperations())
    if (StringRef name = problemOf(&op); !name.empty() && !problems[name].isCalled)
      return error() << "it does not call @" << name;
  return std::move(launch);
}

} // namespace

FailureOr<Launch> quern::launchOf(ModuleOp module) {
  return module->hasAttr(attr::program) ? ProgramParser(module).parse() : launchInOrder(module);
}
