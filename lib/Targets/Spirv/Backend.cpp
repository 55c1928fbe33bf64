//===- Backend.cpp - The backend of SPIR-V devices ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Targets/Spirv/Backend.h"

#include "Targets/Spirv/Codegen.h"
#include "Targets/Spirv/Pipeline.h"
#include "Targets/Spirv/Strategy.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SetVector.h"

#include <algorithm>

using namespace mlir;
using namespace quern;
using namespace quern::schedule;

namespace {

/// Returns the maximum group memory of the kernels; erases them, and the memory, if that exceeds `available`.
int64_t dropUnlessFits(ArrayRef<func::FuncOp> kernels, int64_t available) {
  int64_t most = 0;
  llvm::SmallSetVector<Operation *, 4> memory;
  for (func::FuncOp kernel : kernels) {
    int64_t bytes = 0;
    kernel.walk([&](memref::GetGlobalOp use) {
      auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(use, use.getNameAttr());
      if (!isa_and_nonnull<gpu::AddressSpaceAttr>(use.getType().getMemorySpace()) || !memory.insert(global))
        return;
      const int64_t own = use.getType().getNumElements() *
                          static_cast<int64_t>(llvm::divideCeil(use.getType().getElementTypeBitWidth(), 8));
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

/// Runs a recipe within the limits of the target; as a last resort without group memory.
template <auto recipe>
Kernels run(const Problem &problem, const Target &target, bool isLastResort, std::string *whyNot) {
  const int64_t available = target.device.groupMemoryBytes;
  DeviceStrategy strategy = deviceStrategyFor(target.device);
  strategy.isLastResort = isLastResort;
  strategy.groupMemoryBytes = isLastResort ? 0 : available;
  Kernels kernels = recipe(problem, strategy, whyNot);
  if (failed(kernels))
    return kernels;
  const int64_t bytes = dropUnlessFits(*kernels, available);
  if (bytes <= available)
    return kernels;
  *whyNot = "the kernel uses " + std::to_string(bytes) + " bytes of group memory; the device has " +
            std::to_string(available);
  return failure();
}

constexpr Schedule schedules[] = {{"map", run<scheduleDeviceMap>, true},
                                  {"contraction", run<scheduleDeviceContraction>, true},
                                  {"rows", run<scheduleDeviceRows>, true}};

} // namespace

std::unique_ptr<Backend> quern::createSpirvBackend() {
  return std::make_unique<BackendOf<SpirvLowering, SpirvCodegen>>(
      BackendTraits{CodeKind::SpirV, "; ", /*passesSizes=*/true, schedules});
}
