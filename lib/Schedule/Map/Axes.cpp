//===- Axes.cpp - An elementwise op as strides along axes ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The match proves the assumptions of emission: every operand is an argument whose address is a sum of digits of the
// loops; no element is written twice; the destination is read only at the element that is written; and a merged fill
// writes only elements within the loops, extended to whole blocks of the destination.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Map/Axes.h"

#include "Schedule/Map/Groups.h"

#include "mlir/IR/Matchers.h"

#include <algorithm>

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::maps;

bool Operand::mayAlias(const Operand &other) const {
  return base == other.base || (bytes() == other.bytes() && sameAddress(other));
}

namespace {

using LoopDigits = SmallVector<SmallVector<Digit, 4>, 6>;

class AxisReader {
public:
  AxisReader(const Problem &problem, MapProblem &map, std::string &whyNot, bool ofDevice)
      : problem(problem), map(map), whyNot(whyNot), ofDevice(ofDevice) {}
  LogicalResult read();

private:
  LogicalResult fail(const Twine &why) {
    whyNot = why.str();
    return failure();
  }
  LogicalResult findOp();
  LogicalResult readExtents();
  LogicalResult checkFill();
  LogicalResult drawOut(AffineMap dims, MemRefType type);
  LogicalResult readOperands();
  void addIndices();
  LogicalResult checkAddresses();
  LogicalResult cutLoops();
  LogicalResult cutLoop(unsigned loop);
  void dropUselessLimits();
  void mergeAxes();
  bool canMerge(unsigned outer, unsigned inner) const;
  void dropAxis(unsigned axis);
  void chooseSource();

  const Problem &problem;
  MapProblem &map;
  std::string &whyNot;
  bool ofDevice;
  const ProblemOp *own = nullptr;
  linalg::FillOp fill;
  Sizes extents;  ///< extents of the loops
  Sizes drawnOut; ///< extents of the loops including the padding that a merged fill writes
};

LogicalResult AxisReader::findOp() {
  if (!problem.whyNot.empty())
    return fail(problem.whyNot);
  own = &problem.ops.back();
  if (problem.ops.size() > 1)
    fill = dyn_cast<linalg::FillOp>(problem.ops.front().op.getOperation());
  if (problem.ops.size() > (fill ? 2 : 1))
    return fail("there are several ops");
  map.function = problem.function;
  map.prologue = problem.prologue;
  map.op = own->op;
  if (map.op.getNumParallelLoops() != map.op.getNumLoops() || map.op.getNumDpsInits() != 1)
    return fail("the op reduces, or has several results");
  return success();
}

/// Reads the loops' extents. An open loop gets the size of the destination's dim that it indexes.
LogicalResult AxisReader::readExtents() {
  extents = own->extents;
  if (fill && anyOpen(extents))
    return fail("there is a fill, and sizes are known only at execution");
  OpOperand *destination = map.op.getDpsInitOperand(0);
  const Sizes shape = problem.sizes.layoutOf(destination->get()).shape;
  for (auto [expr, size] : llvm::zip_equal(map.op.getMatchingIndexingMap(destination).getResults(), shape))
    if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && size.isOpen() && extents[dim.getPosition()].isOpen())
      extents[dim.getPosition()] = size;
  bool isTold = llvm::none_of(extents, [](Size extent) { return extent.isUntold(); });
  return isTold ? success() : fail("a size that is known only at execution is split into blocks");
}

/// Computes `drawnOut`, the loops' extents including the padding of the destination's blocks. Fails unless these loops
/// write every element of the destination, like the fill.
LogicalResult AxisReader::drawOut(AffineMap dims, MemRefType type) {
  LoopDigits digits(extents.size());
  bool isPlain = true;
  for (auto [expr, size] : llvm::zip_equal(dims.getResults(), type.getShape())) {
    int64_t offset = 0;
    unsigned terms = 0;
    auto add = [&](unsigned loop, Digit digit) {
      ++terms;
      isPlain &= !digit.shift;
      digit.stride = size;
      digits[loop].push_back(digit);
    };
    isPlain &= succeeded(readDigits(expr, 1, offset, add)) && !offset && (terms == 1 || (terms == 0 && size == 1));
  }
  for (auto [loop, own] : llvm::enumerate(digits)) {
    llvm::sort(own, [](const Digit &a, const Digit &b) { return a.unit < b.unit; });
    int64_t end = 1;
    for (auto [i, digit] : llvm::enumerate(own)) {
      int64_t size = digit.stride;
      isPlain &=
          digit.unit == end && (i + 1 == own.size() ? !digit.modulus || size <= digit.modulus : size == digit.modulus);
      end *= size;
    }
    isPlain &= end >= extents[loop].known();
    drawnOut[loop] = end;
  }
  return isPlain ? success() : fail("a fill writes more than the op's result and its padding");
}

LogicalResult AxisReader::checkFill() {
  OpOperand *destination = map.op.getDpsInitOperand(0);
  if (!fill)
    return success();
  if (fill.getOutputs()[0] != destination->get())
    return fail("a fill does not write the destination");
  if (!matchPattern(fill.getInputs()[0], m_Constant(&map.padding)))
    return fail("a fill value is not a constant");
  if (!map.op.getMatchingBlockArgument(destination).use_empty())
    return fail("the op reads the value of a fill");
  return drawOut(map.op.getMatchingIndexingMap(destination), cast<MemRefType>(destination->get().getType()));
}

/// Adds each loop index that the body reads as an operand with stride 1 along its loop and 0 along all others.
void AxisReader::addIndices() {
  for (auto index : map.op.getBlock()->getOps<linalg::IndexOp>()) {
    Operand out;
    out.base = index.getResult();
    for (auto [loop, extent] : llvm::enumerate(extents))
      out.loops.push_back(AccessFunction(Digit{1, 0, loop == index.getDim() ? 1 : 0}, extent));
    map.operands.push_back(out);
  }
}

LogicalResult AxisReader::readOperands() {
  for (OpOperand &operand : map.op->getOpOperands()) {
    BlockArgument element = map.op.getMatchingBlockArgument(&operand);
    bool isDestination = map.op.isDpsInit(&operand);
    if (isDestination)
      addIndices();
    if (!isDestination && element.use_empty())
      continue; // only determines extents of loops; its memory is not read
    Operand out;
    static_cast<LoopAccess &>(out) =
        isDestination && fill ? readAccess(operand, drawnOut, problem.sizes) : own->at(operand);
    out.blockArgument = element.getArgNumber();
    if (!out.whyNot.empty())
      return fail(out.whyNot);
    if (out.isScalar()) {
      map.scalars.push_back({out.blockArgument, out.base});
      continue;
    }
    const bool isTable = ofDevice && !isDestination && out.base.getDefiningOp<memref::GetGlobalOp>();
    if (out.isView || !(isa<BlockArgument>(out.base) || isTable))
      return fail("operand #" + Twine(operand.getOperandNumber()) + " is not an argument");
    map.operands.push_back(out);
    map.readsOld |= isDestination && !element.use_empty();
  }
  return checkAddresses();
}

LogicalResult AxisReader::checkAddresses() {
  Operand &destination = map.destination();
  for (auto [loop, extent] : llvm::enumerate(drawnOut))
    if (extent.mayExceed(1) && !destination.loops[loop].tellsAllApart())
      return fail("the destination does not vary along loop " + Twine(loop));
  for (const Operand &in : ArrayRef(map.operands).drop_back()) {
    if (in.base == destination.base && !in.sameAddress(destination))
      return fail("an argument is read at a different point than it is overwritten");
    map.mayBeInPlace |= in.mayAlias(destination);
  }
  return success();
}

/// Splits a loop at its cuts and adds an axis for each part, and the loop's limit. A loop of one index has no axis.
LogicalResult AxisReader::cutLoop(unsigned loop) {
  const Size extent = drawnOut[loop];
  if (extent == 1)
    return success();
  SmallVector<const AccessFunction *> functions;
  for (const Operand &operand : map.operands)
    functions.push_back(&operand.loops[loop]);
  Numbers cuts = commonCuts(functions); // none for an open loop, which no operand accesses in blocks
  llvm::erase_if(cuts, [&](int64_t cut) { return !extent.mayExceed(cut); });
  if (!cuts.empty() && anyOpen(llvm::map_to_vector(functions, [](const auto *function) { return function->step(); })))
    return fail("loop " + Twine(loop) +
                " is split into blocks, and an operand's stride along it is known only at execution");
  cuts.insert(cuts.begin(), 1);
  Limit limit{Numbers(map.axes.size(), 0)};
  for (size_t i = 0; i < cuts.size(); ++i) {
    bool isLast = i + 1 == cuts.size();
    Axis axis{extent};
    if (cuts.size() > 1)
      axis.extent = llvm::divideCeil(isLast ? extent.known() : cuts[i + 1], cuts[i]);
    for (Operand &operand : map.operands) {
      AccessFunction function = functionFromCut(operand.loops[loop], cuts[i], axis.extent, isLast);
      operand.addDim(function);
      axis.isNonlinear |= !function.isLinear();
    }
    map.axes.push_back(axis);
    limit.weights.push_back(cuts[i]);
  }
  if (extent.isOpen())
    return success();
  limit.read = extents[loop].known();
  limit.write = extent.known();
  map.limits.push_back(limit);
  return success();
}

LogicalResult AxisReader::cutLoops() {
  for (unsigned loop = 0; loop < drawnOut.size(); ++loop)
    if (failed(cutLoop(loop)))
      return failure();
  for (Limit &limit : map.limits)
    limit.weights.resize(map.axes.size(), 0);
  return success();
}

void AxisReader::dropUselessLimits() {
  llvm::erase_if(map.limits, [&](const Limit &limit) { return limit.highest(map.axes) < limit.read; });
}

void AxisReader::dropAxis(unsigned axis) {
  map.axes.erase(map.axes.begin() + axis);
  for (Limit &limit : map.limits)
    limit.weights.erase(limit.weights.begin() + axis);
  for (Operand &operand : map.operands)
    operand.dropDim(axis);
}

bool AxisReader::canMerge(unsigned outer, unsigned inner) const {
  if (outer == inner || anyOpen({map.axes[outer].extent, map.axes[inner].extent}))
    return false;
  const int64_t extent = map.axes[inner].extent.known();
  return llvm::all_of(map.operands, [&](const Operand &o) { return o.followsOn(outer, inner, extent); }) &&
         llvm::all_of(map.limits, [&](const Limit &l) { return l.weights[outer] == l.weights[inner] * extent; });
}

void AxisReader::mergeAxes() {
  for (unsigned a = map.axes.size(); a-- > 0;)
    if (map.axes[a].extent == 1)
      dropAxis(a);
  for (bool merged = true; merged;) {
    merged = false;
    for (unsigned outer = 0; outer < map.axes.size() && !merged; ++outer)
      for (unsigned inner = 0; inner < map.axes.size() && !merged; ++inner) {
        merged = canMerge(outer, inner);
        if (!merged)
          continue;
        map.axes[inner].extent = map.axes[inner].extent.known() * map.axes[outer].extent.known();
        dropAxis(outer);
      }
  }
}

/// Chooses the largest input. If several are equally large, one that is not contiguous along the destination's
/// contiguous axis is preferred, because it needs the transposition.
void AxisReader::chooseSource() {
  auto contiguous = [&](const Operand &o) { return llvm::find(o.strides, 1) - o.strides.begin(); };
  auto size = [&](const Operand &o) {
    int64_t bytes = o.bytes();
    for (auto [axis, stride] : llvm::zip_equal(map.axes, o.strides))
      bytes *= stride != 0 || axis.isNonlinear ? axis.extent.typical() : 1;
    return bytes;
  };
  auto rank = [&](const Operand &o) { return std::make_pair(size(o), contiguous(o) != contiguous(map.destination())); };
  map.source = map.operands.size() - 1;
  for (unsigned i = 0; i + 1 < map.operands.size(); ++i)
    if (!map.operands[i].isIndex() &&
        (map.source + 1 == map.operands.size() || rank(map.operands[map.source]) < rank(map.operands[i])))
      map.source = i;
  Block *body = map.op.getBlock();
  map.isCopy = body->without_terminator().empty() && map.source + 1 < map.operands.size() &&
               body->getTerminator()->getOperand(0) == body->getArgument(map.operands[map.source].blockArgument);
}

LogicalResult AxisReader::read() {
  if (failed(findOp()) || failed(readExtents()))
    return failure();
  drawnOut = extents;
  if (failed(checkFill()) || failed(readOperands()) ||
      failed(checkBody(*map.op.getBlock(), whyNot, /*takesIndices=*/true)) || failed(cutLoops()))
    return failure();
  dropUselessLimits();
  mergeAxes();
  chooseSource();
  return success();
}

} // namespace

bool MapProblem::hasOpenSizes() const {
  return anyOpen(llvm::map_to_vector(axes, [](const Axis &axis) { return axis.extent; })) ||
         llvm::any_of(operands,
                      [](const Operand &operand) { return operand.offset.isOpen() || anyOpen(operand.strides); });
}

int64_t MapProblem::points() const {
  int64_t points = 1;
  for (const Axis &axis : axes)
    points *= axis.extent.known();
  return points;
}

int64_t MapProblem::widestBits() const {
  int64_t bits = 8;
  auto see = [&](Type type) { bits = std::max<int64_t>(bits, type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0); };
  for (const Operand &operand : operands)
    see(operand.element());
  for (Operation &operation : linalg::LinalgOp(op).getBlock()->without_terminator())
    for (Type type : operation.getResultTypes())
      see(type);
  return bits;
}

int64_t Limit::highest(ArrayRef<Axis> axes) const {
  int64_t sum = 0;
  for (auto [axis, weight] : llvm::zip_equal(axes, weights))
    sum += weight ? weight * (axis.extent.known() - 1) : 0;
  return sum;
}

LogicalResult quern::schedule::maps::readMap(const Problem &problem, MapProblem &map, std::string &whyNot,
                                             bool ofDevice) {
  return AxisReader(problem, map, whyNot, ofDevice).read();
}

int64_t LaneGroup::sum(int64_t lane, ArrayRef<int64_t> perAxis) const {
  int64_t sum = 0;
  for (const Part &part : parts) {
    sum += lane % part.count * perAxis[part.axis];
    lane /= part.count;
  }
  return sum;
}

int64_t LaneGroup::sum(int64_t lane, ArrayRef<Size> strides) const {
  int64_t sum = 0;
  for (const Part &part : parts) {
    sum += lane % part.count * strides[part.axis].known();
    lane /= part.count;
  }
  return sum;
}
