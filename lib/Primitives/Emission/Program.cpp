//===- Program.cpp - Building a launch program ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See Program.h.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Emission/Program.h"

#include "IR/QuernDialect.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/AffineMap.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace quern;
using namespace quern::emission;

StepEmitter::StepEmitter(func::FuncOp function, ArrayRef<Binding> bindings) : builder(function.getContext()), loc(function.getLoc()) {
  builder.setInsertionPointToEnd(function.addEntryBlock());
  for (auto [i, binding] : llvm::enumerate(bindings))
    arguments[binding.name] = function.getArgument(i);
}

Value quern::emission::constantTable(StepEmitter &step, StringRef name, DenseElementsAttr values) {
  OpBuilder &b = step.builder;
  auto type = MemRefType::get(values.getType().getShape(), values.getElementType());
  auto module = b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    memref::GlobalOp::create(b, step.loc, name, b.getStringAttr("private"), type, values, /*constant=*/true, IntegerAttr());
  }
  return memref::GetGlobalOp::create(b, step.loc, type, name);
}

AffineMapAttr Program::mapOf(AffineExpr expr, unsigned dims) {
  unsigned symbols = 0;
  expr.walk([&](AffineExpr part) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
      symbols = std::max(symbols, symbol.getPosition() + 1);
  });
  return AffineMapAttr::get(AffineMap::get(dims, symbols, expr));
}

void Program::addRegion(StringRef name, AffineExpr bytes) {
  if (llvm::none_of(regions, [&](NamedAttribute region) { return region.getName() == name; }))
    regions.push_back(builder.getNamedAttr(name, mapOf(bytes, 0)));
}

FlatSymbolRefAttr Program::functionFor(StringRef kind, ArrayRef<Binding> bindings, llvm::function_ref<void(StepEmitter &)> emitBody) {
  std::string key = kind.str();
  llvm::raw_string_ostream os(key);
  SmallVector<Type> types;
  SmallVector<int64_t> sizes;
  for (const Binding &binding : bindings) {
    os << ' ' << binding.name << ':' << binding.type;
    for (int64_t stride : binding.openStrides)
      os << ',' << stride;
    types.push_back(binding.type);
    sizes.append(binding.type.getNumDynamicDims(), openSize);
    sizes.append(binding.openStrides);
  }
  auto [found, isNew] = functions.try_emplace(key);
  if (isNew) {
    unsigned count = kinds[kind]++;
    found->second = count ? (kind + Twine(count)).str() : kind.str();
    builder.setInsertionPointToEnd(module.getBody());
    auto function = func::FuncOp::create(builder, module.getLoc(), found->second, builder.getFunctionType(types, {}));
    for (auto [i, binding] : llvm::enumerate(bindings))
      function.setArgAttr(i, attr::arg, builder.getStringAttr(binding.name));
    if (!sizes.empty())
      function->setAttr(attr::sizeIndices, builder.getDenseI64ArrayAttr(sizes));
    StepEmitter step(function, bindings);
    emitBody(step);
    func::ReturnOp::create(step.builder, step.loc);
  }
  return FlatSymbolRefAttr::get(builder.getContext(), found->second);
}

void Program::call(StringRef kind, ArrayRef<Binding> bindings, llvm::function_ref<void(StepEmitter &)> emitBody, bool beside) {
  SmallVector<NamedAttribute> fields;
  fields.push_back(builder.getNamedAttr("call", functionFor(kind, bindings, emitBody)));
  if (beside)
    fields.push_back(builder.getNamedAttr("beside", builder.getUnitAttr()));
  SmallVector<Attribute> buffers;
  for (const Binding &binding : bindings)
    buffers.push_back(builder.getArrayAttr({builder.getStringAttr(binding.place.buffer), mapOf(binding.place.bytes, trips.size())}));
  fields.push_back(builder.getNamedAttr("buffers", builder.getArrayAttr(buffers)));
  bodies.back().push_back(builder.getDictionaryAttr(fields));
}

AffineExpr Program::beginLoop(AffineExpr count) {
  trips.push_back(count);
  bodies.emplace_back();
  return builder.getAffineDimExpr(trips.size() - 1);
}

void Program::endLoop() {
  SmallVector<Attribute> body = bodies.pop_back_val();
  AffineExpr count = trips.pop_back_val();
  bodies.back().push_back(
      builder.getDictionaryAttr({builder.getNamedAttr("loop", mapOf(count, 0)), builder.getNamedAttr("body", builder.getArrayAttr(body))}));
}

void Program::addMaximum(StringRef tensor, AffineExpr limit, AffineExpr count, int64_t stride) {
  maxima.push_back(builder.getArrayAttr({builder.getStringAttr(tensor), mapOf(limit, 0), mapOf(count, 0), mapOf(number(stride), 0)}));
}

void Program::finish() {
  if (!regions.empty())
    module->setAttr("quern.regions", builder.getDictionaryAttr(regions));
  if (!maxima.empty())
    module->setAttr("quern.maxima", builder.getArrayAttr(maxima));
  module->setAttr("quern.program", builder.getArrayAttr(bodies.front()));
}
