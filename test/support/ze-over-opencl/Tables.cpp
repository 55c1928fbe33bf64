//===- Tables.cpp - Exported functions of the driver ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Driver.h"

#include <level_zero/zes_api.h>
#include <level_zero/zes_ddi.h>
#include <level_zero/zet_api.h>
#include <level_zero/zet_ddi.h>

#include <algorithm>

namespace {

std::atomic<int64_t> calls{0}, failingCall{0};
std::atomic<int32_t> failure{0};

ze_result_t unsupported() { return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE; }

/// Tables of one API; they consist only of function pointers.
template <typename Tables> Tables makeTables() {
  Tables tables;
  std::fill_n(reinterpret_cast<void **>(&tables), sizeof tables / sizeof(void *),
              reinterpret_cast<void *>(unsupported));
  if constexpr (std::is_same_v<Tables, ze_dditable_t>)
    for (auto *add : {zocl::addDevices, zocl::addMemory, zocl::addModules, zocl::addQueues})
      add(tables);
  return tables;
}
template <typename Tables> const Tables tables = makeTables<Tables>();

/// An older loader is refused, because its tables are smaller than those of the headers of this build.
template <typename Table> ze_result_t give(ze_api_version_t version, const Table &table, Table *out) {
  if (!out)
    return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  if (ZE_MAJOR_VERSION(version) != 1 || version < ZE_API_VERSION_CURRENT)
    return ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
  *out = table;
  return ZE_RESULT_SUCCESS;
}

} // namespace

ze_result_t zocl::plannedFailure() {
  if (++calls != failingCall)
    return ZE_RESULT_SUCCESS;
  if (failure != ZE_RESULT_NOT_READY) // after an error that means a lost device, no command may still run
    waitForAllQueues();
  return static_cast<ze_result_t>(failure.load());
}

#define EXPORT extern "C" __attribute__((visibility("default")))

/// For tests, which find these functions with dlsym(). Makes the n-th call from now on return `result`; the first is 1,
/// and 0 cancels it. Functions that destroy or free something are not counted.
EXPORT void zeOverOpenClFail(int64_t n, int32_t result) {
  failure = result;
  failingCall = n ? calls + n : 0;
}
/// Returns the number of calls so far that zeOverOpenClFail() counts.
EXPORT int64_t zeOverOpenClCalls() { return calls; }
/// Returns the number of objects and allocations that the application has created and not destroyed.
EXPORT int64_t zeOverOpenClLive() { return zocl::Counted::live; }

// Functions that the loader looks up.
#define TABLE(api, Name)                                                                                               \
  EXPORT ze_result_t api##Get##Name##ProcAddrTable(ze_api_version_t version, decltype(api##_dditable_t::Name) *out) {  \
    return give(version, tables<api##_dditable_t>.Name, out);                                                          \
  }
// clang-format off
TABLE(ze, Global) TABLE(ze, Driver) TABLE(ze, Device) TABLE(ze, DeviceExp) TABLE(ze, Context) TABLE(ze, CommandQueue)
TABLE(ze, CommandList) TABLE(ze, Image) TABLE(ze, ImageExp) TABLE(ze, Fence) TABLE(ze, EventPool) TABLE(ze, Event)
TABLE(ze, EventExp) TABLE(ze, Module) TABLE(ze, ModuleBuildLog) TABLE(ze, Kernel) TABLE(ze, KernelExp)
TABLE(ze, Sampler) TABLE(ze, PhysicalMem) TABLE(ze, Mem) TABLE(ze, VirtualMem) TABLE(ze, FabricVertexExp)
TABLE(ze, FabricEdgeExp)
TABLE(zet, Device) TABLE(zet, Context) TABLE(zet, CommandList) TABLE(zet, Module) TABLE(zet, Kernel)
TABLE(zet, MetricGroup) TABLE(zet, MetricGroupExp) TABLE(zet, Metric) TABLE(zet, MetricStreamer)
TABLE(zet, MetricQueryPool) TABLE(zet, MetricQuery) TABLE(zet, TracerExp) TABLE(zet, Debug)
TABLE(zes, Driver) TABLE(zes, Device) TABLE(zes, Scheduler) TABLE(zes, PerformanceFactor) TABLE(zes, Power)
TABLE(zes, Frequency) TABLE(zes, Engine) TABLE(zes, Standby) TABLE(zes, Firmware) TABLE(zes, Memory)
TABLE(zes, FabricPort) TABLE(zes, Temperature) TABLE(zes, Psu) TABLE(zes, Fan) TABLE(zes, Led) TABLE(zes, Ras)
TABLE(zes, Diagnostics)
