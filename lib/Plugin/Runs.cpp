//===- Runs.cpp - Runs of operations that Quern supports ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Plugin/Runs.h"

#include "Plugin/Forms.h"
#include "quern-compiler/Functions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace quern;
using namespace quern::plugin;

namespace {

bool isView(Operation *op) { return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ExtractSliceOp>(op); }

bool isComputing(Operation *op) { return isa<linalg::LinalgOp, linalg::SoftmaxOp>(op) && !isa<linalg::FillOp>(op); }

/// Returns true for values whose definition is copied into the function, because that is cheap or free.
bool isCopied(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast_or_null<arith::ConstantOp>(op)) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    return !isa<ShapedType>(constant.getType()) || (elements && elements.isSplat());
  }
  return isa_and_nonnull<tensor::EmptyOp>(op);
}

/// Returns true for values that can be arguments of a function: tensors, and numbers of a type that kernels support.
bool isArgument(Value value) {
  Type type = value.getType();
  return isa<RankedTensorType>(type) || type.isIndex() || type.isInteger(32) || type.isInteger(8) ||
         isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type);
}

/// Returns true for an empty tensor; the function may use any tensor in its place.
bool isNew(Value value) { return isCopied(value) && value.getDefiningOp<tensor::EmptyOp>(); }

/// Returns the values that an operation, including its regions, reads from outside.
llvm::SetVector<Value> valuesReadBy(Operation *op) {
  llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  return values;
}

/// Returns true if all values that an operation reads can be arguments or are copied.
bool readsOnlyArguments(Operation *op) {
  return llvm::all_of(valuesReadBy(op), [](Value value) { return isArgument(value) || isCopied(value); });
}

/// Returns the tensor.dim operation that computes an index, if the dim is constant; otherwise null.
tensor::DimOp dimOf(Value index) {
  auto dim = index.getDefiningOp<tensor::DimOp>();
  return dim && dim.getConstantIndex() ? dim : tensor::DimOp();
}

bool readsFrom(Operation *op, const Run &run) {
  bool found = false;
  op->walk([&](Operation *inner) {
    found |= llvm::any_of(inner->getOperands(), [&](Value value) { return run.contains(value.getDefiningOp()); });
  });
  return found;
}

/// Returns true if a value is used outside the run, directly or through views of the run.
bool isUsedOutside(Value value, const Run &run) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    Operation *inBlock = value.getParentBlock()->findAncestorOpInBlock(*user);
    return !run.contains(inBlock) || (isView(inBlock) && isUsedOutside(inBlock->getResult(0), run));
  });
}

/// Returns the operand whose memory a result uses, or null.
OpOperand *targetOf(OpResult result) {
  auto op = dyn_cast<DestinationStyleOpInterface>(result.getOwner());
  return op ? op.getTiedOpOperand(result) : nullptr;
}

/// Returns the number of times that a run reads a value.
int readsOf(Value value, const Run &run) {
  return static_cast<int>(llvm::count_if(value.getUses(), [&](OpOperand &use) {
    return run.contains(value.getParentBlock()->findAncestorOpInBlock(*use.getOwner())) || run.contains(use.getOwner());
  }));
}

/// Follows the chain of operations that ends with `result`, each of which overwrites the result of the previous one.
/// Returns the operand from outside the run that the first of them overwrites. Returns null if a value in the chain has
/// other uses, so that it must not be overwritten, or if an operation has no destination.
OpOperand *startOf(OpResult result, const Run &run) {
  OpOperand *target = targetOf(result);
  while (target) {
    Value from = target->get();
    if (!run.contains(from.getDefiningOp()))
      return target;
    if (!from.hasOneUse())
      return nullptr;
    target = targetOf(cast<OpResult>(from));
  }
  return nullptr;
}

/// Returns the tensor outside the run that has a result's shape; null if the shape comes from a view.
Value shapeOf(Value result, const Run &run) {
  while (run.contains(result.getDefiningOp())) {
    OpOperand *target = targetOf(cast<OpResult>(result));
    if (!target)
      return {};
    result = target->get();
  }
  return result;
}

/// Creates a tensor for a result.
Value makeTarget(OpBuilder &builder, Value result, const Run &run) {
  auto type = cast<RankedTensorType>(result.getType());
  if (type.hasStaticShape())
    return tensor::EmptyOp::create(builder, result.getLoc(), type.getShape(), type.getElementType());
  Value like = shapeOf(result, run);
  auto empty = like.getDefiningOp<tensor::EmptyOp>();
  return tensor::EmptyOp::create(builder, result.getLoc(),
                                 empty ? empty.getMixedSizes() : tensor::getMixedSizes(builder, result.getLoc(), like),
                                 type.getElementType());
}

/// Creates the function of a run.
class Outliner {
public:
  Outliner(const Run &run, StringRef name) : run(run), name(name), builder(run.ops.front()->getContext()) {}
  FailureOr<OutlinedRun> write();

private:
  void readInterface();
  void chooseTargets();
  void copyOperations(IRMapping &mapping);
  bool isSizeInside(Value index) const;
  void copyOutside(Operation *op, IRMapping &mapping);
  Value put(Value value, Value target);

  const Run &run;
  StringRef name;
  OpBuilder builder;
  OutlinedRun outlined;
  SmallVector<OpOperand *> starts;                ///< by result: start of its chain; null: it is copied into its target
  llvm::DenseMap<OpOperand *, unsigned> targetAt; ///< position of the argument that replaces an operand
};

/// Returns true if a dynamic size is a dim of a tensor that the run computes or reads.
bool Outliner::isSizeInside(Value index) const {
  tensor::DimOp dim = dimOf(index);
  if (!dim)
    return false;
  return run.contains(dim.getSource().getDefiningOp()) || llvm::any_of(run.ops, [&](Operation *op) {
           return !isCopied(dim.getSource()) && llvm::is_contained(op->getOperands(), dim.getSource());
         });
}

void Outliner::readInterface() {
  llvm::SetVector<Value> inputs;
  auto isOutside = [&](Value value) { return !run.contains(value.getDefiningOp()) && !isCopied(value); };
  for (Operation *op : run.ops) {
    for (Value value : valuesReadBy(op)) {
      if (isOutside(value))
        inputs.insert(value);
      if (auto empty = value.getDefiningOp<tensor::EmptyOp>())
        for (Value size : empty.getDynamicSizes())
          if (isOutside(size) && !isSizeInside(size))
            inputs.insert(size);
    }
    if (!isView(op))
      for (Value result : op->getResults())
        if (isUsedOutside(result, run))
          outlined.results.push_back(result);
  }
  outlined.inputs = inputs.takeVector();
}

/// A tensor that the run only overwrites or updates becomes the target, so that bufferization can work in place.
void Outliner::chooseTargets() {
  for (Value result : outlined.results) {
    OpOperand *start = startOf(cast<OpResult>(result), run);
    Value target;
    if (start && !isNew(start->get())) {
      if (llvm::is_contained(outlined.inputs, start->get()) && readsOf(start->get(), run) == 1) {
        target = start->get();
        llvm::erase(outlined.inputs, target);
      } else {
        start = nullptr;
      }
    }
    starts.push_back(start);
    outlined.targets.push_back(target);
  }
}

void Outliner::copyOutside(Operation *op, IRMapping &mapping) {
  for (Value value : valuesReadBy(op))
    if (!mapping.contains(value))
      if (Operation *from = value.getDefiningOp(); from && !run.contains(from) && isCopied(value)) {
        for (Value size : from->getOperands()) {
          if (mapping.contains(size))
            continue;
          if (tensor::DimOp dim = dimOf(size)) // the tensor is in the function and comes earlier
            mapping.map(size, tensor::DimOp::create(builder, dim.getLoc(), mapping.lookup(dim.getSource()),
                                                    *dim.getConstantIndex())
                                  .getResult());
          else
            builder.clone(*size.getDefiningOp(), mapping);
        }
        builder.clone(*from, mapping);
      }
}

void Outliner::copyOperations(IRMapping &mapping) {
  Block *body = builder.getInsertionBlock();
  for (Operation *op : run.ops) {
    copyOutside(op, mapping);
    Operation *copy = builder.clone(*op, mapping);
    for (OpOperand &operand : op->getOpOperands())
      if (auto found = targetAt.find(&operand); found != targetAt.end())
        copy->setOperand(operand.getOperandNumber(), body->getArgument(found->second));
  }
}

Value Outliner::put(Value value, Value target) {
  return linalg::CopyOp::create(builder, value.getLoc(), value, target).getResult(0);
}

FailureOr<OutlinedRun> Outliner::write() {
  readInterface();
  chooseTargets();
  if (outlined.results.empty())
    return failure();
  for (auto [result, target] : llvm::zip(outlined.results, outlined.targets))
    if (!target && !cast<RankedTensorType>(result.getType()).hasStaticShape() && !shapeOf(result, run))
      return failure();
  SmallVector<Type> arguments(ValueRange(outlined.inputs).getTypes());
  SmallVector<Type> results(ValueRange(outlined.results).getTypes());
  const auto firstTarget = static_cast<unsigned>(arguments.size());
  llvm::append_range(arguments, results);
  Location loc = run.ops.back()->getLoc();
  outlined.function = func::FuncOp::create(loc, name, builder.getFunctionType(arguments, results));
  outlined.function.setPrivate();
  Block *body = outlined.function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  IRMapping mapping;
  for (auto [value, argument] : llvm::zip(outlined.inputs, body->getArguments()))
    mapping.map(value, argument);
  for (auto [i, start] : llvm::enumerate(starts))
    if (start) {
      targetAt[start] = firstTarget + static_cast<unsigned>(i);
      mapping.map(start->get(), body->getArgument(firstTarget + static_cast<unsigned>(i)));
    }
  for (OpOperand *start : starts) // an empty tensor with several users is copied for the others
    if (start && isNew(start->get()))
      mapping.erase(start->get());
  copyOperations(mapping);
  SmallVector<Value> values;
  for (auto [i, result] : llvm::enumerate(outlined.results)) {
    Value value = mapping.lookup(result);
    values.push_back(starts[i] ? value : put(value, body->getArgument(firstTarget + static_cast<unsigned>(i))));
  }
  func::ReturnOp::create(builder, loc, values);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*body)))
    if (isOpTriviallyDead(&op))
      op.erase();
  if (failed(prepareForMemrefs(outlined.function))) {
    outlined.function.erase();
    return failure();
  }
  return std::move(outlined);
}

} // namespace

std::string plugin::whyInNoRun(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  auto softmax = dyn_cast<linalg::SoftmaxOp>(op);
  if (!linalgOp && !softmax && !isView(op))
    return "it is not linalg";
  if ((linalgOp && !linalgOp.hasPureTensorSemantics()) || (softmax && !softmax.hasPureTensorSemantics()))
    return "it has operands on memrefs";
  if (!readsOnlyArguments(op))
    return "it reads a number whose type is not f32, f64, f16, bf16, i32, i8 or index";
  return compiler::whyNotTaken(op);
}

size_t Run::computing() const { return static_cast<size_t>(llvm::count_if(ops, isComputing)); }

SmallVector<Run> plugin::runsOf(Block &block, llvm::function_ref<bool(Operation *)> mayTake) {
  SmallVector<Run> runs;
  Run run;
  auto finish = [&] {
    if (run.computing() > 0)
      runs.push_back(std::move(run));
    run = Run();
  };
  for (Operation &op : block) {
    const bool reads = readsFrom(&op, run);
    if (whyInNoRun(&op).empty() && mayTake(&op) && (!isView(&op) || reads))
      run.ops.insert(&op);
    else if (reads)
      finish();
  }
  finish();
  return runs;
}

FailureOr<OutlinedRun> plugin::outline(const Run &run, StringRef name) { return Outliner(run, name).write(); }

void plugin::replaceByCall(const Run &run, const OutlinedRun &outlined) {
  Operation *last = run.ops.back();
  OpBuilder builder(last->getContext());
  builder.setInsertionPointAfter(last);
  SmallVector<Value> operands(outlined.inputs);
  for (auto [result, target] : llvm::zip(outlined.results, outlined.targets))
    operands.push_back(target ? target : makeTarget(builder, result, run));
  func::FuncOp function = outlined.function;
  auto call = func::CallOp::create(builder, last->getLoc(), function, operands);
  auto isOutside = [&](OpOperand &use) {
    return !run.contains(call->getBlock()->findAncestorOpInBlock(*use.getOwner()));
  };
  IRMapping mapping;
  mapping.map(outlined.results, call.getResults());
  for (Operation *op : run.ops) // views that others use are cloned after the call
    if (isView(op) && isUsedOutside(op->getResult(0), run))
      builder.clone(*op, mapping);
  for (Operation *op : run.ops)
    for (Value value : op->getResults())
      if (Value replacement = mapping.lookupOrNull(value))
        value.replaceUsesWithIf(replacement, isOutside);
  llvm::SetVector<Operation *> copied; // unused definitions are erased with the run
  for (Operation *op : run.ops)
    for (Value value : valuesReadBy(op))
      if (!run.contains(value.getDefiningOp()) && isCopied(value))
        copied.insert(value.getDefiningOp());
  for (Operation *op : llvm::to_vector(llvm::reverse(run.ops)))
    op->erase();
  for (Operation *op : copied)
    if (isOpTriviallyDead(op))
      op->erase();
}
