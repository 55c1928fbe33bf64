//===- RandomMap.cpp - Random elementwise linalg ops ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Layouts are drawn like those of RandomChain; shapes are like those of reorders: many dims, long and short ones,
// mostly with blocks of powers of two.
//
//===----------------------------------------------------------------------===//
#include "RandomMap.h"

#include <algorithm>
#include <numeric>
#include <random>

using namespace quern;
using namespace quern::test;

namespace {

struct Operand {
  std::string memref;
  Element element = Element::F32;
  std::vector<int> loops;
  std::vector<std::string> results; ///< results of its map
  bool isBlocked = false, isBroadcast = false, isShifted = false;
};

class Generator : Dice {
public:
  explicit Generator(uint64_t seed) : Dice(seed) {}
  RandomMap run();

private:
  void chooseSpace();
  Element chooseElement() {
    return oneOf<Element>({Element::F32, Element::F32, Element::F64, Element::BF16, Element::F16, Element::S8});
  }
  std::vector<int64_t> randomUnits();
  Operand layOut(Element element, std::vector<int> loops, bool isOutput, ChainArgument &argument);
  void addOperand(Element element, const std::vector<int> &loops, bool isOutput);
  std::vector<int> someLoops();
  std::string op(const std::string &text, const std::string &type);
  std::string widened(const std::string &name, Element from);
  std::string narrowed(const std::string &name, Element to);
  std::string bodyOf(bool isCopy, bool readsOld);

  RandomMap map;
  std::vector<int64_t> extents;
  std::vector<Operand> operands;
  Element compute = Element::F32;
  std::string constants, code;
  int counter = 0;
};

void Generator::chooseSpace() {
  static const std::vector<int64_t> all = {1,  2,  3,  4,  5,  7,  8,  9,  15, 16,  17,
                                           20, 31, 32, 33, 40, 48, 63, 64, 65, 100, 130};
  int64_t points = 1, rank = pick(1, 6), maxPoints = chance(20) ? 60000 : 6000;
  for (int64_t loop = 0; loop < rank; ++loop) {
    int64_t extent = oneOf(all);
    extents.push_back(points * extent > maxPoints ? 1 : extent);
    points *= extents.back();
  }
  std::shuffle(extents.begin(), extents.end(), random);
}

std::vector<int64_t> Generator::randomUnits() {
  int64_t block = chance(15) ? pick(2, 24) : chance(30) ? 16 * pick(1, 4) : int64_t(1) << pick(1, 4);
  if (!chance(30))
    return {1, block};
  return {1, block, block * pick(2, 4)};
}

Operand Generator::layOut(Element element, std::vector<int> loops, bool isOutput, ChainArgument &argument) {
  bool mayBlock = chance(60);
  RandomLayout layout = drawLayout(*this, {60, 20, 3, 20}, element, loops, extents, isOutput,
                                   [&] { return mayBlock && chance(50) ? randomUnits() : std::vector<int64_t>(); });
  argument.count = layout.count;
  return {layout.memref,      element,         std::move(loops), layout.results, layout.isBlocked,
          layout.isBroadcast, layout.isShifted};
}

void Generator::addOperand(Element element, const std::vector<int> &loops, bool isOutput) {
  ChainArgument argument;
  argument.element = element;
  argument.isOutput = isOutput;
  const Operand *like = isOutput && chance(20) && !operands[0].isBroadcast ? &operands.front() : nullptr;
  if (like) { // the same layout: the two may share a buffer
    argument.element = like->element;
    argument.count = map.arguments[0].count;
    argument.aliasOf = 0;
    operands.emplace_back(*like);
  } else {
    constexpr int64_t maxElements = 200000; // blocks of short dims are mostly padding
    Operand drawn = layOut(element, loops, isOutput, argument);
    while (argument.count > maxElements)
      drawn = layOut(element, loops, isOutput, argument);
    operands.push_back(std::move(drawn));
  }
  map.arguments.push_back(argument);
}

std::vector<int> Generator::someLoops() {
  std::vector<int> loops;
  for (size_t loop = 0; loop < extents.size(); ++loop)
    if (chance(40))
      loops.push_back(static_cast<int>(loop));
  return loops;
}

std::string Generator::op(const std::string &text, const std::string &type) {
  std::string name = "%x" + std::to_string(counter++);
  code += "    " + name + " = " + text + " : " + type + "\n";
  return name;
}

std::string Generator::widened(const std::string &name, Element from) {
  std::string wide = nameOf(compute);
  if (from == compute)
    return name;
  if (from == Element::S8)
    return op("arith.sitofp " + name, "i8 to " + wide);
  return from == Element::F64 ? op("arith.truncf " + name, "f64 to " + wide)
                              : op("arith.extf " + name, std::string(nameOf(from)) + " to " + wide);
}

/// Emits the conversion of a value from the compute type and returns its name. Values are too small to saturate.
std::string Generator::narrowed(const std::string &name, Element to) {
  std::string wide = nameOf(compute);
  if (to == compute)
    return name;
  if (to == Element::S8) {
    std::string whole = op("arith.fptosi " + op("math.roundeven " + name, wide), wide + " to i32");
    return op("arith.trunci " + whole, "i32 to i8");
  }
  return to == Element::F64 ? op("arith.extf " + name, wide + " to f64")
                            : op("arith.truncf " + name, wide + " to " + nameOf(to));
}

std::string Generator::bodyOf(bool isCopy, bool readsOld) {
  if (isCopy)
    return "%in0";
  std::string wide = nameOf(compute), result = widened("%in0", operands[0].element);
  for (size_t i = 1; i + 1 < operands.size(); ++i) {
    std::string other = widened("%in" + std::to_string(i), operands[i].element);
    result = op(oneOf<std::string>({"arith.addf ", "arith.subf ", "arith.mulf "}) + result + ", " + other, wide);
  }
  if (chance(40))
    result = op("arith.mulf " + result + ", %factor", wide);
  if (chance(15)) {
    const std::string at =
        op("linalg.index " + std::to_string(pick(0, static_cast<int64_t>(extents.size()) - 1)), "index");
    const std::string number = op("arith.sitofp " + op("arith.index_cast " + at, "index to i32"), "i32 to " + wide);
    result = op("arith.addf " + result + ", " + number, wide);
  }
  if (readsOld)
    result = op("arith.addf " + result + ", " + widened("%old", operands.back().element), wide);
  return narrowed(result, operands.back().element);
}

RandomMap Generator::run() {
  chooseSpace();
  std::vector<int> all(extents.size());
  std::iota(all.begin(), all.end(), 0);
  bool isCopy = chance(35);
  Element from = chooseElement();
  addOperand(from, all, false);
  for (int64_t i = isCopy ? 0 : pick(0, 2); i > 0; --i)
    addOperand(chooseElement(), chance(30) ? all : someLoops(), false);
  addOperand(isCopy ? from : chooseElement(), all, true);
  for (const Operand &operand : operands)
    if (operand.element == Element::F64)
      compute = Element::F64;
  bool isOutOfPlace = map.arguments.back().aliasOf < 0,
       fills = isOutOfPlace && !operands.back().isShifted && chance(40),
       readsOld = isOutOfPlace && !isCopy && !fills && chance(20);
  std::vector<std::string> dims, kinds, maps, names, types, blockArguments, signature;
  std::string pinShape;
  for (size_t loop = 0; loop < extents.size(); ++loop) {
    dims.push_back("d" + std::to_string(loop));
    kinds.push_back("\"parallel\"");
    pinShape += std::to_string(extents[loop]) + "x";
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    bool isOutput = i + 1 == operands.size();
    if (isOutput) { // defines the extents of the loops
      maps.push_back("affine_map<(" + join(dims) + ") -> (" + join(dims) + ")>");
      names.push_back("%pin"), types.push_back("memref<" + pinShape + "i8>"), blockArguments.push_back("%unread: i8");
    }
    maps.push_back("affine_map<(" + join(dims) + ") -> (" + join(operands[i].results) + ")>");
    signature.push_back("%arg" + std::to_string(i) + ": " + operands[i].memref);
    blockArguments.push_back((isOutput ? "%old" : "%in" + std::to_string(i)) + ": " + nameOf(operands[i].element));
    if (!isOutput)
      names.push_back("%arg" + std::to_string(i)), types.push_back(operands[i].memref);
  }
  std::string result = bodyOf(isCopy, readsOld), element = nameOf(operands.back().element),
              output = "%arg" + std::to_string(operands.size() - 1);
  map.text = "func.func @map(" + join(signature) + ") {\n  %factor = arith.constant 0.75 : " + nameOf(compute) +
             "\n  %pin = memref.alloc() : memref<" + pinShape + "i8>\n";
  if (fills)
    map.text += "  %zero = arith.constant " + std::string(element == "i8" ? "0" : "0.0") + " : " + element +
                "\n  linalg.fill ins(%zero : " + element + ") outs(" + output + " : " + operands.back().memref + ")\n";
  map.text += "  linalg.generic {indexing_maps = [" + join(maps) + "], iterator_types = [" + join(kinds) +
              "]}\n      ins(" + join(names) + " : " + join(types) + ") outs(" + output + " : " +
              operands.back().memref + ") {\n  ^bb0(" + join(blockArguments) + "):\n" + code + "    linalg.yield " +
              result + " : " + element + "\n  }\n  return\n}\n";
  return map;
}

} // namespace

RandomMap quern::test::makeRandomMap(uint64_t seed) { return Generator(seed).run(); }
