//===- RandomChain.cpp - Random chains of linalg ops along rows -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Values are operands of ops: arguments and intermediates, each with the dims that it varies along. An op reads a few
// of them, extends them to the compute type, combines them with random arithmetic and limits the result to [-1, 1].
//
//===----------------------------------------------------------------------===//
#include "RandomChain.h"

#include "Support/NarrowFloat.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

using namespace quern;
using namespace quern::test;

namespace {

/// An operand of ops. `loops` are those that it varies along, in the order of its map.
struct ChainValue {
  std::string name, memref;
  Element element;
  std::vector<int> loops;
  std::vector<std::string> results; ///< results of its map, one per dim of the memref
  bool broadcast = false;           ///< true if it broadcasts along some dim of the memref
  bool has(int loop) const { return std::find(loops.begin(), loops.end(), loop) != loops.end(); }
};

class Generator : Dice {
public:
  explicit Generator(uint64_t seed) : Dice(seed) {}
  RandomChain run();

private:
  std::string fresh(const char *stem) { return "%" + std::string(stem) + std::to_string(counter++); }

  void chooseSpace();
  void chooseTypes();
  Element argumentType();
  std::vector<int> allLoops();
  std::vector<int> rowLoops();
  ChainValue addArgument(std::vector<int> loops, bool isOutput);
  std::vector<int64_t> randomUnits();
  std::string layOut(ChainValue &value, bool isOutput, int64_t &count);
  ChainValue alloc(std::vector<int> loops);
  ChainValue output(std::vector<int> loops);
  void addInputs();
  void addElementwise(bool last);
  void addPerRow();
  void addReduction();
  std::vector<ChainValue> chooseOperands(bool perRow);
  std::string generic(const std::vector<ChainValue> &ins, const std::vector<ChainValue> &outs,
                      const std::vector<int> &loops, bool reduces);
  std::string blockArguments(const std::vector<ChainValue> &ins, const std::vector<ChainValue> &outs);
  std::string fold(size_t operands);
  std::string unary(const std::string &x);
  std::string binary(const std::string &x, const std::string &y);
  std::string squash(const std::string &x);
  std::string op(const std::string &text);
  std::string constant(double value);
  std::string widened(const std::string &name, Element from);
  std::string narrowed(const std::string &name, Element to);

  RandomChain chain;
  int counter = 0;
  std::vector<int64_t> extents;
  int row = 0;
  Element compute = Element::F32;
  bool usesPin = false;
  std::vector<ChainValue> values;
  std::vector<Element> operandTypes;
  std::string signature, constants, body, code;
};

void Generator::chooseSpace() {
  static const std::vector<int64_t> rows = {1,  2,  3,  5,  7,  8,  9,   15,  16,  17,  31,
                                            32, 33, 48, 63, 64, 65, 100, 130, 300, 1100};
  static const std::vector<int64_t> parallels = {1, 2, 3, 4, 5, 8, 9, 16, 17, 33, 40};
  int64_t rank = pick(1, 4), points = 1;
  row = static_cast<int>(pick(0, rank - 1));
  for (int64_t loop = 0; loop < rank; ++loop) {
    int64_t extent = oneOf(loop == row ? rows : parallels);
    extents.push_back(points * extent > 20000 ? 1 : extent);
    points *= extents.back();
  }
}

void Generator::chooseTypes() { compute = chance(25) ? Element::F64 : Element::F32; }

/// Draws the type of an argument: in half of the cases the compute type.
Element Generator::argumentType() {
  if (chance(50))
    return compute;
  static const std::vector<Element> narrower = {Element::F32, Element::BF16, Element::F16, Element::S8, Element::U8};
  return oneOf(narrower);
}

std::vector<int> Generator::allLoops() {
  std::vector<int> loops(extents.size());
  std::iota(loops.begin(), loops.end(), 0);
  return loops;
}

std::vector<int> Generator::rowLoops() {
  std::vector<int> loops = allLoops();
  loops.erase(loops.begin() + row);
  return loops;
}

/// Returns the units of the digits of a blocked loop, starting with 1: mostly blocks of a power of two, sometimes
/// nested or odd blocks.
std::vector<int64_t> Generator::randomUnits() {
  int64_t block = chance(20) ? pick(2, 24) : int64_t(1) << pick(2, 4);
  if (!chance(25))
    return {1, block};
  return {1, block, block * pick(2, 4)};
}

/// Sets the map of `value`; returns its memref type.
std::string Generator::layOut(ChainValue &value, bool isOutput, int64_t &count) {
  RandomLayout layout = drawLayout(*this, {50, 25, 5}, value.element, value.loops, extents, isOutput,
                                   [&] { return chance(15) ? randomUnits() : std::vector<int64_t>(); });
  usesPin |= layout.isBlocked;
  value.broadcast |= layout.isBroadcast;
  value.results = layout.results;
  count = layout.count;
  return layout.memref;
}

ChainValue Generator::addArgument(std::vector<int> loops, bool isOutput) {
  ChainValue value;
  value.name = "%arg" + std::to_string(chain.arguments.size());
  value.loops = std::move(loops);
  value.element = argumentType();
  ChainArgument argument;
  // Some outputs have the layout of an input that varies along the same loops: the two may share a buffer.
  for (size_t i = 0; isOutput && i < values.size() && argument.aliasOf < 0; ++i)
    if (values[i].loops == value.loops && i < chain.arguments.size() && !chain.arguments[i].isOutput &&
        !values[i].broadcast && chance(50)) {
      argument = chain.arguments[i];
      argument.aliasOf = static_cast<int>(i);
      value.element = values[i].element, value.memref = values[i].memref, value.results = values[i].results;
    }
  if (argument.aliasOf < 0)
    value.memref = layOut(value, isOutput, argument.count);
  argument.element = value.element;
  argument.isOutput = isOutput;
  chain.arguments.push_back(argument);
  signature += (signature.empty() ? "" : ", ") + value.name + ": " + value.memref;
  return value;
}

ChainValue Generator::alloc(std::vector<int> loops) {
  ChainValue value{fresh("value"), "memref<", compute, std::move(loops), {}, false};
  for (int loop : value.loops) {
    value.memref += std::to_string(extents[loop]) + "x";
    value.results.push_back("d" + std::to_string(loop));
  }
  value.memref += std::string(nameOf(compute)) + ">";
  body += "  " + value.name + " = memref.alloc() : " + value.memref + "\n";
  return value;
}

/// Returns the result of an op: usually an intermediate, sometimes an argument that later ops read.
ChainValue Generator::output(std::vector<int> loops) {
  return chance(15) ? addArgument(std::move(loops), true) : alloc(std::move(loops));
}

/// First adds inputs over all loops, then some over any of the loops.
void Generator::addInputs() {
  for (int64_t i = pick(1, 2); i-- > 0;)
    values.push_back(addArgument(allLoops(), false));
  for (int64_t i = pick(0, 2); i-- > 0;) {
    std::vector<int> loops;
    for (int loop : allLoops())
      if (chance(50))
        loops.push_back(loop);
    values.push_back(addArgument(loops, false));
  }
}

std::vector<ChainValue> Generator::chooseOperands(bool perRow) {
  std::vector<ChainValue> candidates;
  for (const ChainValue &value : values)
    if (!perRow || !value.has(row))
      candidates.push_back(value);
  std::vector<ChainValue> chosen;
  // The latest value is chosen often, so that chains become deep.
  for (int64_t i = pick(1, 3); i-- > 0 && !candidates.empty();)
    chosen.push_back(chance(50) ? candidates.back() : oneOf(candidates));
  return chosen;
}

std::string Generator::constant(double value) {
  std::string name = fresh("constant");
  constants += "  " + name + " = arith.constant " + std::to_string(value) + " : " + nameOf(compute) + "\n";
  return name;
}

std::string Generator::op(const std::string &text) {
  std::string name = fresh("x");
  code += "    " + name + " = " + text + " : " + nameOf(compute) + "\n";
  return name;
}

/// Emits the conversion of a value to the compute type; integers represent multiples of 1/64. Returns its name.
std::string Generator::widened(const std::string &name, Element from) {
  if (from == compute)
    return name;
  bool isInteger = from == Element::S8 || from == Element::U8;
  std::string wide = fresh("wide"), conversion = from == Element::S8 ? "arith.sitofp "
                                                 : isInteger         ? "arith.uitofp "
                                                                     : "arith.extf ";
  code += "    " + wide + " = " + conversion + name + " : " + nameOf(from) + " to " + nameOf(compute) + "\n";
  return isInteger ? op("arith.mulf " + wide + ", " + constant(1.0 / 64)) : wide;
}

std::string Generator::narrowed(const std::string &name, Element to) {
  if (to == compute)
    return name;
  bool isInteger = to == Element::S8 || to == Element::U8;
  std::string narrow = fresh("narrow"), from = name, whole = fresh("whole");
  if (isInteger) {
    from = op("arith.mulf " + (to == Element::U8 ? op("math.absf " + name) : name) + ", " + constant(64));
    from = op("math.roundeven " + from);
  }
  if (isInteger && chance(50)) {
    code += "    " + whole + " = arith.fptosi " + from + " : " + nameOf(compute) + " to i32\n";
    code += "    " + narrow + " = arith.trunci " + whole + " : i32 to i8\n";
    return narrow;
  }
  std::string conversion = to == Element::S8 ? "arith.fptosi " : isInteger ? "arith.fptoui " : "arith.truncf ";
  code += "    " + narrow + " = " + conversion + from + " : " + nameOf(compute) + " to " + nameOf(to) + "\n";
  return narrow;
}

std::string Generator::unary(const std::string &x) {
  switch (pick(0, 5)) {
  case 0:
    return op("math.exp " + op("arith.negf " + op("math.absf " + x)) +
              (chance(50) ? " {quern.relax = #quern.relax<nonpositive>}" : ""));
  case 1:
    return op("math.log " + op("arith.addf " + op("math.absf " + x) + ", " + constant(1)));
  case 2:
    return op("math.sqrt " +
              op("arith.addf " + op("arith.mulf " + x + ", " + x + " fastmath<contract>") + ", " + constant(0.5)));
  case 3:
    return op("arith.mulf " + x + ", " + constant(1.25));
  default:
    return x;
  }
}

std::string Generator::binary(const std::string &x, const std::string &y) {
  static const std::vector<std::string> ops = {"arith.addf ", "arith.subf ", "arith.mulf ", "arith.maximumf ",
                                               "arith.minimumf "};
  if (!chance(10))
    return op(oneOf(ops) + x + ", " + y);
  std::string larger = fresh("larger"), result = fresh("x");
  code += "    " + larger + " = arith.cmpf ogt, " + x + ", " + y + " : " + nameOf(compute) + "\n";
  code += "    " + result + " = arith.select " + larger + ", " + x + ", " + y + " : " + nameOf(compute) + "\n";
  return result;
}

std::string Generator::squash(const std::string &x) {
  return op("arith.divf " + x + ", " + op("arith.addf " + op("math.absf " + x) + ", " + constant(1)));
}

/// Combines the operands (%in0, …) to one value in [-1, 1].
std::string Generator::fold(size_t operands) {
  std::string result = unary(widened("%in0", operandTypes[0]));
  for (size_t i = 1; i < operands; ++i)
    result = binary(result, unary(widened("%in" + std::to_string(i), operandTypes[i])));
  return squash(result);
}

std::string Generator::blockArguments(const std::vector<ChainValue> &ins, const std::vector<ChainValue> &outs) {
  std::vector<std::string> parts;
  operandTypes.clear();
  for (const ChainValue &in : ins) {
    parts.push_back("%in" + std::to_string(parts.size()) + ": " + nameOf(in.element));
    operandTypes.push_back(in.element);
  }
  if (usesPin)
    parts.push_back("%unread: i8");
  for (size_t i = 0; i < outs.size(); ++i)
    parts.push_back("%out" + std::to_string(i) + ": " + nameOf(outs[i].element));
  return join(parts);
}

/// Returns the op up to its body. If any layout has blocks, an unread operand defines the extents of the loops.
std::string Generator::generic(const std::vector<ChainValue> &ins, const std::vector<ChainValue> &outs,
                               const std::vector<int> &loops, bool reduces) {
  std::vector<std::string> dims, maps, kinds, inNames, inTypes, outNames, outTypes;
  std::string pinShape;
  for (int loop : loops) {
    dims.push_back("d" + std::to_string(loop));
    kinds.push_back(reduces && loop == row ? "\"reduction\"" : "\"parallel\"");
    pinShape += std::to_string(extents[loop]) + "x";
  }
  auto addMap = [&](const std::vector<std::string> &results) {
    maps.push_back("affine_map<(" + join(dims) + ") -> (" + join(results) + ")>");
  };
  for (const ChainValue &in : ins) {
    addMap(in.results);
    inNames.push_back(in.name), inTypes.push_back(in.memref);
  }
  if (usesPin) {
    std::string pin = fresh("pin");
    body += "  " + pin + " = memref.alloc() : memref<" + pinShape + "i8>\n";
    addMap(dims);
    inNames.push_back(pin), inTypes.push_back("memref<" + pinShape + "i8>");
  }
  for (const ChainValue &out : outs) {
    addMap(out.results);
    outNames.push_back(out.name), outTypes.push_back(out.memref);
  }
  return "  linalg.generic {indexing_maps = [" + join(maps) + "], iterator_types = [" + join(kinds) + "]}\n      ins(" +
         join(inNames) + " : " + join(inTypes) + ") outs(" + join(outNames) + " : " + join(outTypes) + ") {\n  ^bb0(" +
         blockArguments(ins, outs) + "):\n";
}

void Generator::addElementwise(bool last) {
  std::vector<ChainValue> ins = chooseOperands(false);
  if (last)
    ins.front() = values.back(); // the end of the chain depends on the rest
  ChainValue out = last ? addArgument(allLoops(), true) : output(allLoops());
  std::string head = generic(ins, {out}, allLoops(), false);
  code.clear();
  std::string result = narrowed(fold(ins.size()), out.element);
  body += head + code + "    linalg.yield " + result + " : " + nameOf(out.element) + "\n  }\n";
  values.push_back(out);
}

void Generator::addPerRow() {
  std::vector<ChainValue> ins = chooseOperands(true);
  if (ins.empty())
    return;
  ChainValue out = output(rowLoops());
  std::string head = generic(ins, {out}, rowLoops(), false);
  code.clear();
  std::string result = narrowed(fold(ins.size()), out.element);
  body += head + code + "    linalg.yield " + result + " : " + nameOf(out.element) + "\n  }\n";
  values.push_back(out);
}

void Generator::addReduction() {
  std::vector<ChainValue> ins = chooseOperands(false), outs;
  if (std::none_of(ins.begin(), ins.end(), [&](const ChainValue &value) { return value.has(row); }))
    ins.push_back(values.front());
  static const std::vector<std::string> kinds = {"sum", "sum", "maxnumf", "minnumf", "maximumf", "minimumf"};
  std::vector<std::string> combiners, results, types;
  for (int64_t i = chance(20) ? 2 : 1; i-- > 0;) {
    combiners.push_back(oneOf(kinds));
    outs.push_back(alloc(rowLoops()));
    std::string start = constant(combiners.back() == "sum" ? 0 : combiners.back()[1] == 'a' ? -4 : 4);
    body += "  linalg.fill ins(" + start + " : " + nameOf(compute) + ") outs(" + outs.back().name + " : " +
            outs.back().memref + ")\n";
  }
  std::string head = generic(ins, outs, allLoops(), true);
  code.clear();
  std::string term = fold(ins.size());
  for (size_t i = 0; i < outs.size(); ++i) {
    std::string accumulator = "%out" + std::to_string(i);
    if (combiners[i] == "sum") {
      std::string share = op("arith.mulf " + term + ", " + constant(1.0 / static_cast<double>(extents[row])));
      bool swap = chance(50);
      results.push_back(op("arith.addf " + (swap ? accumulator : share) + ", " + (swap ? share : accumulator) +
                           " fastmath<reassoc>"));
    } else {
      results.push_back(op("arith." + combiners[i] + " " + term + ", " + accumulator));
    }
    types.push_back(nameOf(compute));
  }
  body += head + code + "    linalg.yield " + join(results) + " : " + join(types) + "\n  }\n";
  values.insert(values.end(), outs.begin(), outs.end());
}

RandomChain Generator::run() {
  chooseSpace();
  chooseTypes();
  addInputs();
  int64_t reductions = pick(0, 9) ? pick(1, 3) : 0;
  for (int64_t i = 0; i < reductions; ++i) {
    if (chance(40))
      addElementwise(false);
    addReduction();
    if (chance(40))
      addPerRow();
  }
  if (chance(30))
    addElementwise(false);
  addElementwise(true);
  chain.text = "func.func @chain(" + signature + ") {\n" + constants + body + "  return\n}\n";
  chain.tolerance = compute == Element::F64 ? 1e-12 : 2e-5;
  for (const ChainArgument &argument : chain.arguments)
    if (argument.isOutput)
      chain.tolerance = std::max(chain.tolerance, bytesOf(argument.element) <= 2     ? 0.03
                                                  : argument.element == Element::F32 ? 2e-5
                                                                                     : 0);
  return chain;
}

} // namespace

int64_t quern::test::bytesOf(Element element) {
  return element == Element::F64                            ? 8
         : element == Element::F32                          ? 4
         : element == Element::S8 || element == Element::U8 ? 1
                                                            : 2;
}

double quern::test::loadElement(const char *buffer, int64_t index, Element element) {
  const char *at = buffer + index * bytesOf(element);
  if (element == Element::F64) {
    double value;
    std::memcpy(&value, at, sizeof(value));
    return value;
  }
  if (element == Element::F32) {
    float value;
    std::memcpy(&value, at, sizeof(value));
    return static_cast<double>(value);
  }
  if (bytesOf(element) == 1)
    return (element == Element::S8 ? static_cast<int8_t>(*at) : static_cast<uint8_t>(*at)) / 64.0;
  uint16_t bits;
  std::memcpy(&bits, at, sizeof(bits));
  return decodeNarrow(bits, element == Element::BF16 ? bf16Format : f16Format);
}

void quern::test::storeElement(char *buffer, int64_t index, Element element, double value) {
  char *at = buffer + index * bytesOf(element);
  if (element == Element::F64) {
    std::memcpy(at, &value, sizeof(value));
  } else if (element == Element::F32) {
    float narrow = static_cast<float>(value);
    std::memcpy(at, &narrow, sizeof(narrow));
  } else if (element == Element::S8) {
    *at = static_cast<char>(std::clamp(std::round(value * 64), -128.0, 127.0));
  } else if (element == Element::U8) {
    *at = static_cast<char>(static_cast<uint8_t>(std::round(std::abs(value) * 64)));
  } else {
    uint16_t bits = static_cast<uint16_t>(encodeNarrow(value, element == Element::BF16 ? bf16Format : f16Format));
    std::memcpy(at, &bits, sizeof(bits));
  }
}

RandomChain quern::test::makeRandomChain(uint64_t seed) { return Generator(seed).run(); }
