//===- RandomRows.cpp - Random sums of bytes and open rows ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "RandomRows.h"

using namespace quern;
using namespace quern::test;

namespace {

std::string text(int64_t number) { return std::to_string(number); }

/// Loops are d0 and d1, which are kept, and d2, which is summed.
class ByteSums : Dice {
public:
  explicit ByteSums(uint64_t seed) : Dice(seed) {}
  RandomChain run();

private:
  struct Source {
    std::string name, memref, map;
    Element element;
  };
  Source addSource();
  RandomLayout layOut(Element element);
  void addSum(const Source &source, const std::string &to);

  RandomChain chain;
  std::vector<int64_t> extents;
  std::string signature, body;
};

/// Draws a layout: four elements of a row inside a block of columns, contiguous rows, contiguous columns, or any
/// layout.
RandomLayout ByteSums::layOut(Element element) {
  const int64_t block = oneOf<int64_t>({4, 8, 16, 32, 64});
  RandomLayout layout;
  switch (pick(0, 3)) {
  case 0:
    layout.results = {"d0", "d1 floordiv " + text(block), "d2 floordiv 4", "d1 mod " + text(block), "d2 mod 4"};
    layout.memref = text(extents[0]) + "x" + text((extents[1] + block - 1) / block) + "x" + text((extents[2] + 3) / 4) +
                    "x" + text(block) + "x4";
    layout.count = extents[0] * ((extents[1] + block - 1) / block) * ((extents[2] + 3) / 4) * block * 4;
    break;
  case 1:
    layout.results = {"d0", "d1", "d2"};
    layout.memref = text(extents[0]) + "x" + text(extents[1]) + "x" + text(extents[2]);
    layout.count = extents[0] * extents[1] * extents[2];
    break;
  case 2:
    layout.results = {"d0", "d2", "d1"};
    layout.memref = text(extents[0]) + "x" + text(extents[2]) + "x" + text(extents[1]);
    layout.count = extents[0] * extents[1] * extents[2];
    break;
  default:
    return drawLayout(*this, {50, 25, 0}, element, {0, 1, 2}, extents, false, [&] {
      return chance(40) ? std::vector<int64_t>{1, int64_t(1) << pick(2, 5)} : std::vector<int64_t>();
    });
  }
  layout.memref = "memref<" + layout.memref + "xi8>";
  return layout;
}

ByteSums::Source ByteSums::addSource() {
  Source source;
  source.name = "%arg" + text(static_cast<int64_t>(chain.arguments.size()));
  source.element = chance(50) ? Element::S8 : Element::U8;
  const RandomLayout layout = layOut(source.element);
  source.memref = layout.memref, source.map = "affine_map<(d0, d1, d2) -> (" + join(layout.results) + ")>";
  chain.arguments.push_back({source.element, layout.count, false});
  signature += source.name + ": " + source.memref + ", ";
  return source;
}

/// An unread operand, %pin, defines the extents, which a blocked layout does not.
void ByteSums::addSum(const Source &source, const std::string &to) {
  const std::string kept = text(extents[0]) + "x" + text(extents[1]) + "x",
                    pin = "memref<" + kept + text(extents[2]) + "xi8>";
  const std::string extension = source.element == Element::S8 ? "extsi" : "extui";
  const bool swap = chance(50);
  body += "  linalg.fill ins(%zero : i32) outs(" + to + " : memref<" + kept + "i32>)\n";
  body += "  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, " + source.map +
          ", affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = [\"parallel\", \"parallel\", \"reduction\"]}\n    "
          "  ins(%pin, " +
          source.name + " : " + pin + ", " + source.memref + ") outs(" + to + " : memref<" + kept + "i32>) {\n" +
          "  ^bb0(%unread: i8, %x: i8, %s: i32):\n    %w = arith." + extension +
          " %x : i8 to i32\n    %t = arith.addi " + (swap ? "%s, %w" : "%w, %s") +
          " : i32\n    linalg.yield %t : i32\n  }\n";
}

RandomChain ByteSums::run() {
  extents = {pick(1, 4), oneOf<int64_t>({1, 3, 8, 16, 24, 40, 64, 100, 128}),
             oneOf<int64_t>({1, 4, 9, 36, 64, 68, 100, 256, 500, 600})};
  const std::string kept = "memref<" + text(extents[0]) + "x" + text(extents[1]) + "xi32>";
  const bool isScaled = chance(40);
  const int64_t sums = chance(20) ? 2 : 1;
  std::vector<Source> sources;
  for (int64_t i = 0; i < sums; ++i)
    sources.push_back(addSource());
  body = "  %zero = arith.constant 0 : i32\n  %factor = arith.constant -128 : i32\n  %pin = memref.alloc() : memref<" +
         text(extents[0]) + "x" + text(extents[1]) + "x" + text(extents[2]) + "xi8>\n";
  for (int64_t i = 0; i < sums; ++i) {
    const std::string dst = "%arg" + text(static_cast<int64_t>(chain.arguments.size())),
                      sum = isScaled ? "%sum" + text(i) : dst;
    chain.arguments.push_back({Element::F32, extents[0] * extents[1], true});
    signature += dst + ": " + kept + (i + 1 < sums ? ", " : "");
    if (isScaled)
      body += "  " + sum + " = memref.alloc() : " + kept + "\n";
    addSum(sources[static_cast<size_t>(i)], sum);
    if (isScaled) // like the compensation of a shift
      body +=
          "  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], "
          "iterator_types = "
          "[\"parallel\", \"parallel\"]}\n      ins(" +
          sum + " : " + kept + ") outs(" + dst + " : " + kept +
          ") {\n  ^bb0(%x: i32, %out: i32):\n    %y = arith.muli %x, %factor : i32\n    linalg.yield %y : i32\n  }\n";
  }
  chain.text = "func.func @chain(" + signature + ") {\n" + body + "  return\n}\n";
  return chain;
}

/// Reduces a row, computes a value of the reduction, and applies it to the row, like a softmax or a normalization.
class OpenChains : Dice {
public:
  OpenChains(uint64_t seed, uint64_t execution) : Dice(seed) { drawShape(execution); }
  OpenChain run();

private:
  struct Tensor {
    std::string name;
    Element element;
    bool isStrideOpen;
    int64_t gap; ///< elements after each row
  };
  void drawShape(uint64_t execution);
  std::string memrefOf(const Tensor &tensor, bool isOpen) const;
  std::string dims(bool isOpen) const;
  std::string kept(bool isOpen) const;
  std::string textOf(bool isOpen) const;
  std::string generic(const std::string &maps, bool reduces, const std::string &operands) const;

  int64_t extents[2];
  bool isDimOpen[2];
  int row; ///< the reduced loop
  bool isSoftmax;
  Tensor src, dst;
};

void OpenChains::drawShape(uint64_t execution) {
  row = static_cast<int>(pick(0, 1));
  const bool both = chance(50);
  const int only = static_cast<int>(pick(0, 1));
  for (int d = 0; d < 2; ++d)
    isDimOpen[d] = both || d == only;
  isSoftmax = chance(50);
  const std::vector<Element> types = {Element::F32, Element::F32, Element::BF16, Element::F16};
  src = {"%arg0", oneOf(types), chance(50), 0}, dst = {"%arg1", oneOf(types), chance(50), 0};
  static const std::vector<int64_t> sizes = {1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 65, 100, 130, 300};
  for (int d = 0; d < 2; ++d)
    extents[d] = oneOf(sizes);
  Dice executionDice(execution * 1000003 + 17);
  for (int d = 0; d < 2; ++d)
    extents[d] = isDimOpen[d] ? executionDice.oneOf(sizes) : extents[d];
  for (Tensor *tensor : {&src, &dst}) // a stride can be known only if the dims are
    tensor->isStrideOpen |= isDimOpen[1],
        tensor->gap = tensor->isStrideOpen && executionDice.chance(50) ? executionDice.pick(1, 20) : 0;
}

std::string OpenChains::dims(bool isOpen) const {
  return (isOpen && isDimOpen[0] ? "?" : text(extents[0])) + "x" + (isOpen && isDimOpen[1] ? "?" : text(extents[1])) +
         "x";
}

std::string OpenChains::memrefOf(const Tensor &tensor, bool isOpen) const {
  return "memref<" + dims(isOpen) + nameOf(tensor.element) + ", strided<[" +
         (isOpen && tensor.isStrideOpen ? "?" : text(extents[1] + tensor.gap)) + ", 1]>>";
}

std::string OpenChains::kept(bool isOpen) const {
  return std::string("memref<") + (isOpen && isDimOpen[1 - row] ? "?" : text(extents[1 - row])) + "xf32>";
}

std::string OpenChains::generic(const std::string &maps, bool reduces, const std::string &operands) const {
  std::string kinds[] = {"\"parallel\"", "\"parallel\""};
  if (reduces)
    kinds[row] = "\"reduction\"";
  return "  linalg.generic {indexing_maps = [" + maps + "], iterator_types = [" + kinds[0] + ", " + kinds[1] + "]} " +
         operands + " {\n";
}

std::string OpenChains::textOf(bool isOpen) const {
  const std::string all = "affine_map<(d0, d1) -> (d0, d1)>", one = "affine_map<(d0, d1) -> (d" + text(1 - row) + ")>";
  const std::string from = memrefOf(src, isOpen), to = memrefOf(dst, isOpen), rowwise = kept(isOpen);
  const auto widen = [&](const char *wide) {
    return src.element == Element::F32
               ? std::string("    ") + wide + " = arith.addf %x, %none : f32\n"
               : std::string("    ") + wide + " = arith.extf %x : " + nameOf(src.element) + " to f32\n";
  };
  std::string t =
      "func.func @chain(%arg0: " + from + ", %arg1: " + to +
      ") {\n  %none = arith.constant -0.0 : f32\n"
      "  %low = arith.constant -4.0 : f32\n  %zero = arith.constant 0.0 : f32\n  %one = arith.constant 1.0 : f32\n";
  std::string given;
  if (isOpen && isDimOpen[1 - row]) {
    t += "  %d = arith.constant " + text(1 - row) + " : index\n  %n = memref.dim %arg0, %d : " + from + "\n";
    given = "%n";
  }
  t += "  %most = memref.alloc(" + given + ") : " + rowwise + "\n  %sum = memref.alloc(" + given + ") : " + rowwise +
       "\n";
  t += "  linalg.fill ins(%low : f32) outs(%most : " + rowwise + ")\n";
  t += generic(all + ", " + one, true, "ins(%arg0 : " + from + ") outs(%most : " + rowwise + ")");
  t += std::string("  ^bb0(%x: ") + nameOf(src.element) + ", %m: f32):\n" + widen("%w") +
       "    %r = arith.maxnumf %w, %m : f32\n    linalg.yield %r : f32\n  }\n";
  const std::string term = isSoftmax ? "    %s = arith.subf %w, %m : f32\n    %e = math.exp %s : f32\n"
                                     : "    %s = arith.subf %w, %m : f32\n    %e = arith.mulf %s, %s : f32\n";
  t += "  linalg.fill ins(%zero : f32) outs(%sum : " + rowwise + ")\n";
  t += generic(all + ", " + one + ", " + one, true,
               "ins(%arg0, %most : " + from + ", " + rowwise + ") outs(%sum : " + rowwise + ")");
  t += std::string("  ^bb0(%x: ") + nameOf(src.element) + ", %m: f32, %a: f32):\n" + widen("%w") + term +
       "    %r = arith.addf %a, %e fastmath<reassoc> : f32\n    linalg.yield %r : f32\n  }\n";
  t += generic(all + ", " + one + ", " + one + ", " + all, false,
               "ins(%arg0, %most, %sum : " + from + ", " + rowwise + ", " + rowwise + ") outs(%arg1 : " + to + ")");
  t += std::string("  ^bb0(%x: ") + nameOf(src.element) + ", %m: f32, %a: f32, %out: " + nameOf(dst.element) + "):\n" +
       widen("%w") + term + "    %b = arith.addf %a, %one : f32\n    %q = arith.divf %e, %b : f32\n";
  t += dst.element == Element::F32 ? "    linalg.yield %q : f32\n"
                                   : std::string("    %y = arith.truncf %q : f32 to ") + nameOf(dst.element) +
                                         "\n    linalg.yield %y : " + nameOf(dst.element) + "\n";
  return t + "  }\n  return\n}\n";
}

OpenChain OpenChains::run() {
  OpenChain chain;
  chain.open.text = textOf(true), chain.closed.text = textOf(false);
  for (const Tensor *tensor : {&src, &dst}) {
    chain.open.arguments.push_back(
        {tensor->element, (extents[0] - 1) * (extents[1] + tensor->gap) + extents[1], tensor == &dst});
    for (int d = 0; d < 2; ++d)
      if (isDimOpen[d])
        chain.sizes.push_back(extents[d]);
    if (tensor->isStrideOpen)
      chain.sizes.push_back(extents[1] + tensor->gap);
  }
  chain.open.tolerance = dst.element == Element::F32 ? 2e-5 : 0.01;
  chain.closed.arguments = chain.open.arguments, chain.closed.tolerance = chain.open.tolerance;
  return chain;
}

} // namespace

RandomChain quern::test::makeRandomByteSum(uint64_t seed) { return ByteSums(seed).run(); }

OpenChain quern::test::makeOpenChain(uint64_t seed, uint64_t execution) { return OpenChains(seed, execution).run(); }
