//===- RandomDevicesTest.cpp - A device's recipes against naive loops -----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests random maps, chains, sums of bytes, products and open sizes with the recipes of devices, for random devices.
// Their kernels run on the host, work-item by work-item (WorkGroups.h), on memory that ends or starts at inaccessible
// pages, in place or not, and the results must agree with naive loops. QUERN_TEST_SEED and QUERN_TEST_COUNT select the
// problems; a failure prints the seed and the IR.
//
//===----------------------------------------------------------------------===//
#include "Crash.h"
#include "RandomContraction.h"
#include "RandomMap.h"
#include "RandomOpen.h"
#include "RandomRows.h"
#include "ScheduledKernel.h"
#include "WorkItems.h"

#include "Schedule/Contraction/Device/Contraction.h"
#include "Schedule/Map/Device/Map.h"
#include "Schedule/Rows/Device/Rows.h"
#include "quern/kernel_abi.h"

#include "llvm/ADT/bit.h"
#include "gtest/gtest.h"

#include <functional>
#include <map>
#include <random>

using namespace mlir;
using namespace quern;
using namespace quern::test;

namespace {

/// Draws the properties of a device: sub-group sizes, the maximum group, memory, and the vectors of its driver.
DeviceStrategy randomDevice(std::mt19937_64 &random) {
  auto pick = [&](int64_t from, int64_t to) {
    return from + static_cast<int64_t>(random() % static_cast<uint64_t>(to - from + 1));
  };
  DeviceStrategy device;
  device.maxGroup = int64_t(1) << pick(3, 8);
  device.subGroupSizes.clear();
  while (device.subGroupSizes.empty())
    for (int64_t size = 1; size <= std::min<int64_t>(64, device.maxGroup); size *= 2)
      if (pick(0, 99) < (size < 8 ? 8 : 50))
        device.subGroupSizes.push_back(size);
  device.groupMemoryBytes = int64_t(1) << pick(11, 16);
  device.vectorBytes = pick(0, 1) ? 0 : int64_t(1) << pick(2, 4);
  if (pick(0, 1)) {
    device.registerBytes = int64_t(1) << pick(4, 8);
    device.smallGroup = int64_t(1) << pick(4, 8);
    device.lineBytes = int64_t(1) << pick(5, 7);
  }
  if (!pick(0, 7))
    device.subGroupSizes = {1};
  if (!pick(0, 5))
    device.groupMemoryBytes = 0;
  return device;
}

std::string textOf(const DeviceStrategy &device) {
  std::string text = "sub-groups of";
  for (int64_t size : device.subGroupSizes)
    text += ' ' + std::to_string(size);
  return text + ", groups up to " + std::to_string(device.maxGroup) + " (" + std::to_string(device.smallGroup) + "), " +
         std::to_string(device.groupMemoryBytes) + " bytes of group memory, " + std::to_string(device.vectorBytes) +
         " bytes per access, " + std::to_string(device.registerBytes) + " bytes in registers, lines of " +
         std::to_string(device.lineBytes);
}

using DeviceRecipe = MatchPtr (*)(const schedule::Problem &problem, const DeviceStrategy &device, std::string &whyNot);

class RandomDevices : public testing::Test {
protected:
  /// Returns nothing if the recipe does not support the problem. Fallbacks are supported.
  std::optional<ScheduledKernel> compile(const std::string &text, DeviceRecipe recipe, const DeviceStrategy &device) {
    std::string whyNot;
    std::optional<ScheduledKernel> kernel = compiler.tryCompile(
        text, target,
        [&](func::FuncOp problem, std::string &reason) {
          const MatchPtr match = recipe(problem, device, reason);
          if (match)
            llvm::for_each(match->emit(), makeWorkItem);
          return success(match != nullptr);
        },
        whyNot);
    ++(kernel ? scheduled : refused[whyNot]);
    if (kernel && !fits(*kernel, device))
      kernel.reset();
    return kernel;
  }
  /// Checks the limits of the device for launches; the test fails if one is exceeded.
  static bool fits(const ScheduledKernel &kernel, const DeviceStrategy &device) {
    for (const GroupShape &group : kernel.groups) {
      EXPECT_TRUE(group.items > 0 && group.items <= device.maxGroup) << "a group of " << group.items;
      EXPECT_LE(group.bytes(), device.groupMemoryBytes);
      const bool hasSize = group.subGroup > 1 && llvm::is_contained(device.subGroupSizes, group.subGroup);
      EXPECT_TRUE(!group.subGroup || (hasSize && group.items % group.subGroup == 0))
          << "sub-groups of " << group.subGroup << " in a group of " << group.items;
    }
    return !HasFailure();
  }
  void check(ScheduledKernel &kernel, const OpenChain &problem, uint64_t seed, bool widens) {
    SCOPED_TRACE(problem.closed.text.substr(0, problem.closed.text.find('\n')) + '\n' + kernel.plan);
    const std::vector<ChainArgument> &arguments = problem.open.arguments;
    const Buffers start = makeBuffers(arguments, seed);
    Buffers want = start;
    const ScheduledKernel naive = compiler.compileNaively(problem.closed.text, target, widens);
    ASSERT_TRUE(naive.code && kernel.code);
    run(naive, arguments, want, false);
    kernel.orderSeed = seed, kernel.sizes = problem.sizes;
    const bool mayAlias = llvm::any_of(arguments, [](const ChainArgument &argument) { return argument.aliasOf >= 0; });
    for (bool aliased : {false, true})
      if (mayAlias || !aliased)
        checkKernel(kernel, arguments, problem.open.tolerance, start, want, aliased);
    for (auto &[feature, times] : seen) {
      const bool isAbsent = feature.front() == '!';
      times += (kernel.plan.find(feature.substr(isAbsent ? 1 : 0)) == std::string::npos) == isAbsent;
    }
  }
  void check(const RandomChain &problem, uint64_t seed, DeviceRecipe recipe, bool widens) {
    std::mt19937_64 random(seed);
    check({problem, problem, {}}, seed, recipe, widens, randomDevice(random));
  }
  void check(const OpenChain &problem, uint64_t seed, DeviceRecipe recipe, bool widens, const DeviceStrategy &device) {
    const std::string about =
        "QUERN_TEST_SEED=" + std::to_string(seed) + " QUERN_TEST_COUNT=1\n" + textOf(device) + '\n' + problem.open.text;
    SCOPED_TRACE(about);
    const RunningCase running(about);
    if (std::optional<ScheduledKernel> kernel = compile(problem.open.text, recipe, device))
      check(*kernel, problem, seed, widens);
  }
  /// Runs one kernel with three sets of sizes.
  void checkOpen(OpenChain (*draw)(uint64_t seed, uint64_t execution), uint64_t seed, DeviceRecipe recipe,
                 bool widens) {
    std::mt19937_64 random(seed);
    const DeviceStrategy device = randomDevice(random);
    const std::string text = draw(seed, 0).open.text;
    const std::string about =
        "QUERN_TEST_SEED=" + std::to_string(seed) + " QUERN_TEST_COUNT=1\n" + textOf(device) + '\n' + text;
    SCOPED_TRACE(about);
    const RunningCase running(about);
    std::optional<ScheduledKernel> kernel = compile(text, recipe, device);
    for (uint64_t execution = 0; kernel && execution < 3 && !HasFailure(); ++execution) {
      const OpenChain problem = draw(seed, execution);
      ASSERT_EQ(problem.open.text, text);
      check(*kernel, problem, seed, widens);
    }
  }
  /// Features are words of a plan; after a '!', words that some plan does not have.
  void forEachSeed(uint64_t usual, std::initializer_list<const char *> features,
                   const std::function<void(uint64_t seed)> &body) {
    const uint64_t first = fromEnvironment("QUERN_TEST_SEED", 1), count = fromEnvironment("QUERN_TEST_COUNT", usual);
    for (const char *feature : features)
      seen[feature] = 0;
    for (uint64_t seed = first; seed < first + count && !HasFailure(); ++seed)
      body(seed);
    for (const auto &[feature, times] : seen) // a full run covers every way of scheduling
      EXPECT_TRUE(times > 0 || count < usual) << "not reached by any plan: " << feature;
    int others = 0;
    for (const auto &[reason, times] : refused) {
      others += times;
      EXPECT_TRUE(llvm::any_of(known, [&, &reason = reason](StringRef part) {
        return StringRef(reason).contains(part);
      })) << reason;
    }
    EXPECT_TRUE(scheduled > 3 * others || count < usual) << scheduled << " taken, " << others << " not";
  }

  static constexpr const char *known[] = {"do not fit the registers of a work-item"};
  static constexpr CpuIsa hosts[] = {CpuIsa::Sse42, CpuIsa::Avx2, CpuIsa::Neon};
  const Target target = targetsOfMachine(hosts).back();
  KernelCompiler compiler;
  int scheduled = 0;
  std::map<std::string, int> refused, seen;
};

TEST_F(RandomDevices, MapsEqualNaiveLoops) {
  forEachSeed(150,
              {"lines", "tiles through group memory", "reads vectors", "writes vectors", ", vectors of", "sub-groups",
               "padding"},
              [&](uint64_t seed) {
                const RandomMap map = makeRandomMap(seed);
                check({map.text, map.arguments, 0}, seed, matchDeviceMap, /*widens=*/false);
              });
}

TEST_F(RandomDevices, OpenMapsEqualNaiveLoops) {
  forEachSeed(100,
              {"lines", "tiles through group memory", "reads vectors", "writes vectors", ", vectors of", "sub-groups"},
              [&](uint64_t seed) { checkOpen(makeOpenMap, seed, matchDeviceMap, /*widens=*/false); });
}

TEST_F(RandomDevices, ChainsEqualNaiveLoops) {
  forEachSeed(
      150, {"to a sub-group", "to a group", "to a work-item", "kept in", "sweeps", "adjacent", "moved through memory"},
      [&](uint64_t seed) { check(makeRandomChain(seed), seed, matchDeviceRows, /*widens=*/true); });
}

TEST_F(RandomDevices, SumsOfBytesEqualNaiveLoops) {
  forEachSeed(120, {"to a sub-group", "to a work-item", "kept in", "sweeps", "adjacent"},
              [&](uint64_t seed) { check(makeRandomByteSum(seed), seed, matchDeviceRows, /*widens=*/false); });
}

TEST_F(RandomDevices, OpenChainsEqualNaiveLoops) {
  forEachSeed(60, {"to a sub-group", "to a group", "to a work-item", "kept in", "sweeps"},
              [&](uint64_t seed) { checkOpen(makeOpenChain, seed, matchDeviceRows, /*widens=*/true); });
}

/// All work-items of a row read a value of the row, and one of them overwrites it.
TEST_F(RandomDevices, ValuesOfRowsAreReadBeforeTheyAreOverwritten) {
  const std::string text = R"(
#all = affine_map<(n, k) -> (n, k)>
#row = affine_map<(n, k) -> (n)>
#one = affine_map<(n) -> (n)>
func.func @chain(%src: memref<3x700xf32>, %old: memref<3xf32>, %new: memref<3xf32>, %dst: memref<3x700xf32>) {
  %zero = arith.constant 0.0 : f32
  %some = arith.constant 0.01 : f32
  %sum = memref.alloc() : memref<3xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<3xf32>)
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%src : memref<3x700xf32>) outs(%sum : memref<3xf32>) {
  ^bb0(%x: f32, %s: f32):
    %r = arith.addf %s, %x fastmath<reassoc> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#one, #one, #one], iterator_types = ["parallel"]}
      ins(%sum, %old : memref<3xf32>, memref<3xf32>) outs(%new : memref<3xf32>) {
  ^bb0(%s: f32, %o: f32, %out: f32):
    %m = arith.mulf %s, %some : f32
    %r = arith.addf %o, %m : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%src, %new : memref<3x700xf32>, memref<3xf32>) outs(%dst : memref<3x700xf32>) {
  ^bb0(%x: f32, %v: f32, %out: f32):
    %r = arith.subf %x, %v : f32
    linalg.yield %r : f32
  }
  return
})";
  DeviceStrategy device;
  device.subGroupSizes = {16}, device.vectorBytes = 16;
  const std::vector<ChainArgument> arguments{{Element::F32, 2100},
                                             {Element::F32, 3},
                                             {Element::F32, 3, true, /*aliasOf=*/1},
                                             {Element::F32, 2100, true, /*aliasOf=*/0}};
  const RandomChain chain{text, arguments, 1e-4};
  check({chain, chain, {}}, /*seed=*/1, matchDeviceRows, /*widens=*/true, device);
  EXPECT_EQ(scheduled, 1);
}

/// The number of rows is known or open.
TEST_F(RandomDevices, ProductsEqualNaiveLoops) {
  forEachSeed(100,
              {"over memory", "in registers", "rhs through memory", "2 products", "accumulators",
               "! 1 below each other", "! x 1 along K", "!steps of 1", " ?x"},
              [&](uint64_t seed) {
                const RandomContraction problem = makeRandomContraction(seed);
                const RandomChain closed{problem.text, problem.arguments, problem.tolerance};
                check(closed, seed, matchDeviceContraction, /*widens=*/true);
                if (problem.openText.empty())
                  return;
                std::mt19937_64 random(seed + 1);
                const std::vector<int64_t> sizes(problem.arguments.size(), problem.rows);
                check({{problem.openText, problem.arguments, problem.tolerance}, closed, sizes}, seed,
                      matchDeviceContraction,
                      /*widens=*/true, randomDevice(random));
              });
}

TEST_F(RandomDevices, OpenProductsEqualNaiveLoops) {
  forEachSeed(60,
              {"over memory", "in registers", "rhs through memory", " ?x?", "tiles x ceil", " tiles",
               "! 1 below each other", "! x 1 along K", "!steps of 1"},
              [&](uint64_t seed) { checkOpen(makeOpenProduct, seed, matchDeviceContraction, /*widens=*/true); });
}

} // namespace
