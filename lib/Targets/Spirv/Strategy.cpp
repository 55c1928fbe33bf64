//===- Strategy.cpp - How problems are scheduled for a device --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Targets/Spirv/Strategy.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SetVector.h"

#include <algorithm>
#include <string>

using namespace mlir;
using namespace quern;

using Kernels = FailureOr<SmallVector<func::FuncOp>>;

namespace {

struct DeviceSchedule {
  const char *name;
  Kernels (*run)(const Problem &problem, const DeviceStrategy &strategy, std::string *whyNot);
};

/// The first that takes a problem has it. What all refuse is asked of them once more as a last resort.
constexpr DeviceSchedule schedules[] = {
    {"map", scheduleDeviceMap}, {"contraction", scheduleDeviceContraction}, {"rows", scheduleDeviceRows}};

/// The most group memory that one of the kernels takes; erases them, memory included, if that is more than there is.
int64_t dropUnlessFits(ArrayRef<func::FuncOp> kernels, int64_t available) {
  int64_t most = 0;
  llvm::SmallSetVector<Operation *, 4> memory;
  for (func::FuncOp kernel : kernels) {
    int64_t bytes = 0;
    kernel.walk([&](memref::GetGlobalOp use) {
      auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(use, use.getNameAttr());
      if (!isa_and_nonnull<gpu::AddressSpaceAttr>(use.getType().getMemorySpace()) || !memory.insert(global))
        return;
      const int64_t own =
          use.getType().getNumElements() * static_cast<int64_t>(llvm::divideCeil(use.getType().getElementTypeBitWidth(), 8));
      bytes = static_cast<int64_t>(llvm::alignTo(static_cast<uint64_t>(bytes), 16)) + own;
    });
    most = std::max(most, bytes);
  }
  if (most <= available)
    return most;
  for (func::FuncOp kernel : kernels)
    kernel.erase();
  for (Operation *global : memory)
    global->erase();
  return most;
}

} // namespace

DeviceStrategy quern::deviceStrategyFor(const DeviceTraits &device) {
  DeviceStrategy strategy;
  strategy.maxGroup = llvm::bit_floor(static_cast<uint32_t>(device.maxGroupSize)); // groups are halved and doubled
  strategy.subGroupSizes.clear();
  for (int32_t size = 1; size <= std::min<int64_t>(128, strategy.maxGroup); size *= 2)
    if (device.hasSubGroups(size))
      strategy.subGroupSizes.push_back(size);
  if (strategy.subGroupSizes.empty())
    strategy.subGroupSizes.push_back(1);
  strategy.groupMemoryBytes = device.groupMemoryBytes;
  strategy.vectorBytes = device.vectorBytes;
  return strategy;
}

Kernels quern::scheduleForDevice(const Problem &problem, const DeviceTraits &device, std::string &whyNot) {
  DeviceStrategy strategy = deviceStrategyFor(device);
  for (bool isLastResort : {false, true}) {
    strategy.isLastResort = isLastResort;
    strategy.groupMemoryBytes = isLastResort ? 0 : device.groupMemoryBytes;
    whyNot.clear();
    for (const DeviceSchedule &schedule : schedules) {
      std::string reason;
      if (Kernels kernels = schedule.run(problem, strategy, &reason); succeeded(kernels)) {
        const int64_t bytes = dropUnlessFits(*kernels, device.groupMemoryBytes);
        if (bytes <= device.groupMemoryBytes)
          return kernels;
        reason = "it takes " + std::to_string(bytes) + " bytes of group memory; the device has " + std::to_string(device.groupMemoryBytes);
      }
      whyNot += (whyNot.empty() ? "" : "; ") + std::string(schedule.name) + ": " + reason;
    }
  }
  return failure();
}
