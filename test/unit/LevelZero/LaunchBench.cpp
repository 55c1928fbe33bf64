//===- LaunchBench.cpp - Host time of an execution ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Prints the time of quern_primitive_execute() and that of the driver calls that it makes, as medians over alternating
// calls: a launch (two arguments, a barrier and the launch) and a recorded program of many launches (one submission).
// An event blocks the device meanwhile: submitted work would sometimes wake threads of the OpenCL runtime, which takes
// several times as long.
//
//===----------------------------------------------------------------------===//
#include "LevelZero/DeviceArtifacts.h"
#include "support/TestDriver.h"

#include <level_zero/ze_api.h>

#include "quern/quern_ze.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace quern;
using namespace quern::test;

namespace {

constexpr int rounds = 400, callsInRound = 5;

/// The median of the time of a call in ns, over rounds; `hold`, before the calls, and `wait` are not timed.
struct Median {
  std::vector<double> times;
  template <typename Hold, typename Body, typename Wait> void add(Hold hold, Body body, Wait wait) {
    hold();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < callsInRound; ++i)
      body();
    times.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() /
                    callsInRound);
    wait();
  }
  double value() {
    const auto middle = times.begin() + std::ssize(times) / 2;
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
  }
};

void check(ze_result_t result) {
  if (result)
    std::printf("a call of the driver gave 0x%x\n", static_cast<unsigned>(result)), std::exit(1);
}

/// The same calls without Quern.
struct Raw {
  ze_device_handle_t device;
  ze_context_handle_t context;
  ze_command_list_handle_t now{}, recorded{}, blocked{};
  ze_command_queue_handle_t queue{};
  ze_event_pool_handle_t pool{};
  ze_event_handle_t event{}, gate{};
  ze_module_handle_t module{};
  ze_kernel_handle_t kernel{};
  void *from = nullptr, *to = nullptr;

  explicit Raw(const engine &from) : device(ze_interop::get_device(from)), context(ze_interop::get_context(from)) {
    const ze_command_queue_desc_t queueDesc{
        ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, nullptr, 0, 0, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
        ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
    check(zeCommandListCreateImmediate(context, device, &queueDesc, &now));
    check(zeCommandQueueCreate(context, device, &queueDesc, &queue));
    const ze_event_pool_desc_t poolDesc{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr, ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 2};
    check(zeEventPoolCreate(context, &poolDesc, 1, &device, &pool));
    ze_event_desc_t eventDesc{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 0, ZE_EVENT_SCOPE_FLAG_HOST,
                              ZE_EVENT_SCOPE_FLAG_HOST};
    check(zeEventCreate(pool, &eventDesc, &event));
    eventDesc.index = 1;
    check(zeEventCreate(pool, &eventDesc, &gate));
    const ze_command_list_desc_t listDesc{ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr, 0, 0};
    check(zeCommandListCreate(context, device, &listDesc, &blocked));
    check(zeCommandListAppendBarrier(blocked, nullptr, 1, &gate));
    check(zeCommandListClose(blocked));
    const ze_device_mem_alloc_desc_t onDevice{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0, 0};
    check(zeMemAllocDevice(context, &onDevice, 1 << 20, 64, device, &this->from));
    check(zeMemAllocDevice(context, &onDevice, 1 << 20, 64, device, &to));
    const std::string code = readTestSpirv();
    const ze_module_desc_t moduleDesc{ZE_STRUCTURE_TYPE_MODULE_DESC,
                                      nullptr,
                                      ZE_MODULE_FORMAT_IL_SPIRV,
                                      code.size(),
                                      reinterpret_cast<const uint8_t *>(code.data()),
                                      nullptr,
                                      nullptr};
    check(zeModuleCreate(context, device, &moduleDesc, &module, nullptr));
    const ze_kernel_desc_t kernelDesc{ZE_STRUCTURE_TYPE_KERNEL_DESC, nullptr, 0, "nothing"};
    check(zeKernelCreate(module, &kernelDesc, &kernel));
    check(zeKernelSetGroupSize(kernel, 16, 1, 1));
  }
  void append(ze_command_list_handle_t list) {
    const ze_group_count_t groups{1, 1, 1};
    check(zeKernelSetArgumentValue(kernel, 0, sizeof from, &from));
    check(zeKernelSetArgumentValue(kernel, 1, sizeof to, &to));
    check(zeCommandListAppendBarrier(list, nullptr, 0, nullptr));
    check(zeCommandListAppendLaunchKernel(list, kernel, &groups, nullptr, 0, nullptr));
  }
  void record(int64_t launches) {
    const ze_command_list_desc_t desc{ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr, 0, 0};
    check(zeCommandListCreate(context, device, &desc, &recorded));
    for (int64_t i = 0; i < launches; ++i)
      append(recorded);
    check(zeCommandListClose(recorded));
  }
  void submit(ze_command_list_handle_t list) { check(zeCommandQueueExecuteCommandLists(queue, 1, &list, nullptr)); }
  void open() { check(zeEventHostSignal(gate)); }
  void wait() {
    check(zeCommandListAppendBarrier(now, event, 0, nullptr));
    check(zeEventHostSynchronize(event, UINT64_MAX));
    check(zeEventHostReset(event));
    check(zeCommandQueueSynchronize(queue, UINT64_MAX));
  }
};

Artifact nothing(const VerifiedProblem &problem, const Target &target) {
  return makeDeviceArtifact(problem, target, "nothing", 1);
}
Artifact nothingByRows(const VerifiedProblem &problem, const Target &target) {
  Artifact artifact = addTwoByRows(problem, target);
  artifact.entries = {"nothing"};
  return artifact;
}

void print(const std::string &what, Median &ours, Median &driver) {
  std::printf("%-28s %8.2f us, of which the driver's calls %8.2f us: %6.2f us above\n", what.c_str(),
              ours.value() / 1e3, driver.value() / 1e3, (ours.value() - driver.value()) / 1e3);
}

void measure() {
  const engine device(engine::kind::gpu, 0);
  stream order(device);
  Raw raw(device);
  const auto addOurs = [&](Median &ours, DeviceRun &run) {
    ours.add([&] { ze_interop::execute(run.kernel, order, run.arguments, {raw.gate}); }, [&] { run.execute(order); },
             [&] {
               raw.open();
               order.wait();
               check(zeEventHostReset(raw.gate));
             });
  };
  const auto addDriver = [&](Median &driver, auto hold, auto body) {
    driver.add(hold, body, [&] {
      raw.open();
      raw.wait();
      check(zeEventHostReset(raw.gate));
    });
  };
  {
    DeviceRun run(device, softmaxLine("8"), nothing);
    Median ours, driver;
    for (int i = 0; i < rounds; ++i) {
      addOurs(ours, run);
      addDriver(
          driver, [&] { check(zeCommandListAppendBarrier(raw.now, nullptr, 1, &raw.gate)); },
          [&] { raw.append(raw.now); });
    }
    print("a launch", ours, driver);
  }
  for (int64_t steps : {8, 80, 800}) {
    DeviceRun run(device, softmaxLine(std::to_string(steps)), nothingByRows);
    raw.record(2 * steps);
    run.execute(order);
    order.wait();
    Median ours, driver;
    for (int i = 0; i < rounds / 8; ++i) {
      addOurs(ours, run);
      addDriver(driver, [&] { raw.submit(raw.blocked); }, [&] { raw.submit(raw.recorded); });
    }
    print(concat("a program of ", 2 * steps, " launches"), ours, driver);
    check(zeCommandListDestroy(raw.recorded));
  }
}

} // namespace

int main(int, char **argv) {
  setenv("QUERN_CACHE_DIR", "off", 0);
  if (!useTestDriver(argv)) {
    std::puts("no OpenCL runtime: run tools/peers.sh intel-opencl");
    return 1;
  }
  measure();
  return 0;
}
