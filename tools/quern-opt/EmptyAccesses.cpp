//===- EmptyAccesses.cpp - Traps for masked accesses without lanes --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "EmptyAccesses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <csignal>
#include <cstring>
#include <unistd.h>

using namespace mlir;

namespace quern {
namespace {

template <typename Op> void trapIfEmpty(Op access) {
  auto buffer = cast<MemRefType>(access.getBase().getType());
  if (!buffer.hasStaticShape() || buffer.getRank() != 1)
    return;
  OpBuilder b(access);
  Location loc = access.getLoc();
  auto number = [&](int64_t value) { return arith::ConstantIndexOp::create(b, loc, value).getResult(); };
  Value at = access.getIndices().front(), mask = access.getMask();
  // If negative, every access reaches outside of the buffer.
  int64_t last = buffer.getDimSize(0) - cast<VectorType>(mask.getType()).getNumElements();
  Value isAny = vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, mask);
  Value isBefore = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, at, number(0));
  Value isBehind = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, at, number(last));
  Value isOutside = arith::OrIOp::create(b, loc, isBefore, isBehind);
  Value yes = arith::ConstantIntOp::create(b, loc, b.getI1Type(), 1);
  Value isEmpty = arith::XOrIOp::create(b, loc, isAny, yes);
  auto then = scf::IfOp::create(b, loc, arith::AndIOp::create(b, loc, isOutside, isEmpty), /*withElseRegion=*/false);
  b.setInsertionPointToStart(then.thenBlock());
  LLVM::DebugTrap::create(b, loc);
}

const char *trapped = "";

void say(const char *text) { [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text, std::strlen(text)); }

void tellTrap(int) { // calls only functions that are safe in a signal handler
  say(trapped);
  say(": a masked access without an active lane reaches outside of its buffer\n");
  _exit(1);
}

} // namespace

void trapEmptyAccesses(ModuleOp module) {
  module.walk([](vector::MaskedLoadOp access) { trapIfEmpty(access); });
  module.walk([](vector::MaskedStoreOp access) { trapIfEmpty(access); });
}

void explainTraps(const char *what) {
  trapped = what;
  std::signal(SIGTRAP, tellTrap);
}

} // namespace quern
