//===- OpenPlan.cpp - Planning products with open sizes -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Contraction/Cpu/Open.h"

#include "Schedule/Build/Bodies.h"
#include "Schedule/Build/Transpose.h"

#include <algorithm>

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;

namespace {

/// Returns the maximum number of rows of a block. Registers hold the sums, the vectors of a step and one element of
/// lhs; if multiplication is a separate instruction, also its result.
int64_t maxRows(const OpenPlan &plan, int64_t vectors) {
  const int64_t others = vectors * registersOfRhs(plan.product, plan.dot) + (plan.dot == Dot::MulAdd ? 2 : 1);
  return std::clamp<int64_t>((plan.strategy.registers - others) / vectors, 1, plan.strategy.maxRows);
}

/// Returns true if rhs has an open number of panels, which the chain's columns then count.
bool hasPanels(const Product &product) { return product.columns.size() == 2 && product.columns[1].extent.isOpen(); }

const char *whyNotPanels(const Chain &chain, const Product &product, const ContractionStrategy &strategy) {
  const int64_t lanes = strategy.vectorBytes / bytesOf(chain.sumType()), panel = product.columns[0].extent.known();
  if (!llvm::isPowerOf2_64(panel) || panel % lanes != 0 || !llvm::isPowerOf2_64(strategy.vectors))
    return "panels of open sizes are not whole vectors";
  if (product.columns[0].stride != product.packed || !chain.epilogue.empty())
    return "panels of open sizes have elementwise ops after them, or non-contiguous columns";
  const Product::Reduced &k = product.reduced[0];
  if (product.packed != 1 && (isa<IntegerType>(chain.sumType()) || k.lhs != 1 || !k.rhs.isMultipleOf(product.packed)))
    return "panels of open sizes are not packed as contiguous floats in groups along all of K";
  return nullptr;
}

/// Chooses an instruction for the packed elements if it computes a vector of sums of one row; otherwise multiplies
/// element by element.
Dot dotOfPanels(const Product &product, const ContractionStrategy &strategy) {
  const Dot dot = chooseDot(product, strategy);
  return dot == Dot::Pairs || dot <= Dot::Fma ? dot : strategy.hasFma && product.mayContract ? Dot::Fma : Dot::MulAdd;
}

void chooseDots(OpenPlan &plan) {
  const Product &own = plan.chain.products[0];
  plan.product = own;
  if (hasPanels(own)) {
    plan.panel = own.columns[0].extent.known();
    plan.dot = dotOfPanels(own, plan.strategy);
    return;
  }
  plan.makesPairs =
      makesPairs(own, plan.strategy) && own.rhs.element().isBF16() && !own.isStrided() && own.reduced[0].lhs == 1;
  if (plan.makesPairs) {
    plan.product.packed = plan.product.taken = 2;
    plan.dot = Dot::Pairs;
    return;
  }
  plan.product.rhs.conversions.clear();
  plan.dot = chooseDot(plan.product, plan.strategy);
}

bool hasOpenSizes(const Chain &chain, const Product &product) {
  const Product::Reduced &k = product.reduced[0];
  for (const Size size : {chain.columns, k.extent, k.lhs, k.rhs, product.columnStride})
    if (size.isOpen())
      return true;
  return false;
}

bool readsApart(const PointOp &point) {
  return llvm::any_of(point.ins, [](const TileAccess &in) { return in.base && in.column > 1; });
}

const char *whyNotOpen(const Chain &chain, const ContractionStrategy &strategy) {
  if (chain.products.size() != 1 || chain.accumulators.size() != 1)
    return "several products or accumulators have open sizes other than their rows'";
  const Product &product = chain.products[0];
  if (product.reduced.size() != 1 || product.sums.size() != 1 || (product.columns.size() != 1 && !hasPanels(product)))
    return "a product of open sizes has several loops over K or along its columns";
  if (isRounded(chooseDot(product, strategy)))
    return "a product of open sizes rounds its factors";
  if (product.taken != product.packed || (product.packed != 1 && !hasPanels(product)))
    return "a product of open sizes has factors packed other than in panels";
  if (hasPanels(product) && whyNotPanels(chain, product, strategy))
    return whyNotPanels(chain, product, strategy);
  if (!hasOpenSizes(chain, product))
    return "a product has no open sizes except its rows";
  if (llvm::any_of(chain.epilogue, readsApart))
    return "an elementwise op after a product of open sizes reads non-contiguous columns";
  return chain.accumulators[0].fill ? nullptr : "sums of open sizes start from memory";
}

} // namespace

LogicalResult quern::schedule::contractions::planOpen(OpenPlan &plan, std::string &whyNot) {
  const Chain &chain = plan.chain;
  const ContractionStrategy &strategy = plan.strategy;
  if (const char *reason = whyNotOpen(chain, strategy)) {
    whyNot = reason;
    return failure();
  }
  chooseDots(plan);
  const int64_t bytes = bytesOf(chain.sumType());
  const Type element = chain.products[0].rhs.element();
  plan.lanes = strategy.vectorBytes / bytes;
  plan.vectors = strategy.vectors;
  plan.heights = heightsFrom(maxRows(plan, plan.vectors));
  constexpr int64_t tallestSingle = 8; // enough independent sums
  plan.singleHeights = heightsFrom(std::min(tallestSingle, maxRows(plan, 1)));
  constexpr int64_t tallestOfFew = 4;
  plan.fewHeights = heightsFrom(std::min(tallestOfFew, plan.heights[0]));
  plan.hasDots = chain.products[0].reduced[0].rhs == 1 && chain.products[0].reduced[0].lhs == 1 &&
                 chain.products[0].mayReassociate;
  plan.transposes = chain.products[0].reduced[0].rhs == 1 && chain.products[0].isStrided() &&
                    transposeScratch(element, plan.lanes) == 0 && plan.lanes % transposeUnit(element) == 0;
  // Copying costs two to six operations per vector, which all rows of a chunk share; panels are not copied.
  constexpr int64_t rowsOfCopy = 192, rowsOfPanels = 96;
  plan.chunkRows = (plan.panel ? rowsOfPanels : rowsOfCopy) / plan.heights[0] * plan.heights[0];
  plan.steps = std::max<int64_t>(64, strategy.l1Bytes / (plan.width() * bytesOf(plan.copyType())));
  plan.steps = llvm::alignTo(plan.steps, plan.stepLength());
  constexpr int64_t maxSteps = 1024; // limit of the steps that are summed only in f32
  plan.wholeSteps = std::clamp(strategy.l2Bytes / 2 / (plan.width() * bytesOf(plan.copyType())), plan.steps,
                               std::max(plan.steps, maxSteps * plan.stepLength()));
  plan.wholeSteps -= plan.wholeSteps % plan.stepLength();
  plan.addsWide = !plan.panel && chain.sumType().isF32() && chain.products[0].mayReassociate;
  plan.copyBytes = plan.chunkRows * plan.width() * bytesOf(plan.waitingType());
  plan.scratchBytes = plan.panel ? 0 : plan.copyBytes + plan.wholeSteps * plan.width() * bytesOf(plan.copyType());
  return success();
}

PlanAttr OpenPlan::attribute() const {
  PlanBuilder fields(chain.problem, Recipe::Contraction);
  fields.addSize(PlanField::Rows, chain.rows)
      .addSize(PlanField::Columns, chain.columns)
      .addIf(panel != 0, PlanField::Panel, panel)
      .add(PlanField::Products, 1)
      .add(PlanField::Dot, nameOf(dot))
      .add(PlanField::Accumulators, 1)
      .add(PlanField::MaxBlockRows, heights[0])
      .add(PlanField::BlockVectors, vectors)
      .add(PlanField::OpenTileWidth, width())
      .add(PlanField::ChunkRows, chunkRows);
  if (panel)
    fields.add(PlanField::Rhs, "read in place");
  else
    fields.add(PlanField::Rhs, makesPairs   ? "copied in pairs"
                               : transposes ? "transposed"
                                            : "copied")
        .add(PlanField::CopiedSteps, wholeSteps)
        .add(PlanField::LongSteps, steps)
        .add(PlanField::FewRows, fewRows)
        .add(PlanField::RhsOfFewRows, hasDots ? "summed along K" : "read in place");
  fields.addIf(addsWide, PlanField::WideSums);
  if (!chain.epilogue.empty())
    fields.add(PlanField::EpilogueOps, chain.epilogueOps()).add(PlanField::EpiloguePlace, "over scratch");
  return fields.get();
}
