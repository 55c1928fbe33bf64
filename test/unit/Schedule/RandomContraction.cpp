//===- RandomContraction.cpp - Random products with elementwise ops -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Factors are in [-2, 2]; results of products are scaled by 1 / K in the epilogue.
//
//===----------------------------------------------------------------------===//
#include "RandomContraction.h"

#include <algorithm>
#include <cmath>

using namespace quern;
using namespace quern::test;

namespace {

std::string number(int64_t value) { return std::to_string(value); }

class Generator : Dice {
public:
  Generator(uint64_t seed, bool isOpen) : Dice(seed), isOpen(isOpen) {}
  RandomContraction run();
  bool mayBeOpen() const { return !isTransposed && rows > 1; }

private:
  void chooseTypes();
  void chooseSpace();
  std::string rowsText() const { return isOpen ? "?" : std::to_string(rows); }
  std::string allocation(const std::string &type) const {
    return std::string("memref.alloc(") + (isOpen ? "%n" : "") + ") : " + type + "\n";
  }
  /// Adds an argument of this shape (outermost first, sometimes with gaps between its rows) and returns its name.
  std::string argument(Element element, const std::vector<int64_t> &shape, bool isOutput = false, int aliasOf = -1,
                       bool mayHaveGaps = true, bool hasRows = true);
  const std::string &typeOf(const std::string &name) const { return types[std::stoul(name.substr(4))]; }
  std::string op(const std::string &text, const std::string &type);
  std::string generic(const std::vector<std::string> &dims, int reduced, const std::vector<std::string> &maps,
                      const std::vector<std::string> &names, const std::vector<std::string> &memrefs, size_t inputs,
                      const std::string &arguments, const std::string &inner);
  std::string widened(const std::string &name, Element from);
  std::string narrowed(const std::string &name, Element to);
  void addProduct(int64_t length);
  void addPart(const std::string &lhs, const std::string &rhs, const std::vector<int64_t> &shape, int64_t firstStep,
               int64_t steps, int64_t used);
  std::pair<std::string, std::string> partOf(const std::string &rhs, std::vector<int64_t> shape, int64_t firstStep,
                                             int64_t steps, int64_t used);
  void addStart();
  void addEpilogue();
  std::string productBody();

  RandomContraction problem;
  std::vector<std::string> types; ///< memref types by argument
  std::string code, body;
  int counter = 0;

  int64_t rows = 1, columns = 1, gates = 1, block = 0, padded = 1, packed = 1;
  Element lhs = Element::F32, rhs = Element::F32;
  bool isOpen;                 ///< rows are written as an open size
  bool separatesGates = false; ///< in rhs: each gate has its own steps, instead of each step all gates
  int64_t terms = 0;           ///< products in a sum
  bool isInteger = false, isDouble = false, isTransposed = false, isStored = false, isRounded = false;
  std::string sum = "f32"; ///< type of the sums
  std::string sums, sumsType, live, liveType;
};

/// Returns the tolerance of a sum of products of values in [-2, 2] whose factors are rounded to bf16. Each product is
/// off by at most 1/64, with a standard deviation of 0.0021; six times the deviation of the sum is practically never
/// exceeded. A missing product changes the sum with a standard deviation of 1.3.
double roundingOf(int64_t terms) {
  const auto count = static_cast<double>(terms);
  return std::min(0.0157 * count, 6 * 0.0021 * std::sqrt(count));
}

void Generator::chooseTypes() {
  int kind = static_cast<int>(pick(0, 9));
  isInteger = kind >= 8;
  isDouble = kind == 7;
  if (isInteger) {
    lhs = oneOf<Element>({Element::U8, Element::U8, Element::S8});
    rhs = oneOf<Element>({Element::S8, Element::S8, Element::U8});
    packed = chance(70) ? 4 : 1;
  } else if (isDouble) {
    lhs = rhs = Element::F64;
  } else if (kind >= 3) {
    lhs = rhs = oneOf<Element>({Element::BF16, Element::BF16, Element::F16});
    if (chance(20))
      lhs = Element::F32;
    packed = chance(70) ? 2 : 1;
  } else if (chance(30)) {
    packed = 2;
    isRounded = chance(60);
  }
  std::mt19937_64 another = random; // keeps the rest of the random sequence
  if (packed > 1 && (isInteger || kind >= 3) && another() % 3 == 0)
    packed *= 2; // as patches require
  sum = isInteger ? "i32" : isDouble ? "f64" : "f32";
}

void Generator::chooseSpace() {
  rows = oneOf<int64_t>({1, 1, 2, 3, 4, 5, 6, 7, 12, 13, 16, 29, 70});
  columns = oneOf<int64_t>({2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 40, 48, 64, 65, 100});
  gates = chance(50) ? 1 : pick(2, 4);
  separatesGates = gates > 1 && chance(70);
  block = chance(50) ? 16 * (int64_t(1) << pick(0, 2)) : 0;
  padded = block ? (columns + block - 1) / block * block : columns;
  isTransposed = packed == 1 && chance(15);
  isStored = gates == 1 && !isInteger && padded == columns && chance(20);
}

std::string Generator::argument(Element element, const std::vector<int64_t> &shape, bool isOutput, int aliasOf,
                                bool mayHaveGaps, bool hasRows) {
  int64_t gap = mayHaveGaps && shape.size() > 1 && chance(25) ? pick(1, 5) : 0,
          offset = mayHaveGaps && chance(20) ? pick(1, 9) : 0, stride = 1;
  std::string text, strides;
  ChainArgument described;
  described.element = element;
  described.isOutput = isOutput;
  described.aliasOf = aliasOf;
  described.count = offset + 1;
  for (size_t i = shape.size(); i-- > 0;) {
    described.count += (shape[i] - 1) * stride;
    strides = number(stride) + (strides.empty() ? "" : ", ") + strides;
    stride = stride * shape[i] + (i + 1 == shape.size() ? gap : 0);
  }
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i == 0 && hasRows ? rowsText() : number(shape[i])) + "x";
  problem.arguments.push_back(described);
  types.push_back("memref<" + text + nameOf(element) + ", strided<[" + strides + "], offset: " + number(offset) + ">>");
  return "%arg" + number(static_cast<int64_t>(types.size()) - 1);
}

std::string Generator::op(const std::string &text, const std::string &type) {
  std::string name = "%x" + number(counter++);
  body += "    " + name + " = " + text + " : " + type + "\n";
  return name;
}

std::string Generator::generic(const std::vector<std::string> &dims, int reduced, const std::vector<std::string> &maps,
                               const std::vector<std::string> &names, const std::vector<std::string> &memrefs,
                               size_t inputs, const std::string &arguments, const std::string &inner) {
  std::vector<std::string> all, kinds;
  for (const std::string &map : maps)
    all.push_back("affine_map<(" + join(dims) + ") -> (" + map + ")>");
  for (size_t i = 0; i < dims.size(); ++i)
    kinds.push_back(i + static_cast<size_t>(reduced) < dims.size() ? "\"parallel\"" : "\"reduction\"");
  auto part = [&](size_t from, size_t to) {
    return join({names.begin() + from, names.begin() + to}) + " : " +
           join({memrefs.begin() + from, memrefs.begin() + to});
  };
  return "  linalg.generic {indexing_maps = [" + join(all) + "], iterator_types = [" + join(kinds) + "]}\n" +
         (inputs ? "      ins(" + part(0, inputs) + ")" : "") + " outs(" + part(inputs, names.size()) + ")" +
         (reduced && isRounded ? " attrs = {quern.relax = #quern.relax<bf16>}" : "") + " {\n  ^bb0(" + arguments +
         "):\n" + inner + "  }\n";
}

std::string Generator::widened(const std::string &name, Element from) {
  std::string wide = isDouble ? "f64" : "f32", type = nameOf(from);
  if (type == wide)
    return name;
  if (from == Element::S8 || from == Element::U8)
    return op("arith." + std::string(from == Element::S8 ? "si" : "ui") + "tofp " + name, "i8 to " + wide);
  return op(from == Element::F64 ? "arith.truncf " + name : "arith.extf " + name, type + " to " + wide);
}

std::string Generator::narrowed(const std::string &name, Element to) {
  std::string wide = isDouble ? "f64" : "f32", type = nameOf(to);
  if (type == wide)
    return name;
  if (to == Element::S8) {
    std::string whole = op("arith.fptosi " + op("math.roundeven " + name, wide), wide + " to i32");
    return op("arith.trunci " + whole, "i32 to i8");
  }
  return op(to == Element::F64 ? "arith.extf " + name : "arith.truncf " + name, wide + " to " + type);
}

std::string Generator::productBody() {
  body.clear();
  std::string flags = chance(80)   ? " fastmath<reassoc,contract>"
                      : chance(50) ? " fastmath<contract>"
                                   : "",
              factors[2] = {"%a", "%b"};
  Element elements[2] = {lhs, rhs};
  for (int i = 0; i < 2; ++i) {
    if (isInteger)
      factors[i] =
          op(std::string(elements[i] == Element::U8 ? "arith.extui " : "arith.extsi ") + factors[i], "i8 to i32");
    else if (elements[i] != Element::F32 && !isDouble)
      factors[i] = op("arith.extf " + factors[i], std::string(nameOf(elements[i])) + " to f32");
  }
  if (chance(50))
    std::swap(factors[0], factors[1]);
  std::string product =
      op((isInteger ? "arith.muli " : "arith.mulf ") + factors[0] + ", " + factors[1] + (isInteger ? "" : flags), sum);
  std::string added = chance(50) ? product + ", %s" : "%s, " + product;
  std::string result = op((isInteger ? "arith.addi " : "arith.addf ") + added + (isInteger ? "" : flags), sum);
  return body + "    linalg.yield " + result + " : " + sum + "\n";
}

/// Returns the name and type of the subview of rhs that a part reads; its dims define the extents of the loops.
std::pair<std::string, std::string> Generator::partOf(const std::string &rhsName, std::vector<int64_t> shape,
                                                      int64_t firstStep, int64_t steps, int64_t used) {
  size_t alongK = (block ? 1 : 0) + (separatesGates ? 1 : 0);
  if (packed == 1 || (shape[alongK] == steps && used == packed))
    return {rhsName, typeOf(rhsName)};
  std::vector<std::string> offsets, sizes, ones, strides(shape.size());
  std::string extents;
  int64_t stride = 1, offset = 0;
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i]) {
    strides[i] = number(stride);
    offset += i == alongK ? firstStep * stride : 0;
  }
  shape[alongK] = steps;
  shape.back() = used;
  for (size_t i = 0; i < shape.size(); ++i) {
    offsets.push_back(number(i == alongK ? firstStep : 0));
    sizes.push_back(number(shape[i]));
    ones.push_back("1");
    extents += number(shape[i]) + "x";
  }
  std::string name = "%part" + number(counter++), type = "memref<" + extents + nameOf(rhs) + ", strided<[" +
                                                         join(strides) + "], offset: " + number(offset) + ">>";
  code += "  " + name + " = memref.subview " + rhsName + "[" + join(offsets) + "] [" + join(sizes) + "] [" +
          join(ones) + "] : " + typeOf(rhsName) + " to " + type + "\n";
  return {name, type};
}

/// Adds the product of `steps` steps, of which each uses `used` packed elements.
void Generator::addPart(const std::string &lhsName, const std::string &rhsName, const std::vector<int64_t> &shape,
                        int64_t firstStep, int64_t steps, int64_t used) {
  auto [part, partType] = partOf(rhsName, shape, firstStep, steps, used);
  bool hasGates = gates > 1, hasInner = packed > 1;
  std::vector<std::string> dims{"n"};
  std::string k = firstStep ? "k + " + number(firstStep) : "k",
              inner = hasInner ? (firstStep || packed > 1 ? "(" + k + ") * " + number(packed) + " + j" : k) : k;
  std::vector<std::string> ofRhs, ofSums{"n"};
  if (separatesGates)
    ofRhs.push_back("g");
  if (block) {
    dims.insert(dims.end(), {"p"});
    ofRhs.push_back("p");
  }
  if (hasGates) {
    dims.push_back("g");
    ofSums.push_back("g");
  }
  ofRhs.push_back("k");
  if (hasGates && !separatesGates)
    ofRhs.push_back("g");
  dims.push_back("v");
  ofRhs.push_back("v");
  ofSums.push_back(block ? "p * " + number(block) + " + v" : "v");
  dims.push_back("k");
  if (hasInner) {
    dims.push_back("j");
    ofRhs.push_back("j");
  }
  // Defines the extents of the loops.
  std::string pin;
  for (const std::string &dim : dims)
    pin += (dim == "n" ? rowsText()
                       : number(dim == "p"   ? padded / block
                                : dim == "g" ? gates
                                : dim == "v" ? (block ? block : columns)
                                : dim == "k" ? steps
                                             : used)) +
           "x";
  std::string pinName = "%pin" + number(counter++);
  code += "  " + pinName + " = " + allocation("memref<" + pin + "i8>");
  std::vector<std::string> names{lhsName, part, pinName, sums},
      memrefs{typeOf(lhsName), partType, "memref<" + pin + "i8>", sumsType};
  std::vector<std::string> maps{isTransposed ? inner + ", n" : "n, " + inner, join(ofRhs), join(dims), join(ofSums)};
  std::string arguments = std::string("%a: ") + nameOf(lhs) + ", %b: " + nameOf(rhs);
  if (chance(30)) {
    std::swap(names[0], names[1]), std::swap(memrefs[0], memrefs[1]), std::swap(maps[0], maps[1]);
    arguments = std::string("%b: ") + nameOf(rhs) + ", %a: " + nameOf(lhs);
  }
  code +=
      generic(dims, hasInner ? 2 : 1, maps, names, memrefs, 3, arguments + ", %unread: i8, %s: " + sum, productBody());
}

void Generator::addProduct(int64_t length) {
  terms += length;
  std::string lhsName =
      argument(lhs, isTransposed ? std::vector<int64_t>{length, rows} : std::vector<int64_t>{rows, length}, false, -1,
               true, !isTransposed);
  int64_t steps = (length + packed - 1) / packed;
  std::vector<int64_t> shape;
  if (separatesGates)
    shape.push_back(gates);
  if (block)
    shape.push_back(padded / block);
  shape.push_back(steps);
  if (gates > 1 && !separatesGates)
    shape.push_back(gates);
  shape.push_back(block ? block : columns);
  if (packed > 1)
    shape.push_back(packed);
  std::string rhsName = argument(rhs, shape, false, -1, packed == 1, false);
  if (length / packed)
    addPart(lhsName, rhsName, shape, 0, length / packed, packed);
  if (length % packed)
    addPart(lhsName, rhsName, shape, length / packed, 1, length % packed);
}

void Generator::addStart() {
  bool hasGates = gates > 1;
  std::string shape = rowsText() + "x" + (hasGates ? number(gates) + "x" : "") + number(padded) + "x" + sum;
  if (isStored) {
    sums = argument(isDouble ? Element::F64 : Element::F32, {rows, columns}, true);
    sumsType = liveType = typeOf(sums);
    live = sums;
  } else {
    sums = "%sums";
    sumsType = "memref<" + shape + ">";
    code += "  %sums = " + allocation(sumsType);
  }
  if (isStored && chance(40))
    return; // added to the old values
  if (!isInteger && padded == columns && chance(40)) {
    std::string bias = argument(isDouble ? Element::F64 : Element::F32,
                                hasGates ? std::vector<int64_t>{gates, columns} : std::vector<int64_t>{columns}, false,
                                -1, true, false);
    std::vector<std::string> dims =
        hasGates ? std::vector<std::string>{"n", "g", "o"} : std::vector<std::string>{"n", "o"};
    code += generic(dims, 0, {hasGates ? "g, o" : "o", join(dims)}, {bias, sums}, {typeOf(bias), sumsType}, 1,
                    "%v: " + sum + ", %out: " + sum, "    linalg.yield %v : " + sum + "\n");
    return;
  }
  code += "  linalg.fill ins(%start : " + sum + ") outs(" + sums + " : " + sumsType + ")\n";
}

void Generator::addEpilogue() {
  bool hasGates = gates > 1;
  std::string wide = isDouble ? "f64" : "f32";
  if (!isStored) {
    live = "%live";
    std::string strides = (hasGates ? number(gates * padded) + ", " : "") + number(padded) + ", 1";
    liveType = "memref<" + rowsText() + "x" + (hasGates ? number(gates) + "x" : "") + number(columns) + "x" + sum +
               ", strided<[" + strides + "]>>";
    std::string zeros = hasGates ? "0, 0, 0" : "0, 0", ones = hasGates ? "1, 1, 1" : "1, 1",
                sizes = (isOpen ? std::string("%n") : number(rows)) + ", " + (hasGates ? number(gates) + ", " : "") +
                        number(columns);
    code += "  %live = memref.subview " + sums + "[" + zeros + "] [" + sizes + "] [" + ones + "] : " + sumsType +
            " to " + liveType + "\n";
  }
  Element to =
      isDouble ? Element::F64
               : oneOf<Element>({Element::F32, Element::F32, Element::F32, Element::BF16, Element::F16, Element::S8});
  std::vector<std::string> names, memrefs, maps, arguments;
  auto add = [&](const std::string &name, const std::string &type, const std::string &map, const std::string &argument,
                 const char *element) {
    names.push_back(name), memrefs.push_back(type), maps.push_back(map), arguments.push_back(argument + ": " + element);
  };
  for (int64_t g = 0; g < gates; ++g)
    add(live, liveType, hasGates ? "n, " + number(g) + ", o" : "n, o", "%s" + number(g), sum.c_str());
  Element bias = chance(60) ? to : Element::BF16, full = to;
  bool hasBias = chance(60), perColumn = hasBias && chance(40), hasFull = chance(50), isDear = chance(50),
       hasRow = chance(30);
  if (hasBias) {
    std::string name = argument(bias, {columns}, false, -1, false, false), type = typeOf(name);
    if (perColumn) {
      body.clear();
      std::string value = op("arith.mulf " + widened("%v", bias) + ", %half", wide);
      code += "  %column = memref.alloc() : memref<" + number(columns) + "x" + wide + ">\n" +
              generic({"o"}, 0, {"o", "o"}, {name, "%column"}, {type, "memref<" + number(columns) + "x" + wide + ">"},
                      1, std::string("%v: ") + nameOf(bias) + ", %out: " + wide,
                      body + "    linalg.yield " + value + " : " + wide + "\n");
      name = "%column", type = "memref<" + number(columns) + "x" + wide + ">";
      bias = isDouble ? Element::F64 : Element::F32;
    }
    add(name, type, "o", "%bias", nameOf(bias));
  }
  if (hasRow) {
    std::string name = argument(bias == Element::F64 ? Element::F64 : Element::F32, {rows});
    add(name, typeOf(name), "n", "%row", bias == Element::F64 ? "f64" : "f32");
  }
  std::string fullName;
  if (hasFull) {
    fullName = argument(full, {rows, columns});
    add(fullName, typeOf(fullName), "n, o", "%full", nameOf(full));
  }
  size_t inputs = names.size();
  std::string out = argument(to, {rows, columns}, true);
  if (hasFull && chance(50)) { // the same layout: the two may share a buffer
    int other = static_cast<int>(std::stol(fullName.substr(4)));
    types.back() = types[other];
    problem.arguments.back().count = problem.arguments[other].count;
    problem.arguments.back().aliasOf = other;
  }
  add(out, typeOf(out), "n, o", "%out", nameOf(to));
  bool hasTwo = chance(30);
  if (hasTwo) {
    std::string second = argument(to, {rows, columns}, true);
    add(second, typeOf(second), "n, o", "%out2", nameOf(to));
  }
  body.clear();
  std::string result;
  for (int64_t g = 0; g < gates; ++g) {
    std::string part = "%s" + number(g);
    if (isInteger)
      part = op("arith.sitofp " + part, "i32 to f32");
    part = op("arith.mulf " + part + ", %scale", wide);
    if (isDear)
      part = op((chance(50) ? "math.tanh " : "math.absf ") + part, wide);
    result = result.empty() ? part : op((chance(50) ? "arith.addf " : "arith.subf ") + result + ", " + part, wide);
  }
  if (hasBias)
    result = op("arith.addf " + result + ", " + widened("%bias", bias), wide);
  if (hasRow)
    result = op("arith.subf " + result + ", " +
                    (wide == (bias == Element::F64 ? "f64" : "f32")
                         ? "%row"
                         : op(bias == Element::F64 ? "arith.truncf %row" : "arith.extf %row",
                              bias == Element::F64 ? "f64 to f32" : "f32 to f64")),
                wide);
  if (hasFull)
    result = op("arith.addf " + result + ", " + widened("%full", full), wide);
  std::string other = hasTwo ? narrowed(op("arith.mulf " + result + ", %half", wide), to) : "";
  result = narrowed(result, to);
  body += "    linalg.yield " + result + (hasTwo ? ", " + other : "") + " : " + nameOf(to) +
          (hasTwo ? std::string(", ") + nameOf(to) : "") + "\n";
  code += generic({"n", "o"}, 0, maps, names, memrefs, inputs, join(arguments), body);
  problem.tolerance = to == Element::F64    ? 1e-12
                      : to == Element::F32  ? 2e-5
                      : to == Element::BF16 ? 0.07
                      : to == Element::F16  ? 0.01
                                            : 1.01 / 64;
}

RandomContraction Generator::run() {
  chooseTypes();
  chooseSpace();
  addStart();
  int64_t first = oneOf<int64_t>({1, 2, 3, 4, 5, 8, 15, 16, 33, 64, 130});
  addProduct(first);
  if (chance(40))
    addProduct(chance(60) ? first : pick(1, 20));
  problem.tolerance = isDouble ? 1e-10 : 1e-3; // for sums that are results
  const double ofRounding = roundingOf(terms);
  if (isRounded)
    problem.tolerance += ofRounding;
  if (!isStored || chance(60)) {
    double ofSums = problem.tolerance;
    addEpilogue();
    if (isRounded) // scaled by 1 / (first · gates), and then added for all gates
      problem.tolerance += ofRounding / static_cast<double>(first);
    if (isStored)
      problem.tolerance = std::max(problem.tolerance, ofSums);
  }
  std::vector<std::string> signature;
  for (size_t i = 0; i < types.size(); ++i)
    signature.push_back("%arg" + number(static_cast<int64_t>(i)) + ": " + types[i]);
  std::string wide = isDouble ? "f64" : "f32", start = isInteger ? "3" : "0.5";
  double scale = 1.0 / (static_cast<double>(first) * (isInteger ? 4096 : 1) * static_cast<double>(gates));
  auto open =
      std::find_if(types.begin(), types.end(), [](const std::string &type) { return type.starts_with("memref<?"); });
  std::string ofRows;
  if (isOpen)
    ofRows = "  %c0 = arith.constant 0 : index\n  %n = memref.dim %arg" + number(open - types.begin()) +
             ", %c0 : " + *open + "\n";
  problem.rows = rows;
  problem.text = "func.func @contraction(" + join(signature) + ") {\n  %start = arith.constant " + start + " : " + sum +
                 "\n  %half = arith.constant 0.5 : " + wide + "\n  %scale = arith.constant " +
                 std::to_string(scale + 1e-5) + " : " + wide + "\n" + ofRows + code + "  return\n}\n";
  return std::move(problem);
}

} // namespace

RandomContraction quern::test::makeRandomContraction(uint64_t seed) {
  Generator closed(seed, /*isOpen=*/false);
  RandomContraction problem = closed.run();
  if (closed.mayBeOpen())
    problem.openText = Generator(seed, /*isOpen=*/true).run().text;
  return problem;
}
