//===- UnpackElements.cpp - Unpacking half bytes to whole bytes -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Two elements are a byte of the tensor and an i16 of the shared buffer, so unpacking and packing are elementwise with
// stride 1.
//
//===----------------------------------------------------------------------===//
#include "Transforms/Packed/PackedElements.h"

#include "IR/QuernDialect.h"
#include "Transforms/Packed/SharedBuffers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace quern;

namespace {

bool isView(Operation *op) {
  return isa<memref::SubViewOp, memref::ExpandShapeOp, memref::CollapseShapeOp, memref::CastOp>(op);
}

/// Returns the uses of a memref and of its views.
SmallVector<OpOperand *> usesOf(Value memref) {
  SmallVector<OpOperand *> uses;
  SmallVector<Value> pending{memref};
  while (!pending.empty())
    for (OpOperand &use : pending.pop_back_val().getUses())
      if (isView(use.getOwner()))
        pending.push_back(use.getOwner()->getResult(0));
      else
        uses.push_back(&use);
  return uses;
}

bool isWriter(OpOperand &use) {
  auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
  return op && op.isDpsInit(&use);
}

bool isReader(OpOperand &use) {
  auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
  return !op || op.payloadUsesValueFromOperand(&use);
}

/// Returns the range of elements, from the buffer's start, that a memref of known layout covers.
std::optional<std::pair<int64_t, int64_t>> extentOf(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t first = 0;
  if (failed(type.getStridesAndOffset(strides, first)) || !type.hasStaticShape() || ShapedType::isDynamic(first) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return std::nullopt;
  int64_t last = first;
  for (auto [extent, stride] : llvm::zip_equal(type.getShape(), strides))
    last += (extent - 1) * stride;
  return std::pair(first, last + 1);
}

/// Accesses of the problems to one packed argument.
struct Packed {
  unsigned argument = 0;
  int64_t begin = INT64_MAX, end = 0; ///< first written element, and end of the elements, from the buffer's start
  bool isRead = false, isWritten = false;
  bool isWhole = false; ///< true if an operation writes all elements of all accessed bytes
  bool isPart = false;  ///< true if the byte of the last element may also have an element of another memref
  int64_t offset = 0;   ///< offset of its bytes in shared memory

  /// Returns true if bytes have elements that are not written. These are also unpacked, so that they keep their values.
  bool keepsRest() const { return isWritten && !isWhole; }

  int64_t pairs() const { return (end + 1) / 2; }
};

/// Unpacks the arguments of problems that take the same ones.
class Unpacking {
public:
  Unpacking(ModuleOp module, ArrayRef<func::FuncOp> problems, std::string &whyNot)
      : module(module), whyNot(whyNot), byte(IntegerType::get(module.getContext(), 8)), problems(problems),
        name(func::FuncOp(problems.front()).getName()) {}
  LogicalResult run();
  /// The added problems, which run before and after the others.
  SmallVector<func::FuncOp> unpackings, packings;

private:
  LogicalResult gather(func::FuncOp problem);
  void placeBuffers();
  void unpack(func::FuncOp problem);
  void widenUse(OpOperand &use, Type element);
  Value widened(OpBuilder &builder, Location loc, Value half);
  void narrowUses(OpBuilder &builder, Value value, Type element);
  /// Returns the type of a view of a range of bytes.
  MemRefType bytesOf(int64_t begin, int64_t end);
  func::FuncOp makeFunction(const Twine &suffix, const Packed &packed, MemRefType callers, MemRefType buffer);
  void emitMap(func::FuncOp function, bool toBuffer, const Packed &packed,
               function_ref<Value(OpBuilder &, Location, Value)> body);
  void emitUnpacking(const Packed &packed);
  void emitPacking(const Packed &packed);

  ModuleOp module;
  std::string &whyNot;
  Type byte;
  ArrayRef<func::FuncOp> problems;
  SmallVector<Packed, 4> arguments;
  std::string name;
  llvm::SmallDenseSet<Value> wholeBytes; ///< elements of the buffers, whose upper halves are zero
};

LogicalResult Unpacking::gather(func::FuncOp problem) {
  for (BlockArgument argument : problem.getArguments()) {
    if (!isPacked(argument.getType()))
      continue;
    const bool isPart = // a program may pass a view, whose last byte has an element of the rest
        attrOf<ProgramAttr>(module) && isa<StridedLayoutAttr>(cast<MemRefType>(argument.getType()).getLayout());
    std::optional<std::pair<int64_t, int64_t>> extent = extentOf(cast<MemRefType>(argument.getType()));
    if (!extent)
      return whyNot = ("argument #" + Twine(argument.getArgNumber()) +
                       " has elements of half bytes and a size that is not known")
                          .str(),
             failure();
    auto found =
        llvm::find_if(arguments, [&](const Packed &packed) { return packed.argument == argument.getArgNumber(); });
    Packed &packed = found == arguments.end() ? arguments.emplace_back() : *found;
    packed.argument = argument.getArgNumber();
    packed.isPart |= isPart;
    packed.end = std::max(packed.end, extent->second);
    for (OpOperand *use : usesOf(argument)) {
      packed.isRead |= isReader(*use);
      if (!isWriter(*use))
        continue;
      const auto written = cast<MemRefType>(use->get().getType());
      const bool isWhole = written.getNumElements() == extent->second - extent->first;
      packed.isWhole |= isWhole && extent->first % 2 == 0 && (extent->second % 2 == 0 || !isPart);
      packed.isWritten = true;
      packed.begin = std::min(packed.begin, extent->first);
    }
  }
  return success();
}

void Unpacking::placeBuffers() {
  int64_t offset = endOfSharedBuffers(module);
  for (Packed &packed : arguments) {
    packed.offset = offset;
    offset = static_cast<int64_t>(llvm::alignTo(offset + 2 * packed.pairs(), 64));
  }
}

/// Changes the type of an element to a byte; its users get the lower half.
void Unpacking::narrowUses(OpBuilder &builder, Value value, Type element) {
  SmallVector<OpOperand *> uses = llvm::map_to_vector(value.getUses(), [](OpOperand &use) { return &use; });
  value.setType(byte);
  wholeBytes.insert(value);
  if (uses.empty())
    return;
  Value half = arith::TruncIOp::create(builder, value.getLoc(), builder.getIntegerType(4), value);
  if (element != half.getType())
    half = arith::BitcastOp::create(builder, value.getLoc(), element, half);
  for (OpOperand *use : uses)
    use->set(half);
}

/// Returns an element as a byte whose upper half is zero. An element that is moved from a buffer already is such a
/// byte.
Value Unpacking::widened(OpBuilder &builder, Location loc, Value half) {
  Type bits = builder.getIntegerType(4);
  Value moved = half;
  if (auto cast = moved.getDefiningOp<arith::BitcastOp>())
    moved = cast.getIn();
  if (auto narrowing = moved.getDefiningOp<arith::TruncIOp>(); narrowing && wholeBytes.contains(narrowing.getIn()))
    return narrowing.getIn();
  if (half.getType() != bits)
    half = arith::BitcastOp::create(builder, loc, bits, half);
  return arith::ExtUIOp::create(builder, loc, byte, half);
}

/// Widens the elements, of type `element`, of a use whose memref has become one of bytes.
void Unpacking::widenUse(OpOperand &use, Type element) {
  Operation *user = use.getOwner();
  Location loc = user->getLoc();
  OpBuilder builder(user);
  if (isView(user)) {
    Value view = user->getResult(0);
    view.setType(MemRefType::Builder(cast<MemRefType>(view.getType())).setElementType(byte));
    for (OpOperand &other : llvm::make_early_inc_range(view.getUses()))
      widenUse(other, element);
    return;
  }
  if (auto load = dyn_cast<memref::LoadOp>(user)) {
    builder.setInsertionPointAfter(load);
    return narrowUses(builder, load.getResult(), element);
  }
  auto op = cast<linalg::LinalgOp>(user);
  BlockArgument value = op.getMatchingBlockArgument(&use);
  builder.setInsertionPointToStart(op.getBlock());
  narrowUses(builder, value, element);
  if (!op.isDpsInit(&use))
    return;
  if (auto fill = dyn_cast<linalg::FillOp>(user)) {
    builder.setInsertionPoint(fill);
    fill.getInputsMutable()[0].set(widened(builder, loc, fill.getInputs()[0]));
    op.getBlock()->getArgument(0).setType(byte);
    return;
  }
  Operation *yield = op.getBlock()->getTerminator();
  builder.setInsertionPoint(yield);
  OpOperand &result = yield->getOpOperand(use.getOperandNumber() - op.getNumDpsInputs());
  Operation *last = result.get().getDefiningOp();
  result.set(widened(builder, loc, result.get()));
  while (last && isOpTriviallyDead(last)) { // operations that only moved the value
    Operation *before = last->getOperand(0).getDefiningOp();
    last->erase();
    last = before;
  }
}

void Unpacking::unpack(func::FuncOp problem) {
  Builder builder(module.getContext());
  for (const Packed &packed : arguments) {
    BlockArgument argument = problem.getArgument(packed.argument);
    auto type = cast<MemRefType>(argument.getType());
    if (!isPacked(type)) // already in pairs here; a problem that does not use it kept its type
      continue;
    if (!argument.use_empty()) {
      unsigned last = problem.getNumArguments();
      DictionaryAttr where =
          builder.getDictionaryAttr(builder.getNamedAttr(attr::shared, builder.getIndexAttr(packed.offset)));
      (void)problem.insertArgument(last, MemRefType::Builder(type).setElementType(byte), where, argument.getLoc());
      argument.replaceAllUsesWith(problem.getArgument(last));
      for (OpOperand &use : llvm::make_early_inc_range(problem.getArgument(last).getUses()))
        widenUse(use, type.getElementType());
    }
    argument.setType(bytesOf(0, packed.pairs()));
  }
  problem.setFunctionType(builder.getFunctionType(problem.getBody().getArgumentTypes(), {}));
}

MemRefType Unpacking::bytesOf(int64_t begin, int64_t end) {
  if (!begin)
    return MemRefType::get({end}, byte);
  return MemRefType::get({end - begin}, byte, StridedLayoutAttr::get(module.getContext(), begin, {1}));
}

/// Creates a problem with the arguments of the others, in which `packed` has type `callers`, and the buffer.
func::FuncOp Unpacking::makeFunction(const Twine &suffix, const Packed &packed, MemRefType callers, MemRefType buffer) {
  OpBuilder builder(module.getContext());
  func::FuncOp like = problems.front();
  unsigned count = 0;
  while (count < like.getNumArguments() && !like.getArgAttr(count, attr::shared))
    ++count;
  SmallVector<Type> types(like.getArgumentTypes().take_front(count));
  types[packed.argument] = callers;
  types.push_back(buffer);
  auto function = func::FuncOp::create(builder, module.getLoc(), (name + suffix + Twine(packed.argument)).str(),
                                       builder.getFunctionType(types, {}));
  for (unsigned i = 0; i < count; ++i)
    if (DictionaryAttr attributes = like.getArgAttrDict(i))
      function.setArgAttrs(i, attributes);
  function.setArgAttr(count, attr::shared, builder.getIndexAttr(packed.offset));
  builder.setInsertionPointToEnd(function.addEntryBlock());
  func::ReturnOp::create(builder, module.getLoc());
  return function;
}

/// Emits an elementwise op between the caller's bytes and the buffer.
void Unpacking::emitMap(func::FuncOp function, bool toBuffer, const Packed &packed,
                        function_ref<Value(OpBuilder &, Location, Value)> body) {
  Value callers = function.getArgument(packed.argument), buffer = function.getArguments().back();
  OpBuilder builder(function.getBody().front().getTerminator());
  AffineMap identity = builder.getMultiDimIdentityMap(1);
  linalg::GenericOp::create(builder, module.getLoc(), toBuffer ? callers : buffer, toBuffer ? buffer : callers,
                            ArrayRef<AffineMap>{identity, identity},
                            ArrayRef<utils::IteratorType>{utils::IteratorType::parallel},
                            [&](OpBuilder &b, Location loc, ValueRange elements) {
                              linalg::YieldOp::create(b, loc, body(b, loc, elements[0]));
                            });
}

struct Arithmetic {
  OpBuilder &builder;
  Location loc;
  template <typename Op> Value make(Value x, int64_t constant) {
    return Op::create(builder, loc, x,
                      arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(x.getType(), constant)));
  }
};

void Unpacking::emitUnpacking(const Packed &packed) {
  Type pair = IntegerType::get(module.getContext(), 16);
  func::FuncOp function =
      makeFunction("_unpack", packed, bytesOf(0, packed.pairs()), MemRefType::get({packed.pairs()}, pair));
  emitMap(function, /*toBuffer=*/true, packed, [&](OpBuilder &b, Location loc, Value both) {
    Arithmetic on{b, loc};
    Value x = arith::ExtUIOp::create(b, loc, pair, both);
    x = arith::OrIOp::create(b, loc, x, on.make<arith::ShLIOp>(x, 4));
    return on.make<arith::AndIOp>(x, 0x0f0f);
  });
  module.getBody()->push_front(function);
  unpackings.push_back(function);
}

/// Packs pairs. The last one of an odd number of elements is packed with zero, unless another memref may own its
/// neighbor, which was unpacked.
void Unpacking::emitPacking(const Packed &packed) {
  Type pair = IntegerType::get(module.getContext(), 16);
  int64_t begin = packed.begin / 2, whole = packed.keepsRest() && packed.isPart ? packed.pairs() : packed.end / 2;
  if (begin < whole) {
    auto buffer = MemRefType::get({whole - begin}, pair);
    if (begin)
      buffer = MemRefType::get({whole - begin}, pair, StridedLayoutAttr::get(module.getContext(), begin, {1}));
    func::FuncOp function = makeFunction("_pack", packed, bytesOf(begin, whole), buffer);
    emitMap(function, /*toBuffer=*/false, packed, [&](OpBuilder &b, Location loc, Value x) -> Value {
      Arithmetic on{b, loc};
      Value low = on.make<arith::AndIOp>(x, 0x0f), high = on.make<arith::ShRUIOp>(x, 4);
      return arith::TruncIOp::create(b, loc, byte, arith::OrIOp::create(b, loc, low, high));
    });
    module.push_back(function);
    packings.push_back(function);
  }
  if (whole == packed.pairs())
    return;
  func::FuncOp last = makeFunction("_packlast", packed, bytesOf(whole, whole + 1), bytesOf(2 * whole, 2 * whole + 1));
  emitMap(last, /*toBuffer=*/false, packed,
          [&](OpBuilder &b, Location loc, Value x) { return Arithmetic{b, loc}.make<arith::AndIOp>(x, 0x0f); });
  module.push_back(last);
  packings.push_back(last);
}

LogicalResult Unpacking::run() {
  for (func::FuncOp problem : problems)
    if (failed(gather(problem)))
      return failure();
  placeBuffers();
  for (func::FuncOp problem : problems)
    unpack(problem);
  for (const Packed &packed : arguments) {
    if (packed.isRead || packed.keepsRest())
      emitUnpacking(packed);
    if (packed.isWritten)
      emitPacking(packed);
  }
  return success();
}

/// Returns the steps of a program with calls that unpack and pack around each call of `problem`, on its buffers.
SmallVector<Attribute> callAround(ArrayRef<Attribute> steps, const Unpacking &unpacking, func::FuncOp problem) {
  SmallVector<Attribute> all;
  for (Attribute step : steps) {
    if (auto loop = dyn_cast<LoopAttr>(step)) {
      all.push_back(LoopAttr::get(loop.getContext(), loop.getTrips(), callAround(loop.getBody(), unpacking, problem)));
      continue;
    }
    auto call = dyn_cast<CallAttr>(step);
    const bool isAround = call && call.getProblem().getValue() == problem.getName();
    auto add = [&](FlatSymbolRefAttr callee) { // calls of an execution share the buffers
      all.push_back(CallAttr::get(call.getContext(), callee, call.getBuffers(), /*independent=*/false));
    };
    auto addAll = [&](ArrayRef<func::FuncOp> functions) {
      for (func::FuncOp function : functions)
        add(FlatSymbolRefAttr::get(function.getNameAttr()));
    };
    if (!isAround) {
      all.push_back(step);
      continue;
    }
    addAll(unpacking.unpackings);
    add(call.getProblem());
    addAll(unpacking.packings);
  }
  return all;
}

} // namespace

LogicalResult quern::unpackElements(ModuleOp module, std::string &whyNot) {
  SmallVector<func::FuncOp> problems;
  for (auto problem : module.getOps<func::FuncOp>())
    if (llvm::any_of(problem.getArgumentTypes(), isPacked))
      problems.push_back(problem);
  if (problems.empty())
    return success();
  if (!attrOf<ProgramAttr>(module))
    return Unpacking(module, problems, whyNot).run();
  for (func::FuncOp problem : problems) { // their arguments differ
    Unpacking unpacking(module, problem, whyNot);
    if (failed(unpacking.run()))
      return failure();
    module->setAttr(
        ProgramAttr::name,
        ProgramAttr::get(module.getContext(), callAround(attrOf<ProgramAttr>(module).getSteps(), unpacking, problem)));
  }
  return success();
}
