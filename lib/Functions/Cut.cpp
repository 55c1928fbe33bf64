//===- Cut.cpp - A function as problems that recipes take --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Operations are taken in the order of the function, a fill together with what accumulates on it. From where the last
// problem ended the next one goes on as far as it is taken. What one problem leaves for another is a region of the
// launch program.
//
//===----------------------------------------------------------------------===//
#include "Functions/Functions.h"

#include "Functions/Check.h"
#include "Functions/Places.h"
#include "IR/Naive.h"
#include "IR/QuernDialect.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace quern;
using namespace quern::functions;

namespace {

/// No problem has more steps than this: asking whether a problem is taken costs time that grows with it.
constexpr size_t maxSteps = 24;

/// Operations that stay together: the fills of what the last of them accumulates on.
using Step = SmallVector<Operation *, 2>;

/// A problem as a function, and which of @function's buffers its arguments are.
struct Group {
  func::FuncOp function;
  SmallVector<Value> buffers;
  llvm::SmallDenseSet<Value> written;
};

class Cutter {
public:
  Cutter(ModuleOp module, func::FuncOp function, Taker takes, bool allowNaive)
      : module(module), function(function), takes(takes), allowNaive(allowNaive) {}
  Result<void> run();

private:
  void readSteps();
  Group makeGroup(size_t first, size_t end);
  Result<size_t> nextEnd(size_t first);
  std::string nameOf(Value buffer);
  bool isIndependent(const Group &group, ArrayRef<const Group *> running) const;
  void writeProgram();

  ModuleOp module;
  func::FuncOp function;
  Taker takes;
  bool allowNaive;
  SmallVector<Step> steps;
  std::vector<Group> groups;
  llvm::MapVector<Value, std::string> regions; ///< the memory between groups
};

/// Fills go to the operation that accumulates on them.
void Cutter::readSteps() {
  llvm::DenseMap<Value, Operation *> fills;
  auto operations = llvm::to_vector(function.getOps<linalg::LinalgOp>());
  for (linalg::LinalgOp op : operations) {
    Value buffer = rootOf(op.getDpsInits().front());
    auto goesOn = [&](linalg::LinalgOp later) {
      return later != op && llvm::any_of(later.getDpsInitsMutable(), [&](OpOperand &init) {
               return rootOf(init.get()) == buffer && later.payloadUsesValueFromOperand(&init);
             });
    };
    if (isa<linalg::FillOp>(op.getOperation()) && llvm::any_of(operations, goesOn)) {
      fills[buffer] = op;
      continue;
    }
    Step &step = steps.emplace_back();
    for (Value init : op.getDpsInits())
      if (Operation *fill = fills.lookup(rootOf(init))) {
        step.push_back(fill);
        fills.erase(rootOf(init));
      }
    step.push_back(op);
  }
}

std::string Cutter::nameOf(Value buffer) {
  if (auto argument = dyn_cast<BlockArgument>(buffer))
    return function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), attr::arg).str();
  std::string &name = regions[buffer];
  if (name.empty())
    name = concat("value", regions.size() - 1);
  return name;
}

/// Copies an operation with what it takes: scalar code and views, not memory.
void copyWithOperands(OpBuilder &builder, Operation *op, IRMapping &mapping) {
  for (Value operand : op->getOperands())
    if (Operation *from = operand.getDefiningOp(); from && !mapping.contains(operand))
      copyWithOperands(builder, from, mapping);
  op->walk([&](Operation *inner) { // what bodies capture
    for (Value operand : inner->getOperands())
      if (Operation *from = operand.getDefiningOp();
          inner != op && from && !op->isProperAncestor(from) && !mapping.contains(operand))
        copyWithOperands(builder, from, mapping);
  });
  builder.clone(*op, mapping);
}

/// Whether nothing but these operations uses memory that the function makes, or views of it.
bool isUsedBy(Value buffer, const llvm::SmallDenseSet<Operation *> &operations) {
  SmallVector<Value> aliases{buffer};
  for (size_t i = 0; i < aliases.size(); ++i)
    for (Operation *user : aliases[i].getUsers()) {
      if (isa<linalg::LinalgOp>(user) && !operations.contains(user))
        return false;
      if (!isa<linalg::LinalgOp>(user))
        llvm::append_range(aliases, user->getResults());
    }
  return !isa<BlockArgument>(buffer);
}

/// Of steps [first, end). Memory that only they use is the problem's own; of other memory a view, whose place is in its
/// type, is an argument like the whole.
Group Cutter::makeGroup(size_t first, size_t end) {
  llvm::SmallDenseSet<Operation *> members;
  llvm::SetVector<Value> used;
  Group group;
  for (size_t i = first; i < end; ++i)
    members.insert(steps[i].begin(), steps[i].end());
  for (size_t i = first; i < end; ++i)
    for (Operation *op : steps[i])
      for (OpOperand &operand : op->getOpOperands())
        if (isa<MemRefType>(operand.get().getType())) {
          used.insert(operand.get());
          if (cast<linalg::LinalgOp>(op).isDpsInit(&operand))
            group.written.insert(rootOf(operand.get()));
        }
  llvm::SetVector<Value> own;
  SmallVector<Value> shared;
  for (Value memref : used)
    if (isUsedBy(rootOf(memref), members))
      own.insert(rootOf(memref));
    else
      shared.push_back(memref);
  for (BlockArgument argument : function.getArguments()) // in their order, then views and regions
    if (llvm::is_contained(shared, argument))
      group.buffers.push_back(argument);
  llvm::copy_if(shared, std::back_inserter(group.buffers), [](Value buffer) { return !isa<BlockArgument>(buffer); });
  OpBuilder builder(function.getContext());
  SmallVector<Type> types = llvm::map_to_vector(group.buffers, [](Value buffer) { return buffer.getType(); });
  group.function =
      func::FuncOp::create(steps[first].back()->getLoc(), concat(function.getName().str(), "_", groups.size()),
                           builder.getFunctionType(types, {}));
  Block *body = group.function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  IRMapping mapping;
  for (auto [i, buffer] : llvm::enumerate(group.buffers)) {
    mapping.map(buffer, body->getArgument(static_cast<unsigned>(i)));
    group.function.setArgAttr(static_cast<unsigned>(i), attr::arg, builder.getStringAttr(nameOf(rootOf(buffer))));
  }
  for (Value buffer : own)
    builder.clone(*buffer.getDefiningOp(), mapping);
  for (size_t i = first; i < end; ++i)
    for (Operation *op : steps[i])
      copyWithOperands(builder, op, mapping);
  func::ReturnOp::create(builder, function.getLoc());
  return group;
}

/// Where the problem that begins at step `first` ends; it is the last of `groups` then.
Result<size_t> Cutter::nextEnd(size_t first) {
  std::string whyNot;
  for (size_t end = std::min(steps.size(), first + maxSteps); end > first; --end) {
    auto named = regions;
    Group group = makeGroup(first, end);
    whyNot.clear();
    if (takes(group.function, whyNot)) {
      groups.push_back(std::move(group));
      return size_t(end);
    }
    if (end == first + 1 && allowNaive) {
      group.function->setAttr(attr::naive, BoolAttr::get(module.getContext(), false));
      groups.push_back(std::move(group));
      return size_t(end);
    }
    group.function.erase();
    regions = std::move(named);
  }
  return notTaken(steps[first].back(), "is not taken, alone or with what follows it: ", whyNot);
}

bool Cutter::isIndependent(const Group &group, ArrayRef<const Group *> running) const {
  auto touches = [](const Group &writer, const Group &other) {
    return llvm::any_of(other.buffers, [&](Value buffer) { return writer.written.contains(rootOf(buffer)); });
  };
  return !running.empty() && llvm::none_of(running, [&](const Group *before) {
    return touches(*before, group) || touches(group, *before);
  });
}

void Cutter::writeProgram() {
  MLIRContext *context = module.getContext();
  SmallVector<Attribute> program;
  auto start = getAffineConstantExpr(0, context);
  for (auto &[buffer, name] : regions) {
    auto type = cast<MemRefType>(buffer.getType());
    const int64_t bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
    program.push_back(RegionAttr::get(context, name, getAffineConstantExpr(bytes, context)));
  }
  SmallVector<const Group *> running;
  for (Group &group : groups) {
    SmallVector<BufferAttr> buffers;
    for (Value buffer : group.buffers)
      buffers.push_back(BufferAttr::get(context, nameOf(rootOf(buffer)), start));
    const bool isBeside = isIndependent(group, running);
    if (!isBeside)
      running.clear();
    running.push_back(&group);
    program.push_back(
        CallAttr::get(context, FlatSymbolRefAttr::get(context, group.function.getName()), buffers, isBeside));
  }
  module->setAttr(ProgramAttr::name, ProgramAttr::get(context, program));
}

Result<void> Cutter::run() {
  readSteps();
  if (steps.empty())
    return notTaken(function, "computes nothing");
  for (size_t next = 0; next < steps.size();) {
    Result<size_t> end = nextEnd(next);
    if (!end) {
      for (Group &group : groups)
        group.function.erase();
      return end.takeError();
    }
    next = *end;
  }
  if (groups.size() > 1)
    writeProgram();
  else
    groups.front().function.setName(function.getName());
  function.erase();
  for (Group &group : groups)
    module.push_back(group.function);
  return {};
}

} // namespace

Result<void> functions::cut(ModuleOp module, Taker takes, bool allowNaive) {
  return Cutter(module, *module.getOps<func::FuncOp>().begin(), takes, allowNaive).run();
}
