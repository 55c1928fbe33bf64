//===- RandomOpen.cpp - Random maps and products with open sizes ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The seed determines the text, and the execution the open sizes.
//
//===----------------------------------------------------------------------===//
#include "RandomOpen.h"

#include <algorithm>
#include <numeric>

using namespace quern;
using namespace quern::test;

namespace {

std::string number(int64_t value) { return std::to_string(value); }

/// Loops, some of which are open, and arguments over them, some of which have open strides and offsets.
class OpenSpace : protected Dice {
public:
  OpenSpace(uint64_t seed, uint64_t execution, bool mayOffsetsBeOpen)
      : Dice(seed), executionDice(execution * 1000003 + 17), mayOffsetsBeOpen(mayOffsetsBeOpen) {}

protected:
  struct Argument {
    Element element = Element::F32;
    std::string type = "f32";
    std::vector<int> loops; ///< outermost first
    int64_t gap = 0, offset = 0;
    bool hasOpenStrides = false, isOffsetOpen = false;
    int64_t count = 1;
    std::vector<int64_t> strides;
  };
  void addLoop(bool open, const std::vector<int64_t> &sizes) {
    const int64_t known = oneOf(sizes), given = executionDice.oneOf(sizes);
    extents.push_back(open ? given : known);
    isOpen.push_back(open);
  }
  Argument drawArgument(Element element, const std::vector<int> &loops, bool isOutput);
  std::string extentOf(int loop, bool open) const { return open && isOpen[loop] ? "?" : number(extents[loop]); }
  std::string memrefOf(const Argument &argument, bool open) const;
  std::string mapOf(const std::vector<int> &loops) const;
  std::string signature(bool open) const;
  /// Returns the texts with the arguments and sizes of an execution.
  OpenChain finish(const std::string &open, const std::string &closed, double tolerance);

  Dice executionDice; ///< for the sizes of the execution
  const bool mayOffsetsBeOpen;
  std::vector<int64_t> extents;
  std::vector<bool> isOpen;
  std::vector<Argument> arguments;
  int output = -1, aliased = -1;
};

OpenSpace::Argument OpenSpace::drawArgument(Element element, const std::vector<int> &loops, bool isOutput) {
  Argument argument;
  argument.element = element, argument.type = nameOf(element), argument.loops = loops;
  const bool hasOpen = std::any_of(loops.begin(), loops.end(), [&](int loop) { return isOpen[loop]; });
  argument.hasOpenStrides = loops.size() > 1 && (hasOpen || chance(30));
  argument.isOffsetOpen = mayOffsetsBeOpen && chance(25);
  argument.gap = loops.size() < 2          ? 0
                 : argument.hasOpenStrides ? (executionDice.chance(50) ? executionDice.pick(1, 20) : 0)
                 : chance(30)              ? pick(1, 9)
                                           : 0;
  argument.offset = argument.isOffsetOpen ? executionDice.pick(0, 9) : chance(20) ? pick(1, 9) : 0;
  argument.strides.assign(loops.size(), 1);
  int64_t stride = 1;
  for (size_t i = loops.size(); i-- > 0;) {
    argument.strides[i] = stride;
    stride = stride * extents[loops[i]] + (i + 1 == loops.size() ? argument.gap : 0);
  }
  argument.count = argument.offset + 1;
  for (size_t i = 0; i < loops.size(); ++i)
    argument.count += (extents[loops[i]] - 1) * argument.strides[i];
  if (isOutput)
    output = static_cast<int>(arguments.size());
  arguments.push_back(argument);
  return argument;
}

std::string OpenSpace::memrefOf(const Argument &argument, bool open) const {
  std::string shape;
  std::vector<std::string> strides;
  for (size_t i = 0; i < argument.loops.size(); ++i) {
    shape += extentOf(argument.loops[i], open) + "x";
    const bool isInnermost = i + 1 == argument.loops.size();
    strides.push_back(open && argument.hasOpenStrides && !isInnermost ? "?" : number(argument.strides[i]));
  }
  return "memref<" + shape + argument.type + ", strided<[" + join(strides) +
         "], offset: " + (open && argument.isOffsetOpen ? "?" : number(argument.offset)) + ">>";
}

std::string OpenSpace::mapOf(const std::vector<int> &loops) const {
  std::vector<std::string> all, results;
  for (size_t loop = 0; loop < extents.size(); ++loop)
    all.push_back("d" + number(static_cast<int64_t>(loop)));
  for (int loop : loops)
    results.push_back(all[loop]);
  return "affine_map<(" + join(all) + ") -> (" + join(results) + ")>";
}

std::string OpenSpace::signature(bool open) const {
  std::vector<std::string> all;
  for (size_t i = 0; i < arguments.size(); ++i)
    all.push_back("%arg" + number(static_cast<int64_t>(i)) + ": " + memrefOf(arguments[i], open));
  return join(all);
}

OpenChain OpenSpace::finish(const std::string &open, const std::string &closed, double tolerance) {
  OpenChain chain;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument &argument = arguments[i];
    const bool isOutput = static_cast<int>(i) == output;
    chain.open.arguments.push_back({argument.element, argument.count, isOutput, isOutput ? aliased : -1});
    for (int loop : argument.loops)
      if (isOpen[loop])
        chain.sizes.push_back(extents[loop]);
    for (size_t d = 0; argument.hasOpenStrides && d + 1 < argument.loops.size(); ++d)
      chain.sizes.push_back(argument.strides[d]);
    if (argument.isOffsetOpen)
      chain.sizes.push_back(argument.offset);
  }
  chain.open.tolerance = tolerance;
  chain.closed = chain.open;
  chain.open.text = open, chain.closed.text = closed;
  return chain;
}

/// A copy, or the product of a source with a factor along some loops, with permuted dims.
class OpenMaps : OpenSpace {
public:
  OpenMaps(uint64_t seed, uint64_t execution) : OpenSpace(seed, execution, /*mayOffsetsBeOpen=*/true) {}
  OpenChain run();

private:
  std::string textOf(bool open) const;
  std::string body;
};

std::string OpenMaps::textOf(bool open) const {
  std::vector<std::string> maps, kinds(extents.size(), "\"parallel\""), names, types, elements;
  for (size_t i = 0; i < arguments.size(); ++i) {
    maps.push_back(mapOf(arguments[i].loops));
    names.push_back("%arg" + number(static_cast<int64_t>(i)));
    types.push_back(memrefOf(arguments[i], open));
    elements.push_back((i + 1 == arguments.size() ? "%old: " : i ? "%factor: " : "%x: ") + arguments[i].type);
  }
  const std::string to = names.back() + " : " + types.back();
  names.pop_back(), types.pop_back();
  return "func.func @map(" + signature(open) + ") {\n  linalg.generic {indexing_maps = [" + join(maps) +
         "], iterator_types = [" + join(kinds) + "]}\n      ins(" + join(names) + " : " + join(types) + ") outs(" + to +
         ") {\n  ^bb0(" + join(elements) + "):\n" + body + "  }\n  return\n}\n";
}

OpenChain OpenMaps::run() {
  const int64_t rank = pick(1, 3);
  const bool isLarge = rank < 3 && chance(25); // vectors are for problems that fill a device
  for (int64_t loop = 0; loop < rank; ++loop)
    addLoop(loop == 0 || chance(60), isLarge ? std::vector<int64_t>{100, 256, 300, 515}
                                             : std::vector<int64_t>{1, 2, 3, 7, 8, 16, 17, 31, 33, 64, 100});
  std::vector<int> from(static_cast<size_t>(rank)), some;
  std::iota(from.begin(), from.end(), 0);
  std::shuffle(from.begin(), from.end(), random);
  std::vector<int> to = from;
  if (chance(60))
    std::shuffle(to.begin(), to.end(), random);
  const bool isCopy = chance(40), isInPlace = chance(25);
  const Element source = oneOf<Element>({Element::F32, Element::BF16, Element::F16, Element::S8});
  Element target = isCopy || chance(30) ? source : oneOf<Element>({Element::F32, Element::BF16, Element::F16});
  drawArgument(source, from, /*isOutput=*/false);
  if (!isCopy) {
    for (int loop : to)
      if (chance(50))
        some.push_back(loop);
    drawArgument(Element::F32, some, /*isOutput=*/false);
  }
  if (isInPlace) { // with the same layout
    target = source, output = static_cast<int>(arguments.size()), aliased = 0;
    arguments.emplace_back(arguments[0]);
  } else {
    drawArgument(target, to, /*isOutput=*/true);
  }
  if (isCopy) {
    body = "    linalg.yield %x : " + arguments[0].type + "\n";
  } else {
    body = source == Element::F32 ? "    %w = arith.addf %x, %factor : f32\n    %y = arith.mulf %w, %factor : f32\n"
           : source == Element::S8
               ? "    %w = arith.sitofp %x : i8 to f32\n    %y = arith.mulf %w, %factor : f32\n"
               : "    %w = arith.extf %x : " + arguments[0].type + " to f32\n    %y = arith.mulf %w, %factor : f32\n";
    const std::string type = arguments.back().type;
    body += type == "f32"  ? "    linalg.yield %y : f32\n"
            : type == "i8" ? "    %r = math.roundeven %y : f32\n    %i = arith.fptosi %r : f32 to i32\n    %n = "
                             "arith.trunci %i : i32 to i8\n"
                             "    linalg.yield %n : i8\n"
                           : "    %n = arith.truncf %y : f32 to " + type + "\n    linalg.yield %n : " + type + "\n";
  }
  return finish(textOf(true), textOf(false), 0);
}

/// C = A B or C += A B, with or without a bias and a conversion.
class OpenProducts : OpenSpace {
public:
  OpenProducts(uint64_t seed, uint64_t execution) : OpenSpace(seed, execution, /*mayOffsetsBeOpen=*/false) {}
  OpenChain run();

private:
  std::string textOf(bool open) const;
  std::string generic(const std::vector<std::vector<int>> &loops, const std::string &kinds,
                      const std::string &operands) const;

  static constexpr int m = 0, n = 1, k = 2;
  bool isInteger = false, isStored = false, isAdded = false;
  std::string sum = "f32";
};

std::string OpenProducts::generic(const std::vector<std::vector<int>> &loops, const std::string &kinds,
                                  const std::string &operands) const {
  std::vector<std::string> maps;
  const bool isReduction = kinds.find("reduction") != kinds.npos;
  for (const std::vector<int> &operandLoops : loops) {
    std::string map = mapOf(operandLoops);
    if (!isReduction)
      map.replace(map.find(", d2"), 4, "");
    maps.push_back(map);
  }
  return "  linalg.generic {indexing_maps = [" + join(maps) + "], iterator_types = [" + kinds + "]} " + operands +
         " {\n";
}

std::string OpenProducts::textOf(bool open) const {
  const std::string a = memrefOf(arguments[0], open), b = memrefOf(arguments[1], open),
                    c = memrefOf(arguments.back(), open),
                    sums = "memref<" + extentOf(m, open) + "x" + extentOf(n, open) + "x" + sum + ">",
                    to = isStored ? "%arg" + number(output) : std::string("%sums"), toType = isStored ? c : sums,
                    lhs = arguments[0].type, rhs = arguments[1].type, both = "\"parallel\", \"parallel\"";
  std::string t = "func.func @product(" + signature(open) + ") {\n  %zero = arith.constant " +
                  (isInteger ? "0" : "0.0") + " : " + sum + "\n";
  if (!isStored) {
    std::vector<std::string> given;
    for (int loop : {m, n})
      if (open && isOpen[loop]) {
        const std::string name = "%size" + number(loop);
        t += "  " + name + "d = arith.constant " + number(loop) + " : index\n  " + name + " = memref.dim %arg" +
             number(output) + ", " + name + "d : " + c + "\n";
        given.push_back(name);
      }
    t += "  %sums = memref.alloc(" + join(given) + ") : " + sums + "\n";
  }
  if (!isAdded)
    t += "  linalg.fill ins(%zero : " + sum + ") outs(" + to + " : " + toType + ")\n";
  t += generic({arguments[0].loops, arguments[1].loops, {m, n}}, both + ", \"reduction\"",
               "ins(%arg0, %arg1 : " + a + ", " + b + ") outs(" + to + " : " + toType + ")");
  t += "  ^bb0(%a: " + lhs + ", %b: " + rhs + ", %s: " + sum + "):\n";
  const char *const extension = isInteger ? "arith.extsi " : "arith.extf ";
  for (const auto &[name, type] : {std::pair("a", lhs), std::pair("b", rhs)})
    t += std::string("    %w") + name + " = " +
         (type == sum ? std::string("arith.addf %") + name + ", %zero : f32"
                      : extension + ("%" + std::string(name)) + " : " + type + " to " + sum) +
         "\n";
  t += isInteger ? "    %p = arith.muli %wa, %wb : i32\n    %r = arith.addi %s, %p : i32\n"
                 : "    %p = arith.mulf %wa, %wb fastmath<reassoc,contract> : f32\n    %r = arith.addf %s, %p "
                   "fastmath<reassoc,contract> : f32\n";
  t += "    linalg.yield %r : " + sum + "\n  }\n";
  if (!isStored) {
    const std::string bias = memrefOf(arguments[2], open), out = arguments.back().type;
    t += generic({{m, n}, {n}, {m, n}}, both, "ins(%sums, %arg2 : " + sums + ", " + bias + ") outs(%arg3 : " + c + ")");
    t += "  ^bb0(%s: f32, %v: f32, %old: " + out + "):\n    %r = arith.addf %s, %v : f32\n";
    t += out == "f32" ? "    linalg.yield %r : f32\n"
                      : "    %y = arith.truncf %r : f32 to " + out + "\n    linalg.yield %y : " + out + "\n";
    t += "  }\n";
  }
  return t + "  return\n}\n";
}

OpenChain OpenProducts::run() {
  isInteger = chance(25), isStored = isInteger || chance(50), isAdded = isStored && chance(40);
  sum = isInteger ? "i32" : "f32";
  const Element factor = isInteger ? Element::S8 : oneOf<Element>({Element::F32, Element::BF16, Element::F16});
  addLoop(chance(40), {1, 2, 3, 5, 8, 13, 16, 33});
  addLoop(chance(50), {2, 3, 7, 15, 16, 17, 32, 33, 40, 65});
  addLoop(chance(50), {1, 2, 3, 5, 8, 16, 33, 64, 130, 200});
  const bool isLhsTransposed = chance(25), isRhsTransposed = chance(50);
  drawArgument(factor, isLhsTransposed ? std::vector<int>{k, m} : std::vector<int>{m, k}, /*isOutput=*/false);
  drawArgument(factor, isRhsTransposed ? std::vector<int>{n, k} : std::vector<int>{k, n}, /*isOutput=*/false);
  if (!isStored)
    drawArgument(Element::F32, {n}, /*isOutput=*/false);
  drawArgument(isStored ? Element::F32 : oneOf<Element>({Element::F32, Element::BF16}), {m, n}, /*isOutput=*/true);
  if (isInteger)
    arguments.back().type = "i32";
  const bool isNarrow = arguments.back().element == Element::BF16;
  // Sums of 200 products are at most 800, where bf16 has steps of 4.
  return finish(textOf(true), textOf(false), isInteger ? 0 : isNarrow ? 4 : 2e-3);
}

} // namespace

OpenChain quern::test::makeOpenMap(uint64_t seed, uint64_t execution) { return OpenMaps(seed, execution).run(); }

OpenChain quern::test::makeOpenProduct(uint64_t seed, uint64_t execution) {
  return OpenProducts(seed, execution).run();
}
