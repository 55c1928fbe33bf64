//===- UnpackElements.cpp - Tensors of half bytes in whole bytes ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Two elements are a byte of the tensor and an i16 of the shared buffer, so that unpacking and packing are
// elementwise and of one stride.
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

namespace {

bool isPacked(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && memref.getElementType().isIntOrFloat() && memref.getElementTypeBitWidth() == 4;
}

bool isWriter(OpOperand &use) {
  auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
  return op && op.isDpsInit(&use);
}

bool isReader(OpOperand &use) {
  auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
  return !op || op.payloadUsesValueFromOperand(&use);
}

/// What the problems do with one packed argument.
struct Packed {
  unsigned argument = 0;
  int64_t begin = INT64_MAX, end = 0; ///< elements that they reach, from the buffer's start
  bool isRead = false, isWritten = false;
  int64_t offset = 0; ///< of its whole bytes in shared memory

  int64_t pairs() const { return (end + 1) / 2; }
};

class Unpacking {
public:
  Unpacking(ModuleOp module, std::string &whyNot)
      : module(module), whyNot(whyNot), byte(IntegerType::get(module.getContext(), 8)) {}
  LogicalResult run();

private:
  LogicalResult gather(func::FuncOp problem);
  void placeBuffers();
  void unpack(func::FuncOp problem);
  void widenUse(OpOperand &use, Type element);
  Value widened(OpBuilder &builder, Location loc, Value half);
  void narrowUses(OpBuilder &builder, Value value, Type element);
  /// A range of a buffer's bytes.
  MemRefType bytesOf(int64_t begin, int64_t end);
  func::FuncOp makeFunction(const Twine &suffix, const Packed &packed, MemRefType callers, MemRefType buffer);
  void emitMap(func::FuncOp function, bool toBuffer, const Packed &packed,
               function_ref<Value(OpBuilder &, Location, Value)> body);
  void emitUnpacking(const Packed &packed);
  void emitPacking(const Packed &packed);

  ModuleOp module;
  std::string &whyNot;
  Type byte;
  SmallVector<func::FuncOp> problems;
  SmallVector<Packed, 4> arguments;
  std::string name;
};

LogicalResult Unpacking::gather(func::FuncOp problem) {
  for (BlockArgument argument : problem.getArguments()) {
    if (!isPacked(argument.getType()))
      continue;
    auto type = cast<MemRefType>(argument.getType());
    SmallVector<int64_t> strides;
    int64_t first = 0;
    if (failed(type.getStridesAndOffset(strides, first)) || !type.hasStaticShape() || ShapedType::isDynamic(first) ||
        llvm::any_of(strides, ShapedType::isDynamic))
      return whyNot = ("argument #" + Twine(argument.getArgNumber()) +
                       " has elements of half bytes and a size that is not known")
                          .str(),
             failure();
    int64_t last = first;
    for (auto [extent, stride] : llvm::zip_equal(type.getShape(), strides))
      last += (extent - 1) * stride;
    auto found =
        llvm::find_if(arguments, [&](const Packed &packed) { return packed.argument == argument.getArgNumber(); });
    Packed &packed = found == arguments.end() ? arguments.emplace_back() : *found;
    packed.argument = argument.getArgNumber();
    packed.end = std::max(packed.end, last + 1);
    for (OpOperand &use : argument.getUses()) {
      packed.isRead |= isReader(use);
      packed.isWritten |= isWriter(use);
      if (isWriter(use))
        packed.begin = std::min(packed.begin, first);
    }
  }
  return success();
}

void Unpacking::placeBuffers() {
  int64_t offset = quern::endOfSharedBuffers(module);
  for (Packed &packed : arguments) {
    packed.offset = offset;
    offset = static_cast<int64_t>(llvm::alignTo(offset + 2 * packed.pairs(), 64));
  }
}

/// What was an element becomes a byte; its users get the lower half.
void Unpacking::narrowUses(OpBuilder &builder, Value value, Type element) {
  SmallVector<OpOperand *> uses = llvm::map_to_vector(value.getUses(), [](OpOperand &use) { return &use; });
  value.setType(byte);
  if (uses.empty())
    return;
  Value half = arith::TruncIOp::create(builder, value.getLoc(), builder.getIntegerType(4), value);
  if (element != half.getType())
    half = arith::BitcastOp::create(builder, value.getLoc(), element, half);
  for (OpOperand *use : uses)
    use->set(half);
}

/// The upper half becomes zero; of an element that is only moved it is.
Value Unpacking::widened(OpBuilder &builder, Location loc, Value half) {
  Type bits = builder.getIntegerType(4);
  Value moved = half;
  if (auto cast = moved.getDefiningOp<arith::BitcastOp>())
    moved = cast.getIn();
  if (auto narrowing = moved.getDefiningOp<arith::TruncIOp>(); narrowing && isa<BlockArgument>(narrowing.getIn()))
    return narrowing.getIn();
  if (half.getType() != bits)
    half = arith::BitcastOp::create(builder, loc, bits, half);
  return arith::ExtUIOp::create(builder, loc, byte, half);
}

/// After the memref of `use` has become one of bytes: its elements, which were of type `element`, too.
void Unpacking::widenUse(OpOperand &use, Type element) {
  Operation *user = use.getOwner();
  Location loc = user->getLoc();
  OpBuilder builder(user);
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
  while (last && isOpTriviallyDead(last)) { // what only moved it
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
    if (!isPacked(type)) // taken in pairs, where another function does not read it
      continue;
    if (!argument.use_empty()) {
      unsigned last = problem.getNumArguments();
      DictionaryAttr where =
          builder.getDictionaryAttr(builder.getNamedAttr(quern::attr::shared, builder.getIndexAttr(packed.offset)));
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

/// A problem on the arguments of the others, of which `packed` is `callers`, and its buffer.
func::FuncOp Unpacking::makeFunction(const Twine &suffix, const Packed &packed, MemRefType callers, MemRefType buffer) {
  OpBuilder builder(module.getContext());
  func::FuncOp like = problems.front();
  unsigned count = 0;
  while (count < like.getNumArguments() && !like.getArgAttr(count, quern::attr::shared))
    ++count;
  SmallVector<Type> types(like.getArgumentTypes().take_front(count));
  types[packed.argument] = callers;
  types.push_back(buffer);
  auto function = func::FuncOp::create(builder, module.getLoc(), (name + suffix + Twine(packed.argument)).str(),
                                       builder.getFunctionType(types, {}));
  for (unsigned i = 0; i < count; ++i)
    if (DictionaryAttr attributes = like.getArgAttrDict(i))
      function.setArgAttrs(i, attributes);
  function.setArgAttr(count, quern::attr::shared, builder.getIndexAttr(packed.offset));
  builder.setInsertionPointToEnd(function.addEntryBlock());
  func::ReturnOp::create(builder, module.getLoc());
  return function;
}

/// An elementwise op between the caller's bytes and the buffer.
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
}

/// The last of an odd number of elements comes alone, with zero beside it.
void Unpacking::emitPacking(const Packed &packed) {
  Type pair = IntegerType::get(module.getContext(), 16);
  int64_t begin = packed.begin / 2, whole = packed.end / 2;
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
  }
  if (packed.end % 2 == 0)
    return;
  func::FuncOp last = makeFunction("_packlast", packed, bytesOf(whole, whole + 1), bytesOf(2 * whole, 2 * whole + 1));
  emitMap(last, /*toBuffer=*/false, packed,
          [&](OpBuilder &b, Location loc, Value x) { return Arithmetic{b, loc}.make<arith::AndIOp>(x, 0x0f); });
  module.push_back(last);
}

LogicalResult Unpacking::run() {
  for (auto problem : module.getOps<func::FuncOp>())
    if (llvm::any_of(problem.getArgumentTypes(), isPacked))
      problems.push_back(problem);
  if (problems.empty())
    return success();
  name = problems.front().getName().str();
  for (func::FuncOp problem : problems)
    if (failed(gather(problem)))
      return failure();
  placeBuffers();
  for (func::FuncOp problem : problems)
    unpack(problem);
  for (const Packed &packed : arguments) {
    if (packed.isRead)
      emitUnpacking(packed);
    if (packed.isWritten)
      emitPacking(packed);
  }
  return success();
}

} // namespace

LogicalResult quern::unpackElements(ModuleOp module, std::string &whyNot) { return Unpacking(module, whyNot).run(); }
