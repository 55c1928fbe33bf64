//===- Padding.cpp - Zeroing the padding of destinations ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The padding is the union, over each dim d, of the positions past the end in d, inside in the dims before d, and
// anywhere in the dims after d. A range of positions in one dim is in general not a range of each digit, but can be
// split into a few such boxes.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Emission/Padding.h"

#include "Primitives/Emission/Tensors.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace quern;
using namespace quern::emission;

namespace {

struct Range {
  int64_t begin = 0, end = 0;
};

/// Range of values of each digit of a tensor.
using Box = SmallVector<Range, 12>;

class BoxSplitter {
public:
  BoxSplitter(const TensorDesc &desc, MLIRContext *context) : desc(desc), context(context), digits(digitsOf(desc)) {}
  SmallVector<MemRefType> split();

private:
  Box whole() const {
    return llvm::map_to_vector<12>(digits, [](const Digit &digit) { return Range{0, digit.size}; });
  }
  SmallVector<unsigned> digitsOfDim(int dim) const;
  /// Adds to `pieces` the boxes of positions [begin, end) of a dim, whose digits are `dimDigits`, outermost first;
  /// `box` has the ranges of the other dims.
  void splitRange(ArrayRef<unsigned> dimDigits, Range range, Box box, SmallVectorImpl<Box> &pieces) const;
  void restrict(SmallVectorImpl<Box> &boxes, int dim, Range range) const;
  MemRefType viewOf(const Box &box) const;

  const TensorDesc &desc;
  MLIRContext *context;
  SmallVector<Digit> digits;
};

SmallVector<unsigned> BoxSplitter::digitsOfDim(int dim) const {
  SmallVector<unsigned> dimDigits;
  for (auto [i, digit] : llvm::enumerate(digits))
    if (digit.dim == dim)
      dimDigits.push_back(i);
  return dimDigits;
}

void BoxSplitter::splitRange(ArrayRef<unsigned> dimDigits, Range range, Box box, SmallVectorImpl<Box> &pieces) const {
  if (range.begin >= range.end)
    return;
  int64_t weight = digits[dimDigits.front()].weight;
  Range blocks{range.begin / weight, range.end / weight};
  int64_t head = range.begin % weight, tail = range.end % weight;
  auto splitInside = [&](int64_t block, Range inside) {
    box[dimDigits.front()] = {block, block + 1};
    splitRange(dimDigits.drop_front(), inside, box, pieces);
  };
  if (head && blocks.begin == blocks.end)
    return splitInside(blocks.begin, {head, tail});
  if (head)
    splitInside(blocks.begin++, {head, weight});
  if (blocks.begin < blocks.end) {
    box[dimDigits.front()] = blocks;
    pieces.push_back(box);
  }
  if (tail)
    splitInside(blocks.end, {0, tail});
}

void BoxSplitter::restrict(SmallVectorImpl<Box> &boxes, int dim, Range range) const {
  SmallVector<Box> pieces;
  for (const Box &box : boxes)
    splitRange(digitsOfDim(dim), range, box, pieces);
  boxes.assign(pieces.begin(), pieces.end());
}

MemRefType BoxSplitter::viewOf(const Box &box) const {
  SmallVector<int64_t> shape, strides;
  int64_t offset = desc.offset0;
  for (auto [range, digit] : llvm::zip_equal(box, digits)) {
    offset += range.begin * digit.stride;
    if (range.end - range.begin == 1)
      continue;
    shape.push_back(range.end - range.begin);
    strides.push_back(digit.stride);
  }
  if (shape.empty()) {
    shape.push_back(1);
    strides.push_back(1);
  }
  Builder builder(context);
  return MemRefType::get(shape, elementType(desc.dataType, builder), StridedLayoutAttr::get(context, offset, strides));
}

SmallVector<MemRefType> BoxSplitter::split() {
  SmallVector<MemRefType> views;
  for (int d = 0; d < desc.ndims; ++d) {
    if (desc.paddedDims[d] == desc.dims[d])
      continue;
    SmallVector<Box> boxes{whole()};
    for (int before = 0; before < d; ++before)
      restrict(boxes, before, {0, desc.dims[before]});
    restrict(boxes, d, {desc.dims[d], desc.paddedDims[d]});
    for (const Box &box : boxes)
      views.push_back(viewOf(box));
  }
  return views;
}

void emitBox(ModuleOp module, const VerifiedProblem &problem, const Twine &name, size_t position, MemRefType box) {
  SmallVector<Type> types = argumentTypes(problem, module.getContext());
  types[position] = box;
  FunctionEmitter function(module, problem, name.str(), types);
  OpBuilder &builder = function.builder;
  function.step("zero", "zeros of the padding");
  Value zero = arith::ConstantOp::create(builder, function.loc, builder.getZeroAttr(box.getElementType()));
  SmallVector<utils::IteratorType> kinds(box.getRank(), utils::IteratorType::parallel);
  linalg::GenericOp::create(builder, function.loc, ValueRange(), ValueRange{function.argument(position)},
                            builder.getMultiDimIdentityMap(box.getRank()), kinds,
                            [&](OpBuilder &b, Location at, ValueRange) { linalg::YieldOp::create(b, at, zero); });
  function.finish();
}

} // namespace

SmallVector<MemRefType> emission::paddingBoxes(const TensorDesc &desc, MLIRContext *context) {
  if (!desc.isBlockedFormat() || desc.hasRuntimeDims() || !desc.hasPadding())
    return {};
  return BoxSplitter(desc, context).split();
}

void emission::emitPadding(ModuleOp module, const VerifiedProblem &problem, StringRef name) {
  int count = 0;
  for (auto [i, argument] : llvm::enumerate(problem.arguments)) {
    if (!argument.isOutput)
      continue;
    for (MemRefType box : paddingBoxes(argument.desc, module.getContext()))
      emitBox(module, problem, name + "_padding" + Twine(count++), i, box);
  }
}

bool emission::fillsPadding(const VerifiedProblem &problem) {
  const ArgumentInfo &output =
      *llvm::find_if(problem.arguments, [](const ArgumentInfo &argument) { return argument.isOutput; });
  const TensorDesc &desc = output.desc;
  if (!desc.hasPadding() || desc.hasRuntimeDims() || bitsOf(desc.dataType) < 8 || output.isUpdated)
    return false;
  return llvm::all_of(problem.arguments, [&](const ArgumentInfo &argument) {
    return argument.isOutput || argument.desc.dataType != desc.dataType || !argument.desc.sameLayout(desc);
  });
}

SmallVector<Type> emission::argumentTypesToFill(const VerifiedProblem &problem, MLIRContext *context) {
  SmallVector<Type> types = argumentTypes(problem, context);
  for (auto [type, argument] : llvm::zip_equal(types, problem.arguments))
    if (argument.isOutput && fillsPadding(problem))
      type = memrefOf(argument.desc, context, Reach::Padding);
  return types;
}

Operand emission::filledOutput(FunctionEmitter &function, int32_t index, ArrayRef<int64_t> space) {
  if (!fillsPadding(function.problem))
    return function.tensor(index, space);
  OpBuilder &builder = function.builder;
  Value memref = function.find(index);
  const TensorDesc &desc = function.descOf(index);
  Value zero =
      arith::ConstantOp::create(builder, function.loc, builder.getZeroAttr(elementType(desc.dataType, builder)));
  linalg::FillOp::create(builder, function.loc, zero, memref);
  return {memref, mapOf(desc, space, builder.getContext(), Reach::Padding)};
}
