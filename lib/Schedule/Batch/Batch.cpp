//===- Batch.cpp - A loop around a schedule -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The loop of a batch indexes one dim of a buffer, or none. Without that dim, the problem is that of one index. Its
// kernel becomes the body of a loop, in which buffers start at the current index.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Batch/Batch.h"

#include "IR/QuernDialect.h"
#include "IR/Strides.h"
#include "Schedule/Build/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;

namespace {

constexpr int none = -1;

class Batch {
public:
  explicit Batch(const Problem &problem) : original(problem.function), sizes(problem.sizes) {}
  /// Finds the loop of every op and the dim of every buffer. Returns false with a reason if this is not a batch.
  bool read(const Problem &problem, std::string &whyNot);
  /// Creates the problem of one index, which is not in a module.
  func::FuncOp makeOne() const;
  func::FuncOp wrap(func::FuncOp kernel) const;
  /// Returns the plan of the batch, given that of its kernel.
  PlanAttr planAround(PlanAttr plan) const {
    return PlanBuilder(original, plan.getRecipe()).addSize(PlanField::Times, count).add(plan).get();
  }

  mutable func::FuncOp original; ///< the problem, a handle

private:
  std::optional<unsigned> loopOfFirst(const Problem &problem) const;
  bool spread(linalg::LinalgOp op, unsigned loop, std::string &whyNot);
  std::optional<unsigned> loopBy(linalg::LinalgOp op) const;
  MemRefType without(Value memref) const;
  AffineMap without(AffineMap map, unsigned loop, int dim) const;
  void cloneWithout(OpBuilder &builder, linalg::LinalgOp op, IRMapping &mapping) const;
  void allocWithout(OpBuilder &builder, memref::AllocOp alloc, IRMapping &mapping) const;
  Value dimWithout(OpBuilder &builder, memref::DimOp dim, const IRMapping &mapping) const;
  Size strideOf(Value argument) const;
  SmallVector<int64_t> sizesOfOne() const;
  Value memoryFrom(OpBuilder &builder, Value memory, Value at, MemRefType type) const;

  schedule::ArgumentSizes sizes;
  Size count;                                  ///< extent of the loop; 0: not known yet
  llvm::DenseMap<Value, int> dims;             ///< dim of each buffer, or `none`
  llvm::DenseMap<Operation *, unsigned> loops; ///< loop of each op except fills
};

SmallVector<int> openDims(MemRefType type) {
  SmallVector<int> open;
  for (int d = 0; d < type.getRank(); ++d)
    if (type.isDynamicDim(d))
      open.push_back(d);
  return open;
}

/// Returns the outermost parallel loop that indexes all operands of the first reduction and may have several indices.
std::optional<unsigned> Batch::loopOfFirst(const Problem &problem) const {
  for (const ProblemOp &own : problem.ops) {
    linalg::LinalgOp op = own.op;
    if (!op.getNumReductionLoops())
      continue;
    for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
      const AffineExpr dim = getAffineDimExpr(static_cast<unsigned>(loop), op.getContext());
      auto hasDim = [&](OpOperand &operand) {
        return llvm::is_contained(op.getMatchingIndexingMap(&operand).getResults(), dim);
      };
      if (kind == utils::IteratorType::parallel && own.extents[loop].mayExceed(1) &&
          llvm::all_of(op->getOpOperands(), hasDim))
        return static_cast<unsigned>(loop);
    }
    return std::nullopt;
  }
  return std::nullopt;
}

/// Records `loop` as the op's loop of the batch, and the dim of each operand that it indexes. Returns false with a
/// reason if it cannot be the loop of a batch.
bool Batch::spread(linalg::LinalgOp op, unsigned loop, std::string &whyNot) {
  loops[op] = loop;
  auto fail = [&](const char *why) {
    whyNot = why;
    return false;
  };
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    int at = none;
    for (auto [d, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (expr.isFunctionOfDim(loop)) {
        if (!isa<AffineDimExpr>(expr) || at != none)
          return fail("the loop of a batch does not index exactly one dim of an operand by itself");
        at = static_cast<int>(d);
      }
    if (at == none && op.isDpsInit(&operand))
      return fail("an op writes the same elements for all indices of a batch");
    const bool isPlain = isa<BlockArgument>(operand.get()) || operand.get().getDefiningOp<memref::AllocOp>();
    if (!isPlain && at != none)
      return fail("a view or a table is indexed by the loop of a batch");
    if (dims.try_emplace(operand.get(), at).first->second != at)
      return fail("a buffer is not indexed by the loop of a batch along the same dim everywhere");
  }
  for (auto index : op.getBlock()->getOps<linalg::IndexOp>())
    if (index.getDim() == loop)
      return fail("a body computes with the index of a batch");
  return true;
}

std::optional<unsigned> Batch::loopBy(linalg::LinalgOp op) const {
  for (OpOperand &operand : op->getOpOperands())
    if (auto found = dims.find(operand.get()); found != dims.end() && found->second != none)
      if (auto dim = dyn_cast<AffineDimExpr>(op.getMatchingIndexingMap(&operand).getResult(found->second)))
        return dim.getPosition();
  return std::nullopt;
}

bool Batch::read(const Problem &problem, std::string &whyNot) {
  if (!problem.whyNot.empty()) {
    whyNot = problem.whyNot;
    return false;
  }
  std::optional<unsigned> first = loopOfFirst(problem);
  if (!first) {
    whyNot = "no loop indexes all operands of a reduction";
    return false;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const ProblemOp &own : problem.ops) {
      if (loops.contains(own.op) || isa<linalg::FillOp>(own.op.getOperation()))
        continue;
      std::optional<unsigned> loop = loopBy(own.op);
      if (!loop && count == 0 && own.op.getNumReductionLoops())
        loop = first;
      if (!loop)
        continue;
      if (count == 0)
        count = own.extents[*loop];
      if (own.extents[*loop] != count || count.isUntold()) {
        whyNot = "ops have different extents along a batch";
        return false;
      }
      if (!spread(own.op, *loop, whyNot))
        return false;
      changed = true;
    }
  }
  for (const ProblemOp &own : problem.ops) {
    linalg::LinalgOp op = own.op;
    const bool isFill = isa<linalg::FillOp>(op.getOperation());
    auto found = isFill ? dims.find(op.getDpsInits()[0]) : dims.end();
    if (isFill ? found == dims.end() || found->second == none : !loops.contains(op)) {
      whyNot = "an op shares no loop with a product";
      return false;
    }
  }
  return true;
}

MemRefType Batch::without(Value memref) const {
  auto type = cast<MemRefType>(memref.getType());
  auto found = dims.find(memref);
  if (found == dims.end() || found->second == none)
    return type;
  auto [strides, offset] = stridesOf(type);
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + found->second);
  strides.erase(strides.begin() + found->second);
  auto plain = MemRefType::get(shape, type.getElementType());
  const Strides dense = stridesOf(plain);
  const bool isDense = dense.strides == strides && dense.offset == offset;
  auto strided =
      MemRefType::get(shape, type.getElementType(), StridedLayoutAttr::get(type.getContext(), offset, strides));
  const bool isOwn = !isa<BlockArgument>(memref); // its layout is not visible outside
  return isOwn || isDense ? plain : strided;
}

AffineMap Batch::without(AffineMap map, unsigned loop, int dim) const {
  SmallVector<AffineExpr> results(map.getResults()), renumbered;
  if (dim != none)
    results.erase(results.begin() + dim);
  for (unsigned d = 0; d < map.getNumDims(); ++d)
    renumbered.push_back(getAffineDimExpr(d > loop ? d - 1 : d, map.getContext()));
  for (AffineExpr &expr : results)
    expr = expr.replaceDims(renumbered);
  return AffineMap::get(map.getNumDims() - 1, 0, results, map.getContext());
}

void Batch::cloneWithout(OpBuilder &builder, linalg::LinalgOp op, IRMapping &mapping) const {
  if (isa<linalg::FillOp>(op.getOperation())) {
    builder.clone(*op, mapping);
    return;
  }
  const unsigned loop = loops.lookup(op);
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : op->getOpOperands()) {
    auto found = dims.find(operand.get());
    maps.push_back(without(op.getMatchingIndexingMap(&operand), loop, found == dims.end() ? none : found->second));
  }
  auto kinds = op.getIteratorTypesArray();
  kinds.erase(kinds.begin() + loop);
  auto mapped = [&](ValueRange values) {
    return llvm::map_to_vector(values, [&](Value v) { return mapping.lookupOrDefault(v); });
  };
  auto made =
      linalg::GenericOp::create(builder, op.getLoc(), mapped(op.getDpsInputs()), mapped(op.getDpsInits()), maps, kinds);
  op->getRegion(0).cloneInto(&made.getRegion(), mapping);
  for (auto index : made.getBlock()->getOps<linalg::IndexOp>())
    if (index.getDim() > loop)
      index.setDim(index.getDim() - 1);
  made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
}

func::FuncOp Batch::makeOne() const {
  func::FuncOp function = original;
  OpBuilder builder(function.getContext());
  SmallVector<Type> types;
  for (BlockArgument argument : function.getArguments())
    types.push_back(without(argument));
  auto one = func::FuncOp::create(builder, function.getLoc(), function.getName(), builder.getFunctionType(types, {}));
  IRMapping mapping;
  mapping.map(function.getArguments(), one.addEntryBlock()->getArguments());
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (DictionaryAttr attributes = function.getArgAttrDict(i))
      one.setArgAttrs(i, attributes);
  one->setAttr(attr::sizeIndices, builder.getDenseI64ArrayAttr(sizesOfOne()));
  builder.setInsertionPointToEnd(&one.getBody().front());
  for (Operation &op : function.getBody().front())
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      cloneWithout(builder, linalgOp, mapping);
    else if (auto alloc = dyn_cast<memref::AllocOp>(op))
      allocWithout(builder, alloc, mapping);
    else if (auto dim = dyn_cast<memref::DimOp>(op))
      mapping.map(dim.getResult(), dimWithout(builder, dim, mapping));
    else
      builder.clone(op, mapping);
  return one;
}

void Batch::allocWithout(OpBuilder &builder, memref::AllocOp alloc, IRMapping &mapping) const {
  const int without = dims.lookup_or(alloc.getResult(), none);
  SmallVector<Value> open;
  for (auto [d, value] : llvm::zip_equal(openDims(alloc.getType()), alloc.getDynamicSizes()))
    if (d != without)
      open.push_back(mapping.lookupOrDefault(value));
  auto made = memref::AllocOp::create(builder, alloc.getLoc(), this->without(alloc.getResult()), open);
  mapping.map(alloc.getResult(), made.getResult());
}

/// Returns the counterpart of a memref.dim in the single problem; 1 if it is the size along the batch.
Value Batch::dimWithout(OpBuilder &builder, memref::DimOp dim, const IRMapping &mapping) const {
  std::optional<int64_t> at = dim.getConstantIndex();
  const int without = dims.lookup_or(dim.getSource(), none);
  auto number = [&](int64_t value) { return arith::ConstantIndexOp::create(builder, dim.getLoc(), value).getResult(); };
  if (at && *at == without)
    return number(1);
  Value index = at && without != none && *at > without ? number(*at - 1) : mapping.lookupOrDefault(dim.getIndex());
  return memref::DimOp::create(builder, dim.getLoc(), mapping.lookupOrDefault(dim.getSource()), index);
}

/// Returns the index of each open size of the single problem in the list of sizes that execution passes.
SmallVector<int64_t> Batch::sizesOfOne() const {
  SmallVector<int64_t> indices;
  for (BlockArgument argument : original.getArguments()) {
    const auto layout = sizes.layoutOf(argument);
    const int without = dims.lookup_or(argument, none);
    auto add = [&](Size size) {
      if (size.isOpen())
        indices.push_back(size.openIndex());
    };
    for (ArrayRef<Size> sizes : {ArrayRef<Size>(layout.shape), ArrayRef<Size>(layout.strides)})
      for (auto [d, size] : llvm::enumerate(sizes))
        if (static_cast<int>(d) != without)
          add(size);
    add(layout.offset);
  }
  return indices;
}

Size Batch::strideOf(Value argument) const {
  const int dim = dims.lookup_or(argument, none);
  return dim == none ? Size() : sizes.layoutOf(argument).strides[dim];
}

/// Returns a view of `memory` that starts at element `at` and has the shape of `type`, the kernel's argument.
Value Batch::memoryFrom(OpBuilder &builder, Value memory, Value at, MemRefType type) const {
  const SmallVector<int64_t> unit(type.getRank(), 1);
  auto layout = StridedLayoutAttr::get(builder.getContext(), ShapedType::kDynamic, unit);
  SmallVector<OpFoldResult> shape;
  for (auto [d, extent] : llvm::enumerate(type.getShape()))
    shape.push_back(ShapedType::isDynamic(extent) ? memref::DimOp::create(builder, at.getLoc(), memory, d).getResult()
                                                  : OpFoldResult(builder.getIndexAttr(extent)));
  return memref::ReinterpretCastOp::create(builder, at.getLoc(),
                                           MemRefType::get(type.getShape(), type.getElementType(), layout), memory,
                                           OpFoldResult(at), shape, getAsIndexOpFoldResult(builder.getContext(), unit));
}

func::FuncOp Batch::wrap(func::FuncOp kernel) const {
  auto own = attrOf<KernelAttr>(kernel);
  KernelTraits traits;
  traits.name = kernel.getName().str();
  traits.plan = planAround(own.getPlan());
  traits.space = own.getSpace();
  if (own.getFactors())
    llvm::append_range(traits.space.factors, own.getFactors().asArrayRef());
  traits.space.addLoop(count);
  traits.nsPerIteration = static_cast<double>(own.getNsPerIteration());
  traits.scratchBytes = own.getScratchBytes();
  KernelFunction all = makeKernel(original, original, traits);
  Location loc = kernel.getLoc();
  OpBuilder builder(kernel.getContext());
  builder.setInsertionPointToEnd(&all.function.getBody().front());
  auto index = [&](Size size) -> Value {
    auto number = [&](int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value).getResult(); };
    return size.isOpen() ? memref::LoadOp::create(builder, loc, all.sizes, number(size.openIndex())).getResult()
                         : number(size.known());
  };
  Value ofOne = index(own.getSpace()), step = index(1), zero = index(0);
  const ArrayRef<int64_t> factors = own.getFactors() ? own.getFactors().asArrayRef() : ArrayRef<int64_t>();
  for (size_t i = 0; i < factors.size(); i += 2) {
    Value up = arith::AddIOp::create(builder, loc, index(Size::open(factors[i])), index(factors[i + 1] - 1));
    ofOne = arith::MulIOp::create(builder, loc, ofOne,
                                  arith::DivUIOp::create(builder, loc, up, index(factors[i + 1])).getResult());
  }
  Value last = arith::SubIOp::create(builder, loc, ofOne, step);
  Value first = arith::DivUIOp::create(builder, loc, all.begin(), ofOne);
  Value end = arith::DivUIOp::create(builder, loc, arith::AddIOp::create(builder, loc, all.end(), last), ofOne);
  auto loop = scf::ForOp::create(builder, loc, first, end, step);
  func::ReturnOp::create(builder, loc);
  builder.setInsertionPointToStart(loop.getBody());
  Value start = arith::MulIOp::create(builder, loc, loop.getInductionVar(), ofOne);
  auto inOne = [&](Value of) { return arith::SubIOp::create(builder, loc, of, start).getResult(); };
  Value begins = arith::MaxSIOp::create(builder, loc, inOne(all.begin()), zero);
  Value ends = arith::MinSIOp::create(builder, loc, inOne(all.end()), ofOne);
  IRMapping mapping;
  SmallVector<std::pair<memref::ReinterpretCastOp, Value>> begun; ///< views of arguments, and their offsets
  const unsigned count = kernel.getNumArguments();
  for (unsigned i = 0; i < count - 2; ++i) {
    Value memory = all.function.getArgument(i);
    const Size stride = i < original.getNumArguments() ? strideOf(original.getArgument(i)) : Size();
    if (stride != 0) {
      Value at = arith::MulIOp::create(builder, loc, loop.getInductionVar(), index(stride));
      memory = memoryFrom(builder, memory, at, cast<MemRefType>(kernel.getArgument(i).getType()));
      begun.push_back({memory.getDefiningOp<memref::ReinterpretCastOp>(), at});
    }
    mapping.map(kernel.getArgument(i), memory);
  }
  mapping.map(kernel.getArgument(count - 2), begins);
  mapping.map(kernel.getArgument(count - 1), ends);
  for (Operation &op : kernel.getBody().front().without_terminator())
    builder.clone(op, mapping);
  // Offsets of a nested batch are relative to the argument of its kernel, so those of this batch are added.
  for (auto [cast, at] : begun)
    for (Operation *user : llvm::make_early_inc_range(cast->getUsers()))
      if (auto inner = dyn_cast<memref::ReinterpretCastOp>(user)) {
        builder.setInsertionPoint(inner);
        Value sum = arith::AddIOp::create(builder, loc, at, inner.getOffsets().front());
        inner.getSourceMutable().set(cast.getSource());
        inner.getOffsetsMutable().assign(sum);
      }
  return all.function;
}

/// The match of one index, around whose kernel emission adds the loop.
class BatchMatch final : public Match {
public:
  BatchMatch(Batch batch, OwningOpRef<func::FuncOp> single, MatchPtr one)
      : Match(one->recipe), batch(std::move(batch)), single(std::move(single)), one(std::move(one)) {}
  SmallVector<PlanAttr> plans() override { return {batch.planAround(one->plans().front())}; }
  Kernels emit() override;

private:
  Batch batch;
  OwningOpRef<func::FuncOp> single; ///< the problem of one index; outlives its match
  MatchPtr one;
};

Kernels BatchMatch::emit() {
  OpBuilder builder(batch.original);
  builder.setInsertionPointAfter(batch.original);
  builder.insert(single.get());
  Kernels kernels = one->emit();
  assert(kernels.size() == 1 && "one index of a batch has one kernel");
  func::FuncOp all = batch.wrap(kernels.front());
  kernels.front().erase();
  single.get()->remove();
  return {all};
}

} // namespace

MatchPtr quern::matchBatch(const Problem &problem, MatchOne matchOne, std::string &whyNot) {
  Batch batch(problem);
  if (!batch.read(problem, whyNot))
    return nullptr;
  OwningOpRef<func::FuncOp> single(batch.makeOne());
  MatchPtr one = matchOne(*single, whyNot);
  return one ? std::make_unique<BatchMatch>(std::move(batch), std::move(single), std::move(one)) : nullptr;
}
