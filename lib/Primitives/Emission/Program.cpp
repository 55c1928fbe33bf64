//===- Program.cpp - Builder of a launch program --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Primitives/Emission/Program.h"

#include "IR/Steps.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace quern;
using namespace quern::emission;

StepEmitter::StepEmitter(func::FuncOp function, ArrayRef<Binding> bindings)
    : builder(function.getContext()), loc(function.getLoc()) {
  builder.setInsertionPointToEnd(function.addEntryBlock());
  for (auto [i, binding] : llvm::enumerate(bindings))
    arguments[binding.name] = function.getArgument(i);
}

Location StepEmitter::locationOf(const Twine &part) const {
  return locationOfStep(loc->getContext(), "", stepOf(loc) + ": " + part);
}

Value quern::emission::constantTable(StepEmitter &step, StringRef name, DenseElementsAttr values) {
  OpBuilder &b = step.builder;
  auto type = MemRefType::get(values.getType().getShape(), values.getElementType());
  auto module = b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    memref::GlobalOp::create(b, step.loc, name, b.getStringAttr("private"), type, values, /*constant=*/true,
                             IntegerAttr());
  }
  return memref::GetGlobalOp::create(b, step.loc, type, name);
}

void Program::addRegion(StringRef name, AffineExpr bytes) {
  if (llvm::none_of(regions, [&](RegionAttr region) { return region.getName() == name; }))
    regions.push_back(RegionAttr::get(builder.getContext(), name, bytes));
}

FlatSymbolRefAttr Program::functionFor(StringRef kind, ArrayRef<Binding> bindings,
                                       llvm::function_ref<void(StepEmitter &)> emitBody) {
  std::string key = kind.str();
  llvm::raw_string_ostream os(key);
  SmallVector<Type> types;
  SmallVector<int64_t> sizes;
  for (const Binding &binding : bindings) {
    const int64_t openDim = binding.openDim >= 0 ? binding.openDim : openSize;
    os << ' ' << binding.name << ':' << binding.type;
    if (openDim != openSize)
      os << ",size " << openDim;
    for (int64_t dim : binding.openDims)
      os << ",size " << dim;
    for (int64_t stride : binding.openStrides)
      os << ',' << stride;
    types.push_back(binding.type);
    if (binding.openDims.empty())
      sizes.append(binding.type.getNumDynamicDims(), openDim);
    sizes.append(binding.openDims);
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
    std::string words = kind.str();
    llvm::replace(words, '_', ' ');
    step.loc = locationOfStep(builder.getContext(), "", words);
    emitBody(step);
    func::ReturnOp::create(step.builder, step.loc);
  }
  return FlatSymbolRefAttr::get(builder.getContext(), found->second);
}

void Program::call(StringRef kind, ArrayRef<Binding> bindings, llvm::function_ref<void(StepEmitter &)> emitBody,
                   bool independent) {
  SmallVector<BufferAttr> buffers;
  for (const Binding &binding : bindings)
    buffers.push_back(BufferAttr::get(builder.getContext(), binding.place.buffer, binding.place.bytes));
  bodies.back().push_back(
      CallAttr::get(builder.getContext(), functionFor(kind, bindings, emitBody), buffers, independent));
}

AffineExpr Program::beginLoop(AffineExpr count) {
  trips.push_back(count);
  bodies.emplace_back();
  return builder.getAffineDimExpr(trips.size() - 1);
}

void Program::endLoop() {
  SmallVector<Attribute> body = bodies.pop_back_val();
  bodies.back().push_back(LoopAttr::get(builder.getContext(), trips.pop_back_val(), body));
}

void Program::addMaximum(StringRef tensor, AffineExpr limit, AffineExpr count, int64_t stride) {
  maxima.push_back(MaximumAttr::get(builder.getContext(), tensor, limit, count, number(stride)));
}

void Program::addSize(AffineExpr value) { computed.push_back(SizeAttr::get(builder.getContext(), value)); }

void Program::finish() {
  llvm::sort(regions, [](RegionAttr a, RegionAttr b) { return a.getName() < b.getName(); });
  SmallVector<Attribute> steps(regions.begin(), regions.end());
  steps.append(maxima.begin(), maxima.end());
  steps.append(computed.begin(), computed.end());
  steps.append(bodies.front());
  module->setAttr(ProgramAttr::name, ProgramAttr::get(builder.getContext(), steps));
}
