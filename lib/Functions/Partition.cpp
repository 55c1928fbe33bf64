//===- Partition.cpp - Splitting a function into problems -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Operations are processed in the order of the function, a fill together with the operations that accumulate on it.
// Each problem extends as far as it is supported: the longest group within a window is tried first, and the window
// moves on if all of it is supported. Equal problems share a function. Memory that passes values between problems is a
// region of the launch program.
//
//===----------------------------------------------------------------------===//
#include "Functions/Functions.h"

#include "Functions/Check.h"
#include "Functions/Locations.h"
#include "Functions/OpenSizes.h"
#include "IR/Naive.h"
#include "IR/QuernDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace quern;
using namespace quern::functions;

namespace {

/// Maximum number of steps of a problem, because the time of a support check grows with it.
constexpr size_t maxSteps = 24;
/// Number of steps that are tried at once, longest group first: a recipe may support a group of steps but not its
/// prefix.
constexpr size_t window = 8;

/// Operations that stay together: an operation and the fills that it accumulates on.
struct Step {
  SmallVector<Operation *, 2> operations;
  SmallVector<Value, 6> memrefs; ///< memrefs that the operations use, by first use
  SmallVector<Value, 2> written; ///< memory that they write
};

/// The first and the last step that use memory of the function, or a view of it.
struct Users {
  size_t first = 0, last = 0;
};

/// A problem as a function, and the buffers of @function that its arguments are.
struct Group {
  func::FuncOp function; ///< function of an equal earlier group, if there is one
  SmallVector<Value> buffers;
  llvm::SmallDenseSet<Value> written;
};

/// End of a problem.
struct ProblemEnd {
  size_t end = 0;      ///< index of the step after the problem's last one
  std::string whyEnds; ///< reason why the next step is not included; empty: there is no next step
  bool isNaive = false;
};

/// Returns true if two problems compute the same from the same arguments. Names are ignored.
bool areEqual(func::FuncOp a, func::FuncOp b) {
  return a.getFunctionType() == b.getFunctionType() && a->getAttr(attr::sizeIndices) == b->getAttr(attr::sizeIndices) &&
         a->getAttr(attr::naive) == b->getAttr(attr::naive) &&
         OperationEquivalence::isRegionEquivalentTo(&a.getBody(), &b.getBody(), OperationEquivalence::IgnoreLocations);
}

class Partitioner {
public:
  Partitioner(ModuleOp module, func::FuncOp function, OpenSizes &sizes, SupportCheck supports, bool allowNaive)
      : module(module), function(function), sizes(sizes), supports(supports),
        allowNaive(allowNaive && sizes.isEmpty()) {}
  ~Partitioner() {
    for (func::FuncOp problem : supported)
      problem.erase();
    for (auto &[problem, whyNot] : refused)
      problem.erase();
  }
  Result<void> run();
  Result<void> check();
  std::string text() const;

private:
  Result<void> readSteps();
  void findUsers();
  bool isOnlyUsedIn(Value memory, size_t first, size_t end) const;
  Group makeGroup(size_t first, size_t end);
  std::string giveSizes(Group &group);
  bool isSupported(size_t first, size_t end, std::string &whyNot);
  Result<void> findEnd(size_t first);
  Result<void> findGroups();
  void addGroup(size_t first, const ProblemEnd &problem);
  std::string nameOf(Value buffer);
  bool isIndependent(const Group &group, ArrayRef<const Group *> running) const;
  void writeSizes(SmallVectorImpl<Attribute> &program);
  void writeProgram();

  ModuleOp module;
  func::FuncOp function;
  OpenSizes &sizes;
  SupportCheck supports;
  bool allowNaive;
  SmallVector<Step, 0> steps;
  llvm::DenseMap<Value, Users> users; ///< by memory that the function allocates
  std::vector<Group> groups;
  std::vector<ProblemEnd> ends;        ///< ends of the groups
  SmallVector<func::FuncOp> functions; ///< functions of the groups, each once
  // Candidates, in no module; equal ones are matched once.
  SmallVector<func::FuncOp> supported;
  SmallVector<std::pair<func::FuncOp, std::string>> refused; ///< with the reason
  llvm::MapVector<Value, std::string> regions;               ///< memory between groups
};

/// Returns the next operation after a fill that uses its memory, if it accumulates on all of it.
linalg::LinalgOp accumulatorOf(linalg::FillOp fill, ArrayRef<linalg::LinalgOp> later) {
  Value filled = fill.getOutputs()[0];
  for (linalg::LinalgOp op : later)
    for (OpOperand &operand : op->getOpOperands())
      if (isa<MemRefType>(operand.get().getType()) && rootOf(operand.get()) == rootOf(filled))
        return op.isDpsInit(&operand) && operand.get() == filled && op.payloadUsesValueFromOperand(&operand)
                   ? op
                   : linalg::LinalgOp();
  return {};
}

/// Returns the memrefs of an operation: its operands, and those from which numbers that it or its body uses are read.
SmallVector<Value> memrefsOf(Operation *op) {
  SmallVector<Value> found;
  SmallVector<Value> pending(op->getOperands());
  op->walk([&](Operation *inner) { llvm::append_range(pending, inner->getOperands()); });
  llvm::SmallDenseSet<Value> seen;
  for (size_t i = 0; i < pending.size(); ++i) {
    if (!seen.insert(pending[i]).second)
      continue;
    if (isa<MemRefType>(pending[i].getType()))
      found.push_back(pending[i]);
    else if (Operation *from = pending[i].getDefiningOp(); from && !op->isAncestor(from))
      llvm::append_range(pending, from->getOperands());
  }
  return found;
}

/// Reads the steps: each operation, with the fills that it accumulates on. Fails if there are none.
Result<void> Partitioner::readSteps() {
  llvm::DenseMap<Operation *, SmallVector<Operation *, 2>> fills;
  auto operations = llvm::to_vector(function.getOps<linalg::LinalgOp>());
  for (auto [i, op] : llvm::enumerate(operations)) {
    auto fill = dyn_cast<linalg::FillOp>(op.getOperation());
    if (auto user = fill ? accumulatorOf(fill, ArrayRef(operations).drop_front(i + 1)) : linalg::LinalgOp()) {
      fills[user].push_back(fill);
      continue;
    }
    Step &step = steps.emplace_back();
    step.operations = fills.lookup(op);
    step.operations.push_back(op);
    llvm::SetVector<Value> memrefs;
    for (Operation *own : step.operations) {
      memrefs.insert_range(memrefsOf(own));
      for (Value init : cast<linalg::LinalgOp>(own).getDpsInits())
        step.written.push_back(rootOf(init));
    }
    step.memrefs.assign(memrefs.begin(), memrefs.end());
  }
  if (steps.empty())
    return unsupported(function, "computes nothing");
  findUsers();
  return {};
}

/// Records the first and the last step that use each buffer that the function allocates.
void Partitioner::findUsers() {
  llvm::DenseMap<Operation *, size_t> stepOf;
  for (auto [i, step] : llvm::enumerate(steps))
    for (Operation *op : step.operations)
      stepOf[op] = i;
  for (Operation &op : function.getBody().front()) {
    if (op.getNumResults() != 1 || !isa<MemRefType>(op.getResult(0).getType()) ||
        rootOf(op.getResult(0)) != op.getResult(0))
      continue;
    Users used{steps.size(), 0};
    SmallVector<Value> aliases{op.getResult(0)};
    for (size_t i = 0; i < aliases.size(); ++i)
      for (Operation *user : aliases[i].getUsers())
        if (auto at = stepOf.find(user); at != stepOf.end())
          used = {std::min(used.first, at->second), std::max(used.last, at->second)};
        else
          llvm::append_range(aliases, user->getResults());
    users[op.getResult(0)] = used;
  }
}

/// Returns true if the function allocates the memory, and only steps [first, end) use it.
bool Partitioner::isOnlyUsedIn(Value memory, size_t first, size_t end) const {
  auto found = users.find(memory);
  return found != users.end() && found->second.first >= first && found->second.last < end;
}

std::string Partitioner::nameOf(Value buffer) {
  if (auto argument = dyn_cast<BlockArgument>(buffer))
    return function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), attr::arg).str();
  std::string &name = regions[buffer];
  if (name.empty())
    name = concat("value", regions.size() - 1);
  return name;
}

/// Copies an operation with its operands: scalar code and views, but not memory.
void copyWithOperands(OpBuilder &builder, Operation *op, IRMapping &mapping) {
  for (Value operand : op->getOperands())
    if (Operation *from = operand.getDefiningOp(); from && !mapping.contains(operand))
      copyWithOperands(builder, from, mapping);
  op->walk([&](Operation *inner) { // values that bodies capture
    for (Value operand : inner->getOperands())
      if (Operation *from = operand.getDefiningOp();
          inner != op && from && !op->isProperAncestor(from) && !mapping.contains(operand))
        copyWithOperands(builder, from, mapping);
  });
  builder.clone(*op, mapping);
}

/// Returns the size at `entry` of the execution's list, as a dim of an argument of a problem.
Value sizeOf(OpBuilder &builder, Location loc, int64_t entry, OpenSizes &sizes, ArrayRef<Value> buffers,
             const IRMapping &mapping) {
  for (Value buffer : buffers)
    for (int64_t d = 0; d < cast<MemRefType>(buffer.getType()).getRank(); ++d)
      if (cast<MemRefType>(buffer.getType()).isDynamicDim(d) && sizes.entryOf(buffer, d) == entry)
        return memref::DimOp::create(builder, loc, mapping.lookup(buffer), d);
  return arith::ConstantIndexOp::create(builder, loc,
                                        1); // if no argument has this size, no recipe supports the problem
}

/// Allocates memory that only one problem uses.
void makeOwn(OpBuilder &builder, Value buffer, OpenSizes &sizes, ArrayRef<Value> buffers, IRMapping &mapping) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<Value> open;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.isDynamicDim(d))
      open.push_back(sizeOf(builder, buffer.getLoc(), sizes.entryOf(buffer, d), sizes, buffers, mapping));
  mapping.map(buffer, memref::AllocOp::create(builder, buffer.getLoc(), type, open).getResult());
}

/// Returns true if a problem uses several views of memory that it writes: recipes support arguments that are the same
/// buffer, but no other overlap.
bool usesOverlapping(ArrayRef<Step> steps) {
  llvm::SmallDenseMap<Value, Value> views; ///< one view for each buffer
  llvm::SmallDenseSet<Value> several, written;
  for (const Step &step : steps) {
    for (Value memref : step.memrefs)
      if (auto [at, isNew] = views.try_emplace(rootOf(memref), memref); !isNew && at->second != memref)
        several.insert(at->first);
    written.insert_range(step.written);
  }
  return llvm::any_of(several, [&](Value buffer) { return written.contains(buffer); });
}

/// Builds a problem from steps [first, end). Memory that only they use is allocated in the problem; a view of other
/// memory, whose layout is in its type, is an argument.
Group Partitioner::makeGroup(size_t first, size_t end) {
  llvm::SetVector<Value> used;
  Group group;
  for (const Step &step : ArrayRef(steps).slice(first, end - first)) {
    used.insert_range(step.memrefs);
    group.written.insert_range(step.written);
  }
  llvm::SetVector<Value> own;
  SmallVector<Value> shared;
  auto isPlaced = [&](Value root) { // the call passes the starts of its views
    return llvm::any_of(used, [&](Value memref) { return rootOf(memref) == root && sizes.startOf(memref); });
  };
  for (Value memref : used)
    if (rootOf(memref).getDefiningOp<memref::GetGlobalOp>())
      continue; // copied with its users
    else if (isOnlyUsedIn(rootOf(memref), first, end) && !isPlaced(rootOf(memref)))
      own.insert(rootOf(memref));
    else
      shared.push_back(memref);
  if (first == 0 && end == steps.size()) { // executions bind arguments by position, in their order
    SmallVector<Value> ordered;
    llvm::copy_if(function.getArguments(), std::back_inserter(ordered),
                  [&](Value argument) { return llvm::is_contained(shared, argument); });
    llvm::copy_if(shared, std::back_inserter(ordered), [](Value buffer) { return !isa<BlockArgument>(buffer); });
    shared = std::move(ordered);
  }
  group.buffers = std::move(shared); // otherwise in the order of use, so that equal problems are equal
  OpBuilder builder(function.getContext());
  SmallVector<Type> types =
      llvm::map_to_vector(group.buffers, [this](Value buffer) { return Type(sizes.typeOf(buffer)); });
  group.function =
      func::FuncOp::create(steps[first].operations.back()->getLoc(),
                           concat(function.getName().str(), "_", functions.size()), builder.getFunctionType(types, {}));
  Block *body = group.function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  IRMapping mapping;
  for (auto [i, buffer] : llvm::enumerate(group.buffers)) {
    mapping.map(buffer, body->getArgument(static_cast<unsigned>(i)));
    group.function.setArgAttr(static_cast<unsigned>(i), attr::arg, builder.getStringAttr(nameOf(rootOf(buffer))));
  }
  for (Value buffer : own)
    makeOwn(builder, buffer, sizes, group.buffers, mapping);
  for (const Step &step : ArrayRef(steps).slice(first, end - first))
    for (Operation *op : step.operations)
      copyWithOperands(builder, op, mapping);
  func::ReturnOp::create(builder, function.getLoc());
  return group;
}

/// Sets which of the execution's sizes the problem uses. Returns the reason if this is impossible, otherwise an empty
/// string.
std::string Partitioner::giveSizes(Group &group) {
  SmallVector<int64_t> all;
  for (Value buffer : group.buffers) {
    std::optional<SmallVector<int64_t>> own = sizes.indicesOf(buffer);
    if (!own)
      return "memory between two kernels has a size, stride or offset that a launch cannot compute";
    llvm::append_range(all, *own);
  }
  if (!all.empty())
    group.function->setAttr(attr::sizeIndices, DenseI64ArrayAttr::get(group.function->getContext(), all));
  return "";
}

/// Returns true if steps [first, end) are supported as one problem.
bool Partitioner::isSupported(size_t first, size_t end, std::string &whyNot) {
  if (end > first + 1 && usesOverlapping(ArrayRef(steps).slice(first, end - first))) {
    whyNot = "several views of a buffer that is written are used";
    return false;
  }
  auto named = regions;
  Group group = makeGroup(first, end);
  regions = std::move(named);
  whyNot = giveSizes(group);
  auto isThis = [&](func::FuncOp other) { return areEqual(group.function, other); };
  auto *known = llvm::find_if(refused, [&](auto &other) { return isThis(other.first); });
  if (known != refused.end())
    whyNot = known->second;
  if (!whyNot.empty() || llvm::any_of(supported, isThis)) {
    group.function.erase();
    return whyNot.empty();
  }
  const bool isOne = supports(group.function, whyNot);
  if (isOne)
    supported.push_back(group.function);
  else
    refused.emplace_back(group.function, whyNot);
  return isOne;
}

/// Finds the end of the problem that starts at step `first`.
Result<void> Partitioner::findEnd(size_t first) {
  const size_t most = std::min(steps.size(), first + maxSteps);
  ProblemEnd problem{first, "", false};
  std::string whyNot, whyNotLonger, why;
  for (bool grows = true; grows && problem.end < most;) {
    const size_t begin = problem.end, last = std::min(most, begin + window);
    for (size_t end = last; end > begin && problem.end == begin; --end)
      if (isSupported(first, end, why))
        problem.end = end;
      else
        whyNotLonger = std::exchange(whyNot, std::move(why));
    grows = problem.end == last;
  }
  if (problem.end == first && !allowNaive)
    return unsupported(steps[first].operations.back(), "is not supported, alone or with the next operations: ", whyNot);
  problem.isNaive = problem.end == first;
  problem.end += problem.isNaive;
  if (problem.end < steps.size())
    problem.whyEnds = problem.end == first + maxSteps ? concat("a kernel has at most ", maxSteps, " operations")
                      : problem.isNaive               ? whyNotLonger
                                                      : whyNot;
  ends.push_back(std::move(problem));
  return {};
}

void Partitioner::addGroup(size_t first, const ProblemEnd &problem) {
  Group group = makeGroup(first, problem.end);
  (void)giveSizes(group);
  if (problem.isNaive)
    group.function->setAttr(attr::naive, BoolAttr::get(module.getContext(), false));
  auto same = llvm::find_if(functions, [&](func::FuncOp other) { return areEqual(group.function, other); });
  if (same == functions.end()) {
    functions.push_back(group.function);
  } else {
    group.function.erase();
    group.function = *same;
  }
  groups.push_back(std::move(group));
}

std::string Partitioner::text() const {
  std::string text;
  for (auto [group, end] : llvm::zip_equal(groups, ends)) {
    func::FuncOp problem = group.function;
    auto operations = problem.getOps<linalg::LinalgOp>();
    text +=
        concat("@", problem.getName().str(), ": ", std::distance(operations.begin(), operations.end()), " operations",
               end.whyEnds.empty() ? "" : "; the next operation is not included: ", end.whyEnds, "\n");
  }
  return text;
}

/// Returns true if a problem writes a view of half bytes: the bytes at its ends may have elements of other memory.
bool writesPartOfByte(const Group &group) {
  return llvm::any_of(group.buffers, [&](Value buffer) {
    return cast<MemRefType>(buffer.getType()).getElementTypeBitWidth() == 4 && buffer != rootOf(buffer) &&
           group.written.contains(rootOf(buffer));
  });
}

bool Partitioner::isIndependent(const Group &group, ArrayRef<const Group *> running) const {
  auto touches = [](const Group &writer, const Group &other) {
    return llvm::any_of(other.buffers, [&](Value buffer) { return writer.written.contains(rootOf(buffer)); });
  };
  return !running.empty() && llvm::none_of(running, [&](const Group *before) {
    return touches(*before, group) || touches(group, *before);
  });
}

/// Writes the sizes that problems need, renumbered, and the conditions of an execution.
void Partitioner::writeSizes(SmallVectorImpl<Attribute> &program) {
  MLIRContext *context = module.getContext();
  for (BlockArgument argument : sizes.numberArguments())
    program.push_back(NumberAttr::get(context, nameOf(argument)));
  llvm::DenseMap<int64_t, int64_t> places;
  for (Group &group : groups) {
    auto given = group.function->getAttrOfType<DenseI64ArrayAttr>(attr::sizeIndices);
    SmallVector<int64_t> indices(given ? given.asArrayRef() : ArrayRef<int64_t>());
    for (int64_t &index : indices) {
      if (index < sizes.firstComputed())
        continue;
      auto [place, isNew] = places.try_emplace(index, sizes.firstComputed() + static_cast<int64_t>(places.size()));
      if (isNew)
        program.push_back(SizeAttr::get(context, sizes.computed(index)));
      index = place->second;
    }
    if (given)
      group.function->setAttr(attr::sizeIndices, DenseI64ArrayAttr::get(context, indices));
  }
  for (const OpenSizes::Check &check : sizes.checks()) {
    auto argument = dyn_cast<BlockArgument>(rootOf(check.memory));
    const std::string what = concat(check.what, " of ", argument ? nameOf(argument) : "a value");
    program.push_back(CheckAttr::get(context, what, check.value, check.low, check.high));
  }
}

void Partitioner::writeProgram() {
  MLIRContext *context = module.getContext();
  SmallVector<Attribute> program;
  auto start = getAffineConstantExpr(0, context);
  auto bytesIn = [](Value memref) {
    return std::max(1u, cast<MemRefType>(memref.getType()).getElementTypeBitWidth() / 8);
  };
  writeSizes(program);
  for (auto &[buffer, name] : regions)
    program.push_back(RegionAttr::get(context, name, sizes.elementsOf(buffer) * bytesIn(buffer)));
  SmallVector<const Group *> running;
  for (Group &group : groups) {
    SmallVector<BufferAttr> buffers;
    for (Value buffer : group.buffers) {
      AffineExpr begin = sizes.startOf(buffer);
      buffers.push_back(BufferAttr::get(context, nameOf(rootOf(buffer)), begin ? begin * bytesIn(buffer) : start));
    }
    const bool isBeside = isIndependent(group, running);
    if (!isBeside)
      running.clear();
    running.push_back(&group);
    program.push_back(
        CallAttr::get(context, FlatSymbolRefAttr::get(context, group.function.getName()), buffers, isBeside));
  }
  module->setAttr(ProgramAttr::name, ProgramAttr::get(context, program));
}

Result<void> Partitioner::findGroups() {
  for (size_t next = 0; next < steps.size(); next = ends.back().end) {
    if (Result<void> found = findEnd(next); !found) {
      for (func::FuncOp problem : functions)
        problem.erase();
      return found;
    }
    addGroup(next, ends.back());
  }
  return {};
}

Result<void> Partitioner::run() {
  QUERN_RETURN_IF_ERROR(readSteps());
  QUERN_RETURN_IF_ERROR(findGroups());
  if (groups.size() == 1)
    groups.front().function.setName(function.getName());
  if (groups.size() > 1 || sizes.decidesLaunch() || llvm::any_of(groups, writesPartOfByte))
    writeProgram();
  function.erase();
  for (func::FuncOp problem : functions)
    module.push_back(problem);
  return {};
}

/// A partition exists if each step is supported alone; only otherwise are groups of several steps needed to decide.
Result<void> Partitioner::check() {
  QUERN_RETURN_IF_ERROR(readSteps());
  std::string whyNot;
  for (size_t i = 0; !allowNaive && i < steps.size(); ++i)
    if (!isSupported(i, i + 1, whyNot)) {
      QUERN_RETURN_IF_ERROR(findGroups());
      for (func::FuncOp problem : functions)
        problem.erase();
      break;
    }
  return {};
}

} // namespace

Result<void> functions::partition(ModuleOp module, SupportCheck supports, bool allowNaive, std::string &text) {
  auto function = *module.getOps<func::FuncOp>().begin();
  QUERN_ASSIGN_OR_RETURN(OpenSizes sizes, OpenSizes::of(function));
  Partitioner partitioner(module, function, sizes, supports, allowNaive);
  QUERN_RETURN_IF_ERROR(partitioner.run());
  text = partitioner.text();
  return {};
}

Result<void> functions::checkPartition(ModuleOp module, SupportCheck supports, bool allowNaive) {
  auto function = *module.getOps<func::FuncOp>().begin();
  QUERN_ASSIGN_OR_RETURN(OpenSizes sizes, OpenSizes::of(function));
  return Partitioner(module, function, sizes, supports, allowNaive).check();
}
