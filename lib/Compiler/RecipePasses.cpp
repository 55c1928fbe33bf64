//===- RecipePasses.cpp - Each recipe as a pass ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A pass runs one recipe on every problem of a module and reports the reason if it refuses one. Its options are the
// fields of the recipe's strategy; fields without an option have the target's values.
//
//===----------------------------------------------------------------------===//
#include "Compiler/RecipePasses.h"

#include "Compiler/Stages.h"
#include "Desc/Target.h"
#include "Targets/Cpu/Strategy.h"
#include "Targets/KernelLowering.h"
#include "Targets/Spirv/Strategy.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <deque>
#include <functional>
#include <vector>

using namespace mlir;

namespace quern {
namespace {

/// The pass of a recipe.
template <typename Strategy> struct Recipe {
  const char *pass, *summary;
  TargetKind kind;
  Strategy (*strategyFor)(const Target &target);
  MatchPtr (*match)(const schedule::Problem &problem, const Strategy &strategy, std::string &whyNot);
};

/// Returns "vector-bytes" for "vectorBytes".
std::string optionNameOf(StringRef field) {
  std::string name;
  for (char c : field)
    name += llvm::isUpper(c) ? std::string{'-', llvm::toLower(c)} : std::string{c};
  return name;
}

bool isPowerOfTwo(int64_t value) { return value > 0 && llvm::isPowerOf2_64(static_cast<uint64_t>(value)); }

/// Returns the reason if options exceed the target's capabilities, which they may only reduce; otherwise an empty
/// string.
template <typename Strategy> std::string whatTargetLacks(const Strategy &asked, const Strategy &own) {
  std::string missing;
  Strategy::visitFields([&](StringRef field, auto member, double, const char *) {
    if constexpr (std::is_same_v<decltype(member), bool Strategy::*>)
      if (field.starts_with("has") && asked.*member && !(own.*member))
        missing = optionNameOf(field) + ": not on this target";
  });
  if (!isPowerOfTwo(asked.vectorBytes) || asked.vectorBytes > own.vectorBytes)
    return llvm::formatv("vector-bytes={0}: a power of two, at most {1} on this target", asked.vectorBytes,
                         own.vectorBytes);
  if (asked.narrowestMask &&
      (!own.narrowestMask || !isPowerOfTwo(asked.narrowestMask) || asked.narrowestMask < own.narrowestMask))
    return llvm::formatv("narrowest-mask={0}: {1} on this target, a greater power of two, or 0", asked.narrowestMask,
                         own.narrowestMask);
  return missing;
}

std::string whatTargetLacks(const DeviceStrategy &asked, const DeviceStrategy &own) {
  if (asked.vectorBytes && (!isPowerOfTwo(asked.vectorBytes) || asked.vectorBytes > 16))
    return llvm::formatv("vector-bytes={0}: 0 or a power of two, at most 16", asked.vectorBytes);
  if (!isPowerOfTwo(asked.maxGroup) || asked.maxGroup > own.maxGroup)
    return llvm::formatv("max-group={0}: a power of two, at most {1} on this target", asked.maxGroup, own.maxGroup);
  if (asked.groupMemoryBytes > own.groupMemoryBytes)
    return llvm::formatv("group-memory-bytes={0}: at most {1} on this target", asked.groupMemoryBytes,
                         own.groupMemoryBytes);
  if (asked.subGroupSizes.empty() || !llvm::is_sorted(asked.subGroupSizes))
    return "sub-group-sizes: at least one, in ascending order";
  const bool usesNone = asked.subGroupSizes == SmallVector<int64_t>{1};
  for (int64_t size : asked.subGroupSizes)
    if (!usesNone && (!llvm::is_contained(own.subGroupSizes, size) || size > asked.maxGroup))
      return llvm::formatv("sub-group-sizes={0}: not on this target, or greater than a group", size);
  return {};
}

template <typename Strategy> class RecipePass : public PassWrapper<RecipePass<Strategy>, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RecipePass)
  explicit RecipePass(const Recipe<Strategy> &recipe) : recipe(recipe) { addOptions(); }
  RecipePass(const RecipePass &other) : PassWrapper<RecipePass, OperationPass<ModuleOp>>(other), recipe(other.recipe) {
    addOptions();
  }

  StringRef getArgument() const override { return recipe.pass; }
  StringRef getDescription() const override { return recipe.summary; }
  void getDependentDialects(DialectRegistry &registry) const override { registerAllStageDialects(registry); }

  void runOnOperation() override {
    std::string whyNot;
    std::optional<Strategy> strategy = readStrategy(whyNot);
    auto scheduler = [&](func::FuncOp problem, std::string &reason) -> FailureOr<Kernels> {
      MatchPtr match = recipe.match(problem, *strategy, reason);
      if (match && !match->isFallback())
        return match->emit();
      if (match)
        reason = match->whyFallback;
      return failure();
    };
    if (strategy && succeeded(scheduleProblems(this->getOperation(), scheduler, whyNot)))
      return;
    this->getOperation().emitError(recipe.pass) << ": " << whyNot;
    this->signalPassFailure();
  }

private:
  template <typename T> using Option = typename Pass::Option<T>;

  std::optional<Strategy> readStrategy(std::string &whyNot) const {
    Result<Target> parsed = Target::parse(target.getValue());
    if (!parsed)
      whyNot = parsed.error().message;
    else if (parsed->kind != recipe.kind)
      whyNot = "target '" + target.getValue() + (parsed->isCpu() ? "' is not a device" : "' is not a CPU");
    if (!whyNot.empty())
      return std::nullopt;
    const Strategy own = recipe.strategyFor(*parsed);
    Strategy strategy = own;
    for (const auto &assign : assignments)
      assign(strategy, whyNot);
    if (whyNot.empty())
      whyNot = whatTargetLacks(strategy, own);
    return whyNot.empty() ? std::optional(strategy) : std::nullopt;
  }

  void addOptions() {
    Strategy::visitFields([&](const char *field, auto member, double least, const char *what) {
      addOption(optionNameOf(field), member, least, what);
    });
  }
  template <typename T> void addOption(std::string name, T Strategy::*member, double least, const char *what) {
    auto option = std::make_shared<Option<T>>(*this, names.emplace_back(std::move(name)), llvm::cl::desc(what));
    assignments.push_back([option, member, least](Strategy &strategy, std::string &whyNot) {
      if (!option->hasValue())
        return;
      strategy.*member = option->getValue();
      if (static_cast<double>(option->getValue()) < least)
        whyNot =
            llvm::formatv("{0}={1}: at least {2}", option->ArgStr, option->getValue(), static_cast<int64_t>(least));
    });
  }
  void addOption(std::string name, SmallVector<int64_t> Strategy::*member, double least, const char *what) {
    auto option = std::make_shared<typename Pass::ListOption<int64_t>>(*this, names.emplace_back(std::move(name)),
                                                                       llvm::cl::desc(what));
    assignments.push_back([option, member, least](Strategy &strategy, std::string &whyNot) {
      if (!option->hasValue())
        return;
      strategy.*member = SmallVector<int64_t>(option->begin(), option->end());
      for (int64_t value : strategy.*member)
        if (static_cast<double>(value) < least)
          whyNot = llvm::formatv("{0}={1}: at least {2}", option->ArgStr, value, static_cast<int64_t>(least));
    });
  }

  Recipe<Strategy> recipe;
  std::deque<std::string> names;
  std::vector<std::function<void(Strategy &, std::string &whyNot)>> assignments;
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("Target whose strategy the options modify (default: native)"),
                             llvm::cl::init("native")};
};

template <typename Strategy> void add(const Recipe<Strategy> &recipe) {
  registerPass([recipe]() -> std::unique_ptr<Pass> { return std::make_unique<RecipePass<Strategy>>(recipe); });
}

DeviceStrategy strategyOfDevice(const Target &target) { return deviceStrategyFor(target.device); }

} // namespace

void registerRecipePasses() {
  add<MapStrategy>({"quern-schedule-map", "Schedule elementwise operations in lines and tiles", TargetKind::Cpu,
                    mapStrategyFor, matchMap});
  add<ContractionStrategy>({"quern-schedule-contraction", "Schedule sums of products in register blocks",
                            TargetKind::Cpu, contractionStrategyFor, matchContraction});
  add<RowsStrategy>({"quern-schedule-rows", "Schedule chains of operations with reductions, in sweeps over rows",
                     TargetKind::Cpu, rowsStrategyFor, matchRows});
  add<DeviceStrategy>({"quern-schedule-device-map", "Schedule elementwise operations for work-items", TargetKind::Spirv,
                       strategyOfDevice, matchDeviceMap});
  add<DeviceStrategy>({"quern-schedule-device-contraction", "Schedule sums of products for sub-groups",
                       TargetKind::Spirv, strategyOfDevice, matchDeviceContraction});
  add<DeviceStrategy>({"quern-schedule-device-rows",
                       "Schedule chains of operations with reductions for sub-groups and work-groups",
                       TargetKind::Spirv, strategyOfDevice, matchDeviceRows});
}

} // namespace quern
