//===- Tables.cpp - The tables of functions that the loader asks for -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Queue.h"

#include <level_zero/zes_api.h>
#include <level_zero/zes_ddi.h>
#include <level_zero/zet_api.h>
#include <level_zero/zet_ddi.h>

namespace {

std::atomic<int64_t> calls{0}, failingCall{0};
std::atomic<int32_t> failure{0};

ze_result_t unsupported() { return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE; }

/// An older loader has smaller tables than the headers this was built with, and is refused.
template <typename Table> ze_result_t give(ze_api_version_t version, Table *table) {
  if (!table)
    return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  if (ZE_MAJOR_VERSION(version) != 1 || version < ZE_API_VERSION_CURRENT)
    return ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
  auto **functions = reinterpret_cast<void **>(table); // a table is nothing but pointers to functions
  for (size_t i = 0; i < sizeof *table / sizeof *functions; ++i)
    functions[i] = reinterpret_cast<void *>(unsupported);
  if constexpr (requires { zocl::fill(*table); })
    zocl::fill(*table);
  return ZE_RESULT_SUCCESS;
}

} // namespace

ze_result_t zocl::plannedFailure() {
  const int64_t call = ++calls;
  if (call != failingCall)
    return ZE_RESULT_SUCCESS;
  Queue::waitForAll(); // no command runs on after an error that says the device is lost
  return static_cast<ze_result_t>(failure.load());
}

#define EXPORT extern "C" __attribute__((visibility("default")))
#define TABLE(prefix, Name, name)                                                                                                          \
  EXPORT ze_result_t prefix##Get##Name##ProcAddrTable(ze_api_version_t version, prefix##_##name##_dditable_t *table) {                     \
    return give(version, table);                                                                                                           \
  }

/// For tests, which find these with dlsym(). The n-th call from now on gives `result`; the first is 1, and 0 takes the plan back. What
/// destroys or frees is not counted.
EXPORT void zeOverOpenClFail(int64_t n, int32_t result) {
  failure = result;
  failingCall = n ? calls + n : 0;
}
/// Calls so far that zeOverOpenClFail() counts.
EXPORT int64_t zeOverOpenClCalls() { return calls; }
/// Objects and allocations that the application has created and not destroyed.
EXPORT int64_t zeOverOpenClLive() { return zocl::Counted::live; }

// clang-format off
TABLE(ze, Global, global) TABLE(ze, Driver, driver) TABLE(ze, Device, device) TABLE(ze, Context, context) TABLE(ze, Mem, mem)
TABLE(ze, Module, module) TABLE(ze, ModuleBuildLog, module_build_log) TABLE(ze, Kernel, kernel) TABLE(ze, KernelExp, kernel_exp)
TABLE(ze, CommandQueue, command_queue) TABLE(ze, CommandList, command_list) TABLE(ze, Fence, fence) TABLE(ze, EventPool, event_pool)
TABLE(ze, Event, event) TABLE(ze, DeviceExp, device_exp) TABLE(ze, Image, image) TABLE(ze, ImageExp, image_exp)
TABLE(ze, EventExp, event_exp) TABLE(ze, Sampler, sampler) TABLE(ze, PhysicalMem, physical_mem) TABLE(ze, VirtualMem, virtual_mem)
TABLE(ze, FabricVertexExp, fabric_vertex_exp) TABLE(ze, FabricEdgeExp, fabric_edge_exp)
TABLE(zet, Device, device) TABLE(zet, Context, context) TABLE(zet, CommandList, command_list) TABLE(zet, Module, module)
TABLE(zet, Kernel, kernel) TABLE(zet, MetricGroup, metric_group) TABLE(zet, MetricGroupExp, metric_group_exp) TABLE(zet, Metric, metric)
TABLE(zet, MetricStreamer, metric_streamer) TABLE(zet, MetricQueryPool, metric_query_pool) TABLE(zet, MetricQuery, metric_query)
TABLE(zet, TracerExp, tracer_exp) TABLE(zet, Debug, debug)
TABLE(zes, Driver, driver) TABLE(zes, Device, device) TABLE(zes, Scheduler, scheduler) TABLE(zes, PerformanceFactor, performance_factor)
TABLE(zes, Power, power) TABLE(zes, Frequency, frequency) TABLE(zes, Engine, engine) TABLE(zes, Standby, standby)
TABLE(zes, Firmware, firmware) TABLE(zes, Memory, memory) TABLE(zes, FabricPort, fabric_port) TABLE(zes, Temperature, temperature)
TABLE(zes, Psu, psu) TABLE(zes, Fan, fan) TABLE(zes, Led, led) TABLE(zes, Ras, ras) TABLE(zes, Diagnostics, diagnostics)
