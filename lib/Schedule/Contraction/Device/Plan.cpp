//===- Plan.cpp - Planning products for a device --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The block of a sub-group comes first: as many sums as registers hold, so that each element read is used often. Then
// the group: blocks of consecutive rows until there are no more rows, then parts of K until there are enough sub-groups
// for a large device.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Contraction/Device/Plan.h"

#include "Schedule/Device/GroupMemory.h"

#include "Schedule/Build/Bodies.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;

namespace {

int64_t ceilDiv(int64_t a, int64_t b) { return static_cast<int64_t>(llvm::divideCeil(a, b)); }

/// Returns the largest of as few equal shares as possible, each of at most `most`.
int64_t evenly(int64_t count, int64_t most) { return ceilDiv(count, ceilDiv(count, most)); }

class DeviceContractionPlanner {
public:
  DeviceContractionPlanner(DevicePlan &plan, std::string &whyNot)
      : plan(plan), chain(plan.chain), strategy(plan.strategy), whyNot(whyNot) {}
  LogicalResult run();

private:
  bool isReduction() const;
  int64_t maxSums() const;
  int64_t rowCount() const { return chain.rows.typical(); }
  int64_t stepCount(const Product &product) const { return innerSteps(product).typical(); }
  int64_t subGroups() const { return plan.tiles * ceilDiv(rowCount(), plan.rows); }
  void chooseSubGroup();
  void chooseBlock();
  void shareGroup();
  void chooseSteps();
  void choosePanels();

  DevicePlan &plan;
  const Chain &chain;
  const DeviceStrategy &strategy;
  std::string &whyNot;
};

/// Sub-groups in flight on a large device.
constexpr int64_t enoughSubGroups = 512;
/// In smaller sub-groups, work-items do not have more registers.
constexpr int64_t minSubGroup = 8;

/// Chooses the smallest size of at least eight: work-items of a large sub-group have the fewest registers, and only
/// many sums use each element often.
void DeviceContractionPlanner::chooseSubGroup() {
  plan.subGroup = strategy.subGroupSizes.back();
  for (int64_t size : llvm::reverse(strategy.subGroupSizes))
    if (size >= minSubGroup)
      plan.subGroup = size;
}

/// Returns true for a single product with one row or one column that lanes cannot cover: each sum is then the reduction
/// of a row, for which the rows recipe is faster.
bool DeviceContractionPlanner::isReduction() const {
  bool isOneRow = chain.rows == 1 && (chain.columns == 1 || chain.products[0].isStrided());
  bool isOneSum = chain.columns == 1 && chain.accumulators.size() == 1;
  return chain.products.size() == 1 && chain.accumulators[0].startsAtZero() && (isOneRow || isOneSum);
}

/// Returns the number of sums that fit the registers of a work-item.
int64_t DeviceContractionPlanner::maxSums() const {
  return strategy.registerBytes * 16 / std::max(plan.subGroup, minSubGroup) / bytesOf(chain.sumType());
}

/// Chooses a few columns for each work-item if there are few accumulators, so that an element of lhs is used several
/// times, unless that leaves too few sub-groups.
void DeviceContractionPlanner::chooseBlock() {
  constexpr int64_t wantedPerRow = 4, maxRows = 8;
  int64_t accumulators = static_cast<int64_t>(chain.accumulators.size()), most = maxSums();
  auto setVectors = [&](int64_t vectors) {
    plan.vectors = vectors;
    const int64_t highest = std::clamp<int64_t>(most / plan.perRow(), 1, maxRows);
    plan.rows = chain.rows.isOpen() ? highest : evenly(rowCount(), highest);
    plan.tiles = ceilDiv(chain.columns.typical(), plan.width());
    return subGroups();
  };
  int64_t vectors = 1;
  while (2 * vectors * accumulators <= std::min(most, wantedPerRow) && chain.columns.mayExceed(vectors * plan.subGroup))
    vectors *= 2;
  for (int64_t now = setVectors(vectors); vectors > 1 && now < enoughSubGroups; vectors /= 2, now = subGroups())
    if (setVectors(vectors / 2) <= now) {
      setVectors(vectors);
      return;
    }
}

void DeviceContractionPlanner::shareGroup() {
  int64_t most = strategy.groupMemoryBytes
                     ? std::max<int64_t>(1, std::min(strategy.smallGroup, strategy.maxGroup) / plan.subGroup)
                     : 1;
  constexpr int64_t ofOpenRows = 4; // the number of rows may be small
  plan.blocks = chain.rows.isOpen() ? std::min(most, ofOpenRows) : evenly(ceilDiv(rowCount(), plan.rows), most);
  constexpr int64_t minSteps = 32; // steps of a part
  int64_t steps = 0;
  for (const Product &product : chain.products)
    steps = std::max(steps, stepCount(product));
  while (2 * plan.parts * plan.blocks <= most && subGroups() * plan.parts < enoughSubGroups &&
         steps / (2 * plan.parts) >= minSteps)
    plan.parts *= 2;
  constexpr int64_t inlineOps = 6;
  const bool isLong = plan.rows * plan.vectors > 1 && chain.epilogueOps() > inlineOps;
  plan.isOverMemory = plan.parts > 1 || (isLong && strategy.groupMemoryBytes);
}

/// Chooses the number of unrolled steps: many, so that lanes read long runs of lhs, but limited by code size, and
/// preferably a divisor of K. If rows of lhs are contiguous, the lanes read one step of all rows.
void DeviceContractionPlanner::chooseSteps() {
  const int64_t maxOps = 2048 / plan.subGroup, maxReads = maxOps / 8;
  constexpr int64_t fewest = 4;
  for (const Product &product : chain.products) {
    DeviceProduct &own = plan.products.emplace_back();
    int64_t count = stepCount(product), reads = plan.vectors * static_cast<int64_t>(product.sums.size());
    int64_t opsOfRead = plan.rows * product.taken * (isa<FloatType>(product.sumType()) ? 1 : 2);
    auto fits = [&](int64_t steps) {
      return steps <= std::min(plan.subGroup, count) && steps * reads <= maxReads &&
             steps * reads * opsOfRead <= maxOps;
    };
    bool isAcross = product.lhsRow == 1 && product.packed == 1 && count > 1 && product.reduced.back().lhs != 1;
    while (!isAcross && fits(2 * own.steps))
      own.steps *= 2;
    for (int64_t fewer = own.steps; fewer >= fewest; fewer /= 2)
      if (innerSteps(product).isMultipleOf(fewer)) {
        own.steps = fewer;
        break;
      }
  }
}

/// Copies rhs to panels if several blocks read it, or if its columns are strided and lanes read along K.
void DeviceContractionPlanner::choosePanels() {
  constexpr int64_t shareOfMemory = 4, most = 64;
  for (auto [product, own] : llvm::zip_equal(chain.products, plan.products)) {
    int64_t count = stepCount(product);
    own.unit = product.isStrided() ? std::max(own.steps, plan.subGroup) : own.steps;
    own.length = plan.parts == 1 ? count : ceilDiv(ceilDiv(count, plan.parts), own.unit) * own.unit;
    if (!strategy.groupMemoryBytes || (plan.blocks == 1 && !product.isStrided()))
      continue;
    int64_t bytes = product.packed == 1 ? bytesOf(chain.sumType()) : product.packed * bytesOf(product.rhs.element());
    // An odd pitch makes lanes write to different banks.
    own.pitch = static_cast<int64_t>(product.sums.size()) * plan.width() + (product.isStrided() ? 1 : 0);
    int64_t units =
        std::min(most, strategy.groupMemoryBytes / shareOfMemory / (plan.parts * own.pitch * bytes)) / own.unit;
    own.panel = std::clamp<int64_t>(units, 1, ceilDiv(own.length, own.unit)) * own.unit;
  }
}

LogicalResult DeviceContractionPlanner::run() {
  if (isReduction())
    plan.whyFallback = "sums that share only one factor: each is the reduction of a row";
  chooseSubGroup();
  if (plan.subGroup > strategy.maxGroup || static_cast<int64_t>(chain.accumulators.size()) > maxSums()) {
    whyNot = std::to_string(chain.accumulators.size()) + " accumulators do not fit the registers of a work-item";
    return failure();
  }
  chooseBlock();
  shareGroup();
  chooseSteps();
  choosePanels();
  return success();
}

} // namespace

llvm::MapVector<Type, int64_t> DevicePlan::panels() const {
  llvm::MapVector<Type, int64_t> elements;
  for (auto [product, own] : llvm::zip_equal(chain.products, products))
    if (own.panel) {
      int64_t &most = elements[panelElement(product)];
      most = std::max(most, parts * own.panel * own.pitch);
    }
  return elements;
}

int64_t DevicePlan::groupBytes() const {
  int64_t bytes = 0;
  for (auto [type, count] : panels())
    bytes = addGroupMemory(bytes, count, type);
  return isOverMemory ? addGroupMemory(bytes, sumElements(), chain.sumType()) : bytes;
}

PlanAttr DevicePlan::attribute() const {
  PlanBuilder fields(chain.problem, Recipe::Contraction);
  auto addCount = [&](PlanField field, Size size, int64_t by) {
    size.isOpen() ? fields.add(field, ceilText(size.openIndex(), by)) : fields.add(field, ceilDiv(size.known(), by));
  };
  fields.addSize(PlanField::Rows, chain.rows)
      .addSize(PlanField::Columns, chain.columns)
      .add(PlanField::Products, chain.products.size())
      .add(PlanField::Accumulators, chain.accumulators.size())
      .add(PlanField::BlockSubGroup, subGroup)
      .add(PlanField::PointRows, rows)
      .add(PlanField::PointColumns, width())
      .add(PlanField::Blocks, blocks)
      .add(PlanField::Parts, parts)
      .add(PlanField::Group, group());
  addCount(PlanField::Tiles, chain.columns, width());
  addCount(PlanField::RowGroups, chain.rows, rowsOfGroup());
  fields.add(PlanField::LoadedSteps, products[0].steps)
      .addIf(products[0].panel != 0, PlanField::PanelSteps, products[0].panel);
  if (!chain.epilogue.empty())
    fields.add(PlanField::EpilogueOps, chain.epilogueOps())
        .add(PlanField::EpiloguePlace, isOverMemory ? "over memory" : "in registers");
  return fields.get();
}

LogicalResult quern::schedule::contractions::planDeviceContraction(DevicePlan &plan, std::string &whyNot) {
  return DeviceContractionPlanner(plan, whyNot).run();
}
