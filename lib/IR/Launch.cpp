//===- Launch.cpp - The kernel calls of a module --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A call in a program names a problem. The kernels of the problem name it in their KernelAttr and take all of its
// arguments; they are called one after another with the same buffers.
//
//===----------------------------------------------------------------------===//
#include "IR/Launch.h"

#include "IR/Polynomials.h"
#include "IR/QuernDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace quern;

namespace {

using Names = SmallVector<StringRef, 4>;

/// Returns the names of the tensor arguments of a problem or kernel, scheduled or lowered; nothing for another
/// operation.
std::optional<Names> tensorsOf(Operation *op) {
  if (auto lowered = attrOf<LoweredAttr>(op))
    return llvm::map_to_vector<4>(lowered.getArguments(), [](ArgumentAttr argument) { return argument.getName(); });
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function)
    return std::nullopt;
  Names names;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto name = function.getArgAttrOfType<StringAttr>(i, attr::arg))
      names.push_back(name.getValue());
  return names;
}

/// Returns the launch that calls every kernel in module order.
Launch launchInOrder(ModuleOp module) {
  Launch launch;
  for (Operation &op : module.getBody()->getOperations())
    if (std::optional<Names> tensors = isKernel(&op) ? tensorsOf(&op) : std::nullopt) {
      KernelCall &call = launch.calls.emplace_back(KernelCall{&op, {}});
      for (StringRef name : *tensors)
        call.buffers.push_back({name, {}});
    }
  return launch;
}

class ProgramReader {
public:
  explicit ProgramReader(ModuleOp module) : module(module) {}
  FailureOr<Launch> read(ProgramAttr program);

private:
  struct CalledProblem {
    SmallVector<Operation *, 1> kernels; ///< or the problem itself, if it is not scheduled yet
    size_t arguments = 0;
    bool isCalled = false;
  };
  InFlightDiagnostic error() { return module.emitError() << ProgramAttr::name << ": "; }
  LogicalResult collectProblems();
  LogicalResult readSteps(ArrayRef<Attribute> steps, unsigned depth);
  LogicalResult readRegion(RegionAttr region, unsigned depth);
  FailureOr<Launch::Size *> addSize(DerivedSize::Kind kind, StringRef argument, unsigned depth, const Twine &what);
  LogicalResult readMaximum(MaximumAttr maximum, unsigned depth);
  LogicalResult readNumber(NumberAttr number, unsigned depth);
  LogicalResult readSize(SizeAttr size, unsigned depth);
  LogicalResult readCheck(CheckAttr check, unsigned depth);
  LogicalResult readLoop(LoopAttr loop, unsigned depth);
  LogicalResult readCall(CallAttr call, unsigned depth, bool isFirst);
  LogicalResult readValue(Polynomial &value, AffineExpr expression, unsigned depth, const Twine &what);

  ModuleOp module;
  Launch launch;
  llvm::StringMap<CalledProblem> problems;
};

LogicalResult ProgramReader::collectProblems() {
  for (Operation &op : module.getBody()->getOperations()) {
    std::optional<Names> tensors = tensorsOf(&op);
    if (!tensors)
      continue;
    auto kernel = attrOf<KernelAttr>(&op);
    StringRef symbol = SymbolTable::getSymbolName(&op), name = kernel ? kernel.getProblem() : symbol;
    if (name.empty())
      return error() << "@" << symbol << " does not name its problem";
    CalledProblem &problem = problems[name];
    if (!problem.kernels.empty() && problem.arguments != tensors->size())
      return error() << "the kernels of @" << name << " take " << problem.arguments << " and " << tensors->size()
                     << " arguments";
    problem.kernels.push_back(&op);
    problem.arguments = tensors->size();
  }
  return success();
}

LogicalResult ProgramReader::readValue(Polynomial &value, AffineExpr expression, unsigned depth, const Twine &what) {
  std::string whyNot;
  FailureOr<Polynomial> polynomial = polynomialOf(expression, depth, whyNot);
  if (failed(polynomial))
    return error() << what << " " << whyNot;
  value = std::move(*polynomial);
  return success();
}

LogicalResult ProgramReader::readRegion(RegionAttr region, unsigned depth) {
  if (depth || launch.regions.size() == maxRegions)
    return error() << "region '" << region.getName() << "' is in a loop or exceeds the limit of " << maxRegions
                   << " regions";
  Launch::Region &read = launch.regions.emplace_back(Launch::Region{region.getName(), {}});
  return readValue(read.bytes, region.getBytes(), 0, "region '" + region.getName() + "'");
}

FailureOr<Launch::Size *> ProgramReader::addSize(DerivedSize::Kind kind, StringRef argument, unsigned depth,
                                                 const Twine &what) {
  if (depth || launch.sizes.size() == maxDerivedSizes)
    return error() << what << " is in a loop or exceeds the limit of " << maxDerivedSizes << " sizes";
  return &launch.sizes.emplace_back(Launch::Size{kind, argument, {}, {}, {}, {}});
}

LogicalResult ProgramReader::readMaximum(MaximumAttr maximum, unsigned depth) {
  const std::string what = ("the maximum of '" + maximum.getArgument() + "'").str();
  FailureOr<Launch::Size *> size = addSize(DerivedSize::Kind::Maximum, maximum.getArgument(), depth, what);
  return success(succeeded(size) && succeeded(readValue((*size)->limit, maximum.getLimit(), 0, what)) &&
                 succeeded(readValue((*size)->count, maximum.getCount(), 0, what)) &&
                 succeeded(readValue((*size)->stride, maximum.getStride(), 0, what)));
}

LogicalResult ProgramReader::readNumber(NumberAttr number, unsigned depth) {
  return addSize(DerivedSize::Kind::Number, number.getArgument(), depth, "the number '" + number.getArgument() + "'");
}

LogicalResult ProgramReader::readSize(SizeAttr size, unsigned depth) {
  FailureOr<Launch::Size *> computed = addSize(DerivedSize::Kind::Computed, "", depth, "a computed size");
  return success(succeeded(computed) && succeeded(readValue((*computed)->value, size.getValue(), 0, "a size")));
}

LogicalResult ProgramReader::readCheck(CheckAttr check, unsigned depth) {
  const std::string what = ("the check of '" + check.getWhat() + "'").str();
  if (depth || launch.checks.size() == maxChecks)
    return error() << what << " is in a loop or exceeds the limit of " << maxChecks << " checks";
  SizeCheck &read = launch.checks.emplace_back(SizeCheck{check.getWhat().str(), {}, {}, {}});
  return success(succeeded(readValue(read.value, check.getValue(), 0, what)) &&
                 succeeded(readValue(read.low, check.getLow(), 0, what)) &&
                 succeeded(readValue(read.high, check.getHigh(), 0, what)));
}

LogicalResult ProgramReader::readLoop(LoopAttr loop, unsigned depth) {
  if (depth == maxLoopDepth)
    return error() << "a loop is nested in " << depth << " others; the limit is " << maxLoopDepth - 1;
  if (launch.loops.size() == maxLoops)
    return error() << "more than " << maxLoops << " loops";
  const size_t position = launch.loops.size(), first = launch.calls.size();
  launch.loops.push_back({{}, static_cast<uint32_t>(first), 0});
  if (failed(readValue(launch.loops[position].trips, loop.getTrips(), 0, "the trips of a loop")) ||
      failed(readSteps(loop.getBody(), depth + 1)))
    return failure();
  launch.loops[position].end = static_cast<uint32_t>(launch.calls.size());
  return launch.calls.size() > first ? success() : error() << "a loop has no call";
}

LogicalResult ProgramReader::readCall(CallAttr call, unsigned depth, bool isFirst) {
  StringRef name = call.getProblem().getValue();
  auto found = problems.find(name);
  if (found == problems.end())
    return error() << "the module has no @" << name;
  CalledProblem &problem = found->second;
  if (call.getBuffers().size() != problem.arguments)
    return error() << "@" << name << " takes " << problem.arguments << " buffers; a call names "
                   << call.getBuffers().size();
  if (call.getIndependent() && isFirst)
    return error() << "a call of @" << name << " is marked `independent`, but does not follow a call";
  problem.isCalled = true;
  KernelCall read{nullptr, {}, call.getIndependent()};
  for (BufferAttr buffer : call.getBuffers()) {
    KernelCall::Buffer &passed = read.buffers.emplace_back(KernelCall::Buffer{buffer.getName(), {}});
    if (failed(readValue(passed.byteOffset, buffer.getOffset(), depth,
                         "the offset in '" + buffer.getName() + "' of a call of @" + name)))
      return failure();
  }
  // The kernels of a problem run one after another. A kernel with shared memory is never independent, because all calls
  // of an execution share that memory.
  for (Operation *kernel : problem.kernels) {
    auto traits = attrOf<KernelAttr>(kernel);
    KernelCall &one = launch.calls.emplace_back(read);
    one.kernel = kernel;
    one.independentOfPrevious &= kernel == problem.kernels.front() && !(traits && traits.getSharedBytes());
  }
  return success();
}

LogicalResult ProgramReader::readSteps(ArrayRef<Attribute> steps, unsigned depth) {
  bool followsCall = false;
  for (Attribute step : steps) {
    auto read = llvm::TypeSwitch<Attribute, LogicalResult>(step)
                    .Case<RegionAttr>([&](auto region) { return readRegion(region, depth); })
                    .Case<MaximumAttr>([&](auto maximum) { return readMaximum(maximum, depth); })
                    .Case<NumberAttr>([&](auto number) { return readNumber(number, depth); })
                    .Case<SizeAttr>([&](auto size) { return readSize(size, depth); })
                    .Case<CheckAttr>([&](auto check) { return readCheck(check, depth); })
                    .Case<LoopAttr>([&](auto loop) { return readLoop(loop, depth); })
                    .Default([&](Attribute call) { return readCall(cast<CallAttr>(call), depth, !followsCall); });
    if (failed(read))
      return failure();
    followsCall = isa<CallAttr>(step);
  }
  return success();
}

FailureOr<Launch> ProgramReader::read(ProgramAttr program) {
  if (failed(collectProblems()) || failed(readSteps(program.getSteps(), 0)))
    return failure();
  for (const auto &[name, problem] : problems)
    if (!problem.isCalled)
      return error() << "it does not call @" << name;
  return std::move(launch);
}

} // namespace

FailureOr<Launch> quern::launchOf(ModuleOp module) {
  auto program = attrOf<ProgramAttr>(module);
  return program ? ProgramReader(module).read(program) : launchInOrder(module);
}
