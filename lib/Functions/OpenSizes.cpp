//===- OpenSizes.cpp - Open sizes of a function ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Dims that the loops of operations make equal are first joined in classes. Then each class gets a value: a number, an
// entry of the list, or a value that operations define. Executions check all other definitions of a class.
//
//===----------------------------------------------------------------------===//
#include "Functions/OpenSizes.h"

#include "Functions/Check.h"
#include "Functions/Locations.h"
#include "IR/Polynomials.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace quern;
using namespace quern::functions;

namespace {

/// Upper bound of every size and offset.
constexpr int64_t largest = int64_t(1) << 40;

/// Calls visit(collapsed dim, expanded dim) for each dim of a reshape that is expanded to only one dim other than 1.
template <typename Reshape, typename Visit> void forEachKept(Reshape reshape, MemRefType expanded, Visit visit) {
  for (auto [collapsed, group] : llvm::enumerate(reshape.getReassociationIndices())) {
    SmallVector<int64_t> longer;
    llvm::copy_if(group, std::back_inserter(longer), [&](int64_t d) { return expanded.getDimSize(d) != 1; });
    if (longer.size() == 1)
      visit(static_cast<int64_t>(collapsed), longer[0]);
  }
}

bool isSumOrProduct(Operation *op) { return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op); }

/// Returns the argument whose number is the index; null if there is none.
BlockArgument numberOf(Value index) {
  auto cast = index.getDefiningOp<arith::IndexCastOp>();
  auto load = cast && index.getType().isIndex() ? cast.getIn().getDefiningOp<memref::LoadOp>() : memref::LoadOp();
  auto argument = load ? dyn_cast<BlockArgument>(load.getMemRef()) : BlockArgument();
  const bool isNumber =
      argument && load.getMemRefType() == MemRefType::get({}, IntegerType::get(index.getContext(), 32));
  return isNumber ? argument : BlockArgument();
}

} // namespace

bool functions::isSizeOrPlaceAlone(Value index) {
  llvm::SetVector<Value> computed;
  computed.insert(index);
  for (size_t i = 0; i < computed.size(); ++i)
    for (Operation *user : computed[i].getUsers())
      if (isSumOrProduct(user) && user->getResult(0).getType().isIndex())
        computed.insert(user->getResult(0));
      else if (!isa<memref::AllocOp, memref::SubViewOp, memref::ExpandShapeOp>(user))
        return false;
  return true;
}

//===- Classes ------------------------------------------------------------===//

unsigned OpenSizes::node(Value memref, int64_t dim) {
  auto [at, isNew] = nodes.try_emplace({memref, dim}, nodes.size());
  if (isNew)
    joined.grow(nodes.size());
  return at->second;
}

void OpenSizes::join(Value memref, int64_t dim, Value other, int64_t otherDim) {
  joined.join(node(memref, dim), node(other, otherDim));
}

/// Joins a dim with the dim whose size defines it, or records a definition.
void OpenSizes::define(Value memref, int64_t dim, OpFoldResult number, Operation *op) {
  if (!cast<MemRefType>(memref.getType()).isDynamicDim(static_cast<unsigned>(dim)))
    return;
  auto size = isa<Value>(number) ? cast<Value>(number).getDefiningOp<memref::DimOp>() : memref::DimOp();
  if (std::optional<int64_t> of = size ? size.getConstantIndex() : std::nullopt) {
    join(memref, dim, size.getSource(), *of);
    return;
  }
  (void)node(memref, dim);
  definitions.push_back({{memref, dim}, number, {}, op});
}

void OpenSizes::readReshape(Operation &op) {
  if (auto expand = dyn_cast<memref::ExpandShapeOp>(op)) {
    forEachKept(expand, expand.getResultType(),
                [&](int64_t collapsed, int64_t d) { join(expand, d, expand.getSrc(), collapsed); });
    for (auto [d, size] : llvm::enumerate(expand.getMixedOutputShape()))
      define(expand, static_cast<int64_t>(d), size, expand);
  }
  auto collapse = dyn_cast<memref::CollapseShapeOp>(op);
  if (!collapse)
    return;
  forEachKept(collapse, collapse.getSrcType(),
              [&](int64_t collapsed, int64_t d) { join(collapse, collapsed, collapse.getSrc(), d); });
  for (auto [d, group] : llvm::enumerate(collapse.getReassociationIndices()))
    if (group.size() > 1 && collapse.getResultType().isDynamicDim(static_cast<unsigned>(d))) {
      Definition product{{collapse, static_cast<int64_t>(d)}, {}, {}, collapse};
      for (int64_t of : group) {
        product.product.emplace_back(collapse.getSrc(), of);
        (void)node(collapse.getSrc(), of);
      }
      (void)node(collapse, static_cast<int64_t>(d));
      definitions.push_back(std::move(product));
    }
}

void OpenSizes::readLoops(Operation &op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return;
  SmallVector<std::optional<Dim>> loops(linalgOp.getNumLoops());
  for (OpOperand &operand : op.getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    for (auto [d, expr] : llvm::enumerate(linalgOp.getMatchingIndexingMap(&operand).getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim)
        continue;
      auto &loop = loops[dim.getPosition()];
      if (loop)
        join(operand.get(), static_cast<int64_t>(d), loop->first, loop->second);
      else
        loop = {operand.get(), static_cast<int64_t>(d)};
    }
  }
}

void OpenSizes::readOperation(Operation &op) {
  if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
    for (auto [d, size] : llvm::enumerate(alloc.getMixedSizes()))
      define(alloc, static_cast<int64_t>(d), size, alloc);
  } else if (auto subview = dyn_cast<memref::SubViewOp>(op)) {
    const llvm::SmallBitVector dropped = subview.getDroppedDims();
    int64_t dim = 0;
    for (auto [d, size] : llvm::enumerate(subview.getMixedSizes()))
      if (!dropped.test(static_cast<unsigned>(d)))
        define(subview, dim++, size, subview);
    for (int64_t d = 0; d < subview.getSourceType().getRank(); ++d)
      (void)node(subview.getSource(), d);
  } else if (auto cast = dyn_cast<memref::CastOp>(op)) {
    for (int64_t d = 0; d < mlir::cast<MemRefType>(cast.getType()).getRank(); ++d)
      join(cast.getDest(), d, cast.getSource(), d);
  } else if (auto dim = dyn_cast<memref::DimOp>(op)) {
    if (std::optional<int64_t> of = dim.getConstantIndex())
      (void)node(dim.getSource(), *of);
  }
  readReshape(op);
  readLoops(op);
}

void OpenSizes::readEntries(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    auto type = cast<MemRefType>(argument.getType());
    SmallVector<int64_t> strides;
    int64_t offset = 0;
    (void)functions::stridesOf(type, strides, offset);
    firstEntry[argument] = static_cast<int64_t>(entries.size());
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (type.isDynamicDim(static_cast<unsigned>(d)))
        entries.push_back({argument, static_cast<int>(d)});
    entries.append(llvm::count_if(strides, ShapedType::isDynamic) + (ShapedType::isDynamic(offset) ? 1 : 0),
                   Entry{argument, -1});
  }
}

Result<void> OpenSizes::readClasses(func::FuncOp function) {
  for (const Entry &entry : entries)
    if (entry.dim >= 0)
      (void)node(entry.argument, entry.dim);
  joined.compress();
  classes.resize(joined.getNumClasses());
  for (auto [key, id] : nodes) {
    const int64_t extent = cast<MemRefType>(key.first.getType()).getDimSize(static_cast<unsigned>(key.second));
    if (ShapedType::isDynamic(extent))
      continue;
    std::optional<int64_t> &known = classes[joined[id]].extent;
    if (known && *known != extent)
      return unsupported(function, "has a size that is both ", *known, " and ", extent);
    known = extent;
  }
  for (auto [i, entry] : llvm::enumerate(entries))
    if (entry.dim >= 0)
      if (Class &own = classes[joined[nodes.at({entry.argument, entry.dim})]]; own.entry < 0)
        own.entry = static_cast<int64_t>(i);
  for (Class &own : classes)
    own.value = own.extent ? number(*own.extent) : own.entry >= 0 ? symbol(own.entry) : AffineExpr();
  for (const Definition &definition : definitions)
    classes[joined[nodes.at(definition.dim)]].definitions.push_back(&definition);
  return {};
}

const OpenSizes::Class *OpenSizes::classOf(Value memref, int64_t dim) const {
  auto found = nodes.find({memref, dim});
  return found == nodes.end() ? nullptr : &classes[joined[found->second]];
}

//===- Values -------------------------------------------------------------===//

bool OpenSizes::areEqual(AffineExpr a, AffineExpr b) {
  std::string why;
  FailureOr<Polynomial> left = polynomialOf(a, 0, why), right = polynomialOf(b, 0, why);
  return a == b || (succeeded(left) && succeeded(right) && *left == *right);
}

/// Returns the value of an expression that does not depend on sizes.
static std::optional<int64_t> constantOf(AffineExpr value) {
  std::string why;
  FailureOr<Polynomial> polynomial = polynomialOf(value, 0, why);
  return succeeded(polynomial) ? polynomial->constant() : std::nullopt;
}

/// Returns true if a value is at least 1 whenever the first `dims` sizes are.
static bool isSurelyPositive(AffineExpr value, size_t dims) {
  std::string why;
  FailureOr<Polynomial> polynomial = polynomialOf(value, 0, why);
  if (failed(polynomial) || polynomial->terms.empty())
    return false;
  return llvm::all_of(polynomial->terms, [&](const Term &term) {
    return term.coefficient > 0 && llvm::all_of(term.symbols, [&](uint32_t s) { return s - maxLoopDepth < dims; });
  });
}

void OpenSizes::check(Value memory, std::string what, AffineExpr value, AffineExpr low, AffineExpr high) {
  allChecks.push_back({memory, std::move(what), value, low, high});
}

Result<AffineExpr> OpenSizes::valueOf(OpFoldResult index) {
  std::optional<int64_t> constant = getConstantIntValue(index);
  return constant ? number(*constant) : valueOf(cast<Value>(index));
}

/// Returns the value of a dim as an expression of the arguments' sizes; null if it is unknown.
Result<AffineExpr> OpenSizes::valueOf(Dim dim) {
  auto type = cast<MemRefType>(dim.first.getType());
  if (!type.isDynamicDim(static_cast<unsigned>(dim.second)))
    return number(type.getDimSize(static_cast<unsigned>(dim.second)));
  auto found = nodes.find(dim);
  if (found == nodes.end())
    return AffineExpr();
  Class &own = classes[joined[found->second]];
  QUERN_RETURN_IF_ERROR(readDefinition(own));
  return own.value;
}

Result<AffineExpr> OpenSizes::valueOf(Value index) {
  if (BlockArgument argument = numberOf(index)) {
    auto at = llvm::find(numbers, argument);
    const auto position = at - numbers.begin();
    if (at == numbers.end())
      numbers.push_back(argument);
    return symbol(static_cast<int64_t>(entries.size()) + position);
  }
  Operation *op = index.getDefiningOp();
  if (auto dim = dyn_cast_or_null<memref::DimOp>(op))
    if (std::optional<int64_t> of = dim.getConstantIndex())
      return valueOf(Dim(dim.getSource(), *of));
  if (!op || !isSumOrProduct(op))
    return op ? unsupported(
                    op,
                    "computes a size or an offset; only sums and products of sizes and index arguments are supported")
              : internalError("an index is neither computed nor a number");
  if (auto known = computedValues.find(index); known != computedValues.end())
    return known->second;
  Result<AffineExpr> left = valueOf(OpFoldResult(op->getOperand(0)));
  Result<AffineExpr> right = left ? valueOf(OpFoldResult(op->getOperand(1))) : left;
  if (!right || !*left || !*right)
    return right ? Result<AffineExpr>(AffineExpr()) : right;
  AffineExpr value = isa<arith::AddIOp>(op) ? *left + *right : isa<arith::SubIOp>(op) ? *left - *right : *left * *right;
  std::string why; // multiplied out, so that chains of operations do not make it long
  FailureOr<Polynomial> polynomial = polynomialOf(value, 0, why);
  if (failed(polynomial))
    return unsupported(op, "computes a size or an offset that ", why);
  return computedValues[index] = valueOf(*polynomial);
}

AffineExpr OpenSizes::valueOf(const Polynomial &polynomial) const {
  AffineExpr sum = number(0);
  for (const Term &term : polynomial.terms) {
    AffineExpr product = number(term.coefficient);
    for (uint32_t s : term.symbols)
      product = product * symbol(static_cast<int64_t>(s - maxLoopDepth));
    sum = sum + product;
  }
  return sum;
}

Result<AffineExpr> OpenSizes::valueOf(const Definition &definition) {
  if (definition.product.empty())
    return valueOf(definition.number);
  AffineExpr product = number(1);
  for (Dim dim : definition.product) {
    Result<AffineExpr> factor = valueOf(dim);
    if (!factor || !*factor)
      return factor;
    product = product * *factor;
  }
  return product;
}

std::string OpenSizes::nameOf(const Definition &definition) {
  const bool isPart = isa<memref::SubViewOp>(definition.op);
  return concat(isPart ? "the size of a part in dim " : "dim ", definition.dim.second);
}

/// Computes the value of a class that is neither a number nor an entry from its first definition.
Result<void> OpenSizes::readDefinition(Class &own) {
  if (own.value || own.definitions.empty() || own.state == Class::Read)
    return {};
  const Definition &first = *own.definitions.front();
  if (std::exchange(own.state, Class::Reading) == Class::Reading)
    return unsupported(first.op, "has a size that depends on itself");
  QUERN_ASSIGN_OR_RETURN(AffineExpr value, valueOf(first));
  own.state = Class::Read;
  own.value = value;
  if (own.value && !isSurelyPositive(own.value, entries.size()))
    check(first.dim.first, nameOf(first), own.value, number(1), number(largest));
  return {};
}

/// If a size has several definitions, an execution checks that they agree.
Result<void> OpenSizes::readDefinitions() {
  for (Class &own : classes) {
    QUERN_RETURN_IF_ERROR(readDefinition(own));
    for (const Definition *definition : own.definitions) {
      QUERN_ASSIGN_OR_RETURN(AffineExpr value, valueOf(*definition));
      if (!value || areEqual(value, own.value))
        continue;
      if (constantOf(value) && constantOf(own.value))
        return unsupported(definition->op, "has a size that is both ", *constantOf(value), " and ",
                           *constantOf(own.value));
      check(definition->dim.first, nameOf(*definition), value, own.value, own.value);
    }
  }
  return {};
}

/// Ensures that one dim of a part is within its memory, statically or by a check.
Result<void> OpenSizes::readPart(memref::SubViewOp subview, unsigned dim) {
  Result<AffineExpr> offset = valueOf(subview.getMixedOffsets()[dim]), size = valueOf(subview.getMixedSizes()[dim]),
                     step = valueOf(subview.getMixedStrides()[dim]), whole = valueOf(Dim(subview.getSource(), dim));
  for (Result<AffineExpr> *value : {&offset, &size, &step, &whole})
    if (!*value)
      return value->takeError();
    else if (!**value)
      return unsupported(subview, "takes a part of unknown offset, size or stride");
  AffineExpr reach = (*size - 1) * *step, last = *offset + reach, room = *whole - 1 - reach;
  const std::optional<int64_t> begin = constantOf(*offset), left = constantOf(*whole - 1 - last);
  auto isAtLeast = [](AffineExpr value, int64_t least) {
    std::optional<int64_t> constant = constantOf(value);
    return constant && *constant >= least;
  };
  Value memory = rootOf(subview);
  if (!isAtLeast(*size, 1) && !isSurelyPositive(*size, entries.size()))
    check(memory, concat("the size of a part in dim ", dim), *size, number(1), number(largest));
  if (!isAtLeast(*step, 1))
    check(memory, concat("the step of a part in dim ", dim), *step, number(1), number(largest));
  if (begin && *begin >= 0 && left && *left >= 0)
    return {};
  if ((begin && *begin < 0) || (left && *left < 0))
    return unsupported(subview, "reaches beyond its buffer in dim ", dim);
  if (begin)
    check(memory, concat("the last index of a part in dim ", dim), last, number(0), *whole - 1);
  else
    check(memory, concat("the offset of a part in dim ", dim), *offset, number(0), room);
  return {};
}

Result<void> OpenSizes::readParts(Operation &op) {
  if (auto subview = dyn_cast<memref::SubViewOp>(op))
    for (unsigned d = 0; d < subview.getSourceType().getRank(); ++d)
      QUERN_RETURN_IF_ERROR(readPart(subview, d));
  if (auto expand = dyn_cast<memref::ExpandShapeOp>(op))
    for (auto [d, group] : llvm::enumerate(expand.getReassociationIndices())) {
      Definition product{{expand.getSrc(), static_cast<int64_t>(d)}, {}, {}, expand};
      for (int64_t of : group)
        product.product.emplace_back(expand.getResult(), of);
      Result<AffineExpr> whole = valueOf(product.dim), parts = valueOf(product);
      if (!whole || !parts)
        return whole ? parts.takeError() : whole.takeError();
      if (*whole && *parts && !areEqual(*whole, *parts))
        check(rootOf(expand), concat("the size of dim ", d, " after expansion"), *parts, *whole, *whole);
    }
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return {};
  for (OpOperand &operand : op.getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type)
      continue;
    for (AffineExpr expr : linalgOp.getMatchingIndexingMap(&operand).getResults())
      if (!isa<AffineDimExpr, AffineConstantExpr>(expr) && !type.hasStaticShape())
        return unsupported(&op, "computes with indices of open sizes");
    QUERN_ASSIGN_OR_RETURN(Layout layout, layoutOf(operand.get()));
    if (type.getElementTypeBitWidth() < 8 && startOf(operand.get()) && !constantOf(startOf(operand.get())))
      return unsupported(&op, "takes a part of half bytes whose offset is known only at execution");
  }
  return {};
}

/// Returns true if an operation of the function returns a memref with a size, stride or offset that is not constant.
static bool hasOpenTypes(func::FuncOp function) {
  return function
      .walk([](Operation *op) {
        for (Value value : op->getResults())
          if (auto type = dyn_cast<MemRefType>(value.getType())) {
            SmallVector<int64_t> strides;
            int64_t offset = 0;
            (void)functions::stridesOf(type, strides, offset);
            if (!type.hasStaticShape() || llvm::any_of(strides, ShapedType::isDynamic) || ShapedType::isDynamic(offset))
              return WalkResult::interrupt();
          }
        return WalkResult::advance();
      })
      .wasInterrupted();
}

Result<OpenSizes> OpenSizes::of(func::FuncOp function) {
  OpenSizes sizes;
  sizes.context = function.getContext();
  sizes.readEntries(function);
  if (sizes.entries.empty() && !hasOpenTypes(function))
    return sizes;
  Block &body = function.getBody().front();
  for (Operation &op : body)
    sizes.readOperation(op);
  QUERN_RETURN_IF_ERROR(sizes.readClasses(function));
  QUERN_RETURN_IF_ERROR(sizes.readDefinitions());
  for (Operation &op : body)
    QUERN_RETURN_IF_ERROR(sizes.readParts(op));
  std::string why;
  for (const Check &check : sizes.allChecks)
    for (AffineExpr value : {check.value, check.low, check.high})
      if (failed(polynomialOf(value, 0, why)))
        return unsupported(function, "has a size or an offset that ", why);
  return sizes;
}
