//===- Digits.cpp - Addresses along a loop, as digits of its index -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Normal form: split the function wherever one of its digits begins or ends, add up the contributions of all digits
// between two cuts, and join adjacent digits that continue with the same step.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Problem/Digits.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <numeric>
#include <utility>

using namespace mlir;
using namespace quern::schedule;

/// Returns the units and ends of the digits, ascending, without 1.
static Numbers cutsOf(ArrayRef<Digit> digits) {
  Numbers cuts;
  for (const Digit &digit : digits)
    for (int64_t cut : {digit.unit, digit.end()})
      if (cut > 1)
        cuts.push_back(cut);
  llvm::sort(cuts);
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

static bool nest(ArrayRef<int64_t> cuts) {
  for (size_t i = 1; i < cuts.size(); ++i)
    if (cuts[i] % cuts[i - 1])
      return false;
  return true;
}

/// Returns the amount that `sum` adds from one multiple of the cut to the next.
static int64_t stepAt(ArrayRef<Digit> sum, int64_t cut) {
  int64_t step = 0;
  for (const Digit &digit : sum)
    if (digit.unit <= cut && (!digit.modulus || digit.end() > cut))
      step += digit.stride * (cut / digit.unit);
  return step;
}

AccessFunction AccessFunction::linear(Size step, Size extent) {
  if (!step.isOpen())
    return AccessFunction(Digit{1, 0, step.known()}, extent);
  AccessFunction function;
  function.openStep = extent == 1 ? Size() : step;
  return function;
}

AccessFunction::AccessFunction(ArrayRef<Digit> sum, Size extent) {
  SmallVector<Digit, 4> seen;
  int64_t shift = sum.empty() ? 0 : sum[0].shift;
  for (Digit digit : sum) { // drop moduli and digits without effect within the extent
    if (digit.modulus && extent.isBelow(digit.end() - shift + 1))
      digit.modulus = 0;
    if (digit.stride && extent.mayExceed(digit.unit - shift) && digit.modulus != 1)
      seen.push_back(digit);
  }
  Numbers cuts = cutsOf(seen);
  if (!nest(cuts)) {
    llvm::sort(seen);
    terms.assign(seen.begin(), seen.end());
    return;
  }
  cuts.insert(cuts.begin(), 1);
  int64_t before = 0;
  for (size_t i = 0; i < cuts.size(); ++i) {
    int64_t step = stepAt(seen, cuts[i]), modulus = i + 1 < cuts.size() ? cuts[i + 1] / cuts[i] : 0;
    bool goesOn = i && step == before * (cuts[i] / cuts[i - 1]);
    before = step;
    if (goesOn && step)
      terms.back().modulus *= modulus;
    else if (step)
      terms.push_back({cuts[i], modulus, step, shift});
  }
}

int64_t AccessFunction::start() const {
  int64_t sum = 0;
  for (const Digit &digit : terms) {
    int64_t count = digit.shift / digit.unit;
    sum += digit.stride * (digit.modulus ? count % digit.modulus : count);
  }
  return sum;
}

Size AccessFunction::step() const {
  if (terms.empty())
    return openStep;
  int64_t sum = 0;
  for (const Digit &digit : terms)
    sum += digit.unit == 1 ? digit.stride : 0;
  return sum;
}

int64_t AccessFunction::run() const {
  int64_t run = shift();
  for (int64_t cut : cutsOf(terms))
    run = std::gcd(run, cut);
  return run;
}

std::optional<int64_t> AccessFunction::advance(int64_t by, int64_t align) const {
  int64_t sum = 0;
  if (shift() || (openStep != 0 && by))
    return std::nullopt;
  for (const Digit &digit : terms) {
    if (by % digit.unit >= std::gcd(align, digit.unit)) // the addition may or may not carry into the digit
      return std::nullopt;
    int64_t count = by / digit.unit;
    if (digit.modulus) {
      int64_t apart = align % digit.unit ? 1 : std::gcd(align / digit.unit, digit.modulus);
      count %= digit.modulus;
      if (count >= apart && count) // the digit may wrap around
        return std::nullopt;
    }
    sum += count * digit.stride;
  }
  return sum;
}

bool AccessFunction::tellsAllApart() const {
  int64_t next = openStep == 0 ? 1 : 0;
  for (const Digit &digit : terms) {
    if (digit.unit != next)
      return false;
    next = digit.end();
  }
  return next == 0;
}

namespace {
struct DimDigit {
  unsigned dim;
  Digit digit;
};
} // namespace

/// Matches a dim, or a dim plus a constant, under any number of floordiv and mod.
static std::optional<DimDigit> digitOf(AffineExpr expr) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return DimDigit{dim.getPosition(), {1, 0, 1}};
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  auto by = dyn_cast_or_null<AffineConstantExpr>(binary ? binary.getRHS() : AffineExpr());
  if (!by || by.getValue() <= 0)
    return std::nullopt;
  std::optional<DimDigit> inner = digitOf(binary.getLHS());
  if (!inner)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add) {
    inner->digit.shift += by.getValue() * inner->digit.unit;
    return inner->digit.modulus ? std::nullopt : inner;
  }
  int64_t size = by.getValue(), &modulus = inner->digit.modulus;
  bool fits = !modulus || modulus % size == 0;
  if (expr.getKind() == AffineExprKind::FloorDiv && fits) {
    inner->digit.unit *= size;
    modulus /= size;
    return inner;
  }
  if (expr.getKind() != AffineExprKind::Mod || !(fits || size % modulus == 0))
    return std::nullopt;
  modulus = modulus ? std::min(modulus, size) : size;
  return inner;
}

LogicalResult quern::schedule::readDigits(AffineExpr expr, int64_t stride, int64_t &offset,
                                          function_ref<void(unsigned, Digit)> add) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    offset += constant.getValue() * stride;
    return success();
  }
  if (std::optional<DimDigit> found = digitOf(expr)) {
    Digit &digit = found->digit;
    digit.stride = stride;
    if (!digit.modulus && digit.shift % digit.unit == 0)
      offset += stride * (std::exchange(digit.shift, 0) / digit.unit);
    add(found->dim, found->digit);
    return success();
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (binary && expr.getKind() == AffineExprKind::Add)
    return success(succeeded(readDigits(binary.getLHS(), stride, offset, add)) &&
                   succeeded(readDigits(binary.getRHS(), stride, offset, add)));
  auto factor = dyn_cast_or_null<AffineConstantExpr>(binary ? binary.getRHS() : AffineExpr());
  if (factor && expr.getKind() == AffineExprKind::Mul)
    return readDigits(binary.getLHS(), stride * factor.getValue(), offset, add);
  return failure();
}

/// Simplifies a digit with a shift: if it does not wrap around within the loop, it has no modulus; if it does not
/// change, it is a constant.
static void settle(Digit &digit, Size extent, int64_t &offset) {
  int64_t last = digit.shift + extent.knownOr(endOfNumbers) - 1, first = digit.shift / digit.unit;
  if (first == last / digit.unit) {
    offset += digit.stride * (digit.modulus ? first % digit.modulus : first);
    digit.stride = 0;
  } else if (digit.modulus && digit.unit == 1 && digit.shift / digit.modulus == last / digit.modulus) {
    offset += digit.stride * (digit.shift % digit.modulus - digit.shift);
    digit.modulus = 0;
  }
}

bool quern::schedule::alignShifts(MutableArrayRef<Digit> sum, Size extent, int64_t &offset) {
  int64_t shared = 0;
  for (Digit &digit : sum) {
    if (!digit.stride)
      digit.shift = 0;
    if (!digit.modulus)
      offset += digit.shift / digit.unit * digit.stride;
    digit.shift %= digit.modulus ? digit.end() : digit.unit;
    shared = std::max(shared, digit.shift);
  }
  for (Digit &digit : sum) {
    int64_t missing = shared - std::exchange(digit.shift, shared);
    if (digit.stride && missing % (digit.modulus ? digit.end() : digit.unit))
      return false;
    if (!digit.modulus)
      offset -= missing / digit.unit * digit.stride;
  }
  for (Digit &digit : sum)
    if (shared)
      settle(digit, extent, offset);
  return true;
}

Numbers quern::schedule::commonCuts(ArrayRef<const AccessFunction *> functions) {
  SmallVector<Digit, 8> all;
  int64_t shifts = 0; // their greatest common divisor
  for (const AccessFunction *function : functions) {
    all.append(function->digits().begin(), function->digits().end());
    shifts = std::gcd(shifts, function->shift());
  }
  Numbers rest = cutsOf(all), cuts;
  while (!rest.empty()) {
    int64_t shared = shifts;
    for (int64_t cut : rest)
      shared = std::gcd(shared, cut);
    bool nests = shared == rest.front();
    if (cuts.empty() ? shared > 1 : shared > cuts.back())
      cuts.push_back(shared);
    if (!nests)
      break;
    rest.erase(rest.begin());
  }
  return cuts;
}

AccessFunction quern::schedule::functionFromCut(const AccessFunction &function, int64_t from, Size extent,
                                                bool isLast) {
  if (function.step().isOpen()) {
    assert(from == 1 && "a multiple of an open step");
    return AccessFunction::linear(function.step(), extent);
  }
  SmallVector<Digit, 4> sum;
  int64_t shift = isLast ? function.shift() / from : 0;
  for (const Digit &digit : function.digits()) {
    if (digit.modulus && digit.end() <= from)
      continue;
    if (digit.unit < from)
      sum.push_back({1, digit.end() / from, digit.stride * (from / digit.unit), shift});
    else
      sum.push_back({digit.unit / from, digit.modulus, digit.stride, shift});
  }
  return AccessFunction(sum, extent);
}
