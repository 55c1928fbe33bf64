//===- WriteOnce.cpp - Separate memory for each value ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A buffer may hold several values one after the other. A value starts when an operation writes the whole buffer
// without reading its old contents (a fill, or elements computed from others), continues while operations accumulate on
// it, and ends when the next one starts. Each value gets its own memory, except the last value of an argument, which
// the caller expects there. Writing a part of a buffer continues the current value, or starts one if there is none.
//
//===----------------------------------------------------------------------===//
#include "Functions/Canonicalize/Canonicalize.h"

#include "Functions/Check.h"
#include "Functions/Locations.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

#include <deque>

using namespace mlir;
using namespace quern;
using namespace quern::functions;

namespace {

struct HeldValue {
  Value buffer;
  Value memory;
  bool isCallers = false; ///< true for the initial value of an argument
  bool isAccumulated = false;
  SmallVector<OpOperand *> readers, writers;
};

class WriteOnce {
public:
  explicit WriteOnce(func::FuncOp function) : function(function) {}
  Result<std::string> run(unsigned results);

private:
  Result<void> follow(linalg::LinalgOp op);
  Result<void> followInit(linalg::LinalgOp op, OpOperand &init);
  Result<void> checkUpdated(const SmallVectorImpl<HeldValue *> &ofBuffer) const;
  Result<void> place(Value buffer);
  Result<void> moveTo(OpOperand &operand, Value memory);
  void eraseUnread();
  void eraseUnused();
  HeldValue &begin(Value buffer) {
    HeldValue &value = values.emplace_back();
    value.buffer = value.memory = buffer;
    held[buffer].push_back(&value);
    return value;
  }
  HeldValue *current(Value buffer) {
    auto found = held.find(buffer);
    return found == held.end() ? nullptr : found->second.back();
  }

  func::FuncOp function;
  std::deque<HeldValue> values;
  llvm::MapVector<Value, SmallVector<HeldValue *, 2>> held; ///< by buffer, in the order of the function
};

/// Makes an operation that reads and overwrites an output read the old value as an input, because the output gets its
/// own memory. Returns the new operation.
linalg::GenericOp readInitAsInput(linalg::GenericOp op, OpOperand &init) {
  OpBuilder builder(op);
  const unsigned number = init.getOperandNumber();
  SmallVector<Value> inputs = llvm::to_vector(op.getInputs());
  inputs.push_back(init.get());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.insert(maps.begin() + static_cast<ptrdiff_t>(op.getNumDpsInputs()), maps[number]);
  auto widened =
      linalg::GenericOp::create(builder, op.getLoc(), inputs, op.getOutputs(), maps, op.getIteratorTypesArray());
  widened.getRegion().takeBody(op.getRegion());
  Block &body = widened.getRegion().front();
  BlockArgument added = body.insertArgument(op.getNumDpsInputs(), body.getArgument(number).getType(), op.getLoc());
  body.getArgument(number + 1).replaceAllUsesWith(added);
  op.erase();
  return widened;
}

/// Returns true if a memref is a view of memory through a subview, and therefore may be only a part of it.
bool isPart(Value memref) {
  for (Operation *view = memref.getDefiningOp(); view && !isa<memref::AllocOp>(view);
       view = view->getOperand(0).getDefiningOp())
    if (isa<memref::SubViewOp>(view))
      return true;
  return false;
}

Result<void> WriteOnce::followInit(linalg::LinalgOp op, OpOperand &init) {
  Value buffer = rootOf(init.get());
  HeldValue *value = current(buffer);
  const bool writesPart = isPart(init.get());
  for (OpOperand *input : op.getDpsInputOperands())
    if (writesPart && isa<MemRefType>(input->get().getType()) && rootOf(input->get()) == buffer &&
        input->get() != init.get())
      return unsupported(op, "reads one part of a buffer and writes another");
  if (!op.payloadUsesValueFromOperand(&init)) {
    HeldValue &written = writesPart && value ? *value : begin(buffer);
    written.isAccumulated |= writesPart && written.isCallers;
    written.writers.push_back(&init);
    return {};
  }
  if (!value)
    return unsupported(op, "reads memory that nothing has written");
  value->isAccumulated = true;
  value->writers.push_back(&init);
  return {};
}

Result<void> WriteOnce::follow(linalg::LinalgOp op) {
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (!isa<MemRefType>(input->get().getType()) || input->get().getDefiningOp<memref::GetGlobalOp>())
      continue;
    HeldValue *value = current(rootOf(input->get()));
    if (!value)
      return unsupported(op, "reads memory that nothing has written");
    value->readers.push_back(input);
  }
  for (OpOperand &init : op.getDpsInitsMutable())
    QUERN_RETURN_IF_ERROR(followInit(op, init));
  return {};
}

/// Checks that an argument that is read and then overwritten is read element for element, because a kernel computes in
/// its own order.
Result<void> WriteOnce::checkUpdated(const SmallVectorImpl<HeldValue *> &ofBuffer) const {
  const HeldValue &callers = *ofBuffer.front();
  if (!callers.isCallers || ofBuffer.size() == 1 || callers.readers.empty())
    return {};
  Operation *writer = ofBuffer[1]->writers.front()->getOwner();
  auto op = cast<linalg::LinalgOp>(writer);
  for (OpOperand *reader : callers.readers)
    if (ofBuffer.size() > 2 || ofBuffer[1]->writers.size() > 1 || reader->getOwner() != writer ||
        reader->get() != ofBuffer[1]->writers.front()->get() ||
        op.getMatchingIndexingMap(reader) != op.getMatchingIndexingMap(ofBuffer[1]->writers.front()))
      return unsupported(writer, "writes an argument that ", nameAndLocationOf(reader->getOwner()),
                         " reads before it, but not element for element");
  return {};
}

/// Replaces an operand by the same view of other memory, which is created before its operation.
Result<void> WriteOnce::moveTo(OpOperand &operand, Value memory) {
  Value buffer = rootOf(operand.get());
  if (operand.get() == buffer) {
    operand.set(memory);
    return {};
  }
  if (buffer.getType() != memory.getType())
    return unsupported(operand.getOwner(), "takes a view of a strided buffer that is written twice");
  SmallVector<Operation *> views;
  for (Value at = operand.get(); at != buffer; at = views.back()->getOperand(0))
    views.push_back(at.getDefiningOp());
  IRMapping mapping;
  mapping.map(buffer, memory);
  OpBuilder builder(operand.getOwner());
  for (Operation *view : llvm::reverse(views))
    builder.clone(*view, mapping);
  operand.set(mapping.lookup(operand.get()));
  return {};
}

/// Returns the dynamic sizes for an allocation with the sizes of a buffer.
SmallVector<Value> openDimsOf(OpBuilder &builder, Value buffer) {
  if (auto alloc = buffer.getDefiningOp<memref::AllocOp>())
    return llvm::to_vector(alloc.getDynamicSizes());
  SmallVector<Value> sizes;
  auto type = cast<MemRefType>(buffer.getType());
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.isDynamicDim(d))
      sizes.push_back(memref::DimOp::create(builder, buffer.getLoc(), buffer, d));
  return sizes;
}

Result<void> WriteOnce::place(Value buffer) {
  SmallVector<HeldValue *, 2> &ofBuffer = held[buffer];
  QUERN_RETURN_IF_ERROR(checkUpdated(ofBuffer));
  OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
  if (Operation *made = buffer.getDefiningOp())
    builder.setInsertionPoint(made);
  auto type = cast<MemRefType>(buffer.getType());
  for (HeldValue *value : ArrayRef(ofBuffer).drop_back()) {
    if (value->isCallers)
      continue;
    value->memory =
        memref::AllocOp::create(builder, value->writers.front()->getOwner()->getLoc(),
                                MemRefType::get(type.getShape(), type.getElementType()), openDimsOf(builder, buffer));
    for (auto *operands : {&value->readers, &value->writers})
      for (OpOperand *operand : *operands)
        QUERN_RETURN_IF_ERROR(moveTo(*operand, value->memory));
  }
  return {};
}

/// Erases operations whose values are not read, except final values of arguments.
void WriteOnce::eraseUnread() {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front()))) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp)
      continue;
    auto isDead = [&](Value init) {
      Value buffer = rootOf(init);
      if (!buffer.getDefiningOp<memref::AllocOp>())
        return false;
      SmallVector<Value> aliases{buffer};
      for (size_t i = 0; i < aliases.size(); ++i)
        for (OpOperand &use : aliases[i].getUses()) {
          auto user = dyn_cast<linalg::LinalgOp>(use.getOwner());
          if (!user)
            llvm::append_range(aliases, use.getOwner()->getResults());
          else if (user != linalgOp && (user.isDpsInput(&use) || user.payloadUsesValueFromOperand(&use)))
            return false;
        }
      return true;
    };
    if (llvm::all_of(linalgOp.getDpsInits(), isDead))
      op.erase();
  }
}

/// Erases deallocations, and memory, views and scalar code without uses. Removes the alignments of allocations.
void WriteOnce::eraseUnused() {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front()))) {
    if (isa<memref::DeallocOp>(op))
      op.erase();
    else if (!isa<linalg::LinalgOp, func::ReturnOp>(op) && op.use_empty())
      op.erase();
    else if (auto alloc = dyn_cast<memref::AllocOp>(op))
      alloc.removeAlignmentAttr();
  }
}

Result<std::string> WriteOnce::run(unsigned results) {
  for (auto dealloc : llvm::to_vector(function.getOps<memref::DeallocOp>()))
    dealloc.erase();
  for (auto op : llvm::to_vector(function.getOps<linalg::GenericOp>()))
    for (int64_t i = 0; op.isAllParallelLoops() && i < op.getNumDpsInits(); ++i)
      if (OpOperand &init = *op.getDpsInitOperand(i); op.payloadUsesValueFromOperand(&init))
        op = readInitAsInput(op, init);
  const ArrayRef<BlockArgument> arguments = function.getArguments();
  for (BlockArgument argument : arguments.drop_back(results)) // results have no initial value
    begin(argument).isCallers = true;
  for (auto op : function.getOps<linalg::LinalgOp>())
    QUERN_RETURN_IF_ERROR(follow(op));
  for (auto &[buffer, ofBuffer] : held)
    QUERN_RETURN_IF_ERROR(place(buffer));
  std::string uses;
  for (BlockArgument argument : arguments) {
    if (argument.getArgNumber() >= arguments.size() - results) {
      const bool hasElements = !llvm::is_contained(cast<MemRefType>(argument.getType()).getShape(), 0);
      if (held[argument].empty() && hasElements)
        return unsupported(function, "has a result that it does not write");
      uses += 'R';
      continue;
    }
    const SmallVector<HeldValue *, 2> &ofBuffer = held[argument];
    const bool isAccumulated = ofBuffer.front()->isAccumulated, isWritten = isAccumulated || ofBuffer.size() > 1;
    const bool isRead = isAccumulated || !ofBuffer.front()->readers.empty();
    uses += !isWritten ? 'r' : isRead ? 'u' : 'w';
  }
  eraseUnread();
  eraseUnused();
  IRRewriter rewriter(function.getContext());
  DominanceInfo dominance;
  eliminateCommonSubExpressions(rewriter, dominance, function); // one view for each part
  return uses;
}

} // namespace

/// If memory is only used through views of all of it that have one shape, gives it that shape, because recipes do not
/// support views.
static void shapeMemory(func::FuncOp function) {
  SmallVector<memref::AllocOp> memory(function.getOps<memref::AllocOp>());
  for (size_t i = 0; i < memory.size(); ++i) {
    memref::AllocOp alloc = memory[i];
    auto typeOf = [](Operation *user) {
      return isa<memref::CollapseShapeOp, memref::ExpandShapeOp>(user) ? cast<MemRefType>(user->getResult(0).getType())
                                                                       : MemRefType();
    };
    MemRefType type = alloc->use_empty() ? MemRefType() : typeOf(*alloc->user_begin());
    if (!type || !type.hasStaticShape() || !type.getLayout().isIdentity() ||
        !llvm::all_of(alloc->getUsers(), [&](Operation *user) { return typeOf(user) == type; }))
      continue;
    OpBuilder builder(alloc);
    memory.push_back(memref::AllocOp::create(builder, alloc.getLoc(), type));
    for (Operation *view : llvm::to_vector(alloc->getUsers())) {
      view->replaceAllUsesWith(memory.back());
      view->erase();
    }
    alloc.erase();
  }
}

Result<std::string> functions::writeOnce(func::FuncOp function, unsigned results) {
  Result<std::string> uses = WriteOnce(function).run(results);
  if (uses)
    shapeMemory(function);
  return uses;
}
