//===- DriverTest.cpp - The test driver through the real loader -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests that the driver behaves as the Level Zero specification says; the runtime's tests rely on it.
//
//===----------------------------------------------------------------------===//
#include "support/TestDriver.h"

#include <gtest/gtest.h>
#include <level_zero/ze_api.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

constexpr uint64_t forever = UINT64_MAX;
constexpr uint32_t count = 256;

#define ASSERT_OK(call) ASSERT_EQ(call, ZE_RESULT_SUCCESS)
#define EXPECT_OK(call) EXPECT_EQ(call, ZE_RESULT_SUCCESS)

std::string spirv() {
  std::ifstream file(QUERN_TEST_SPIRV, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class ZeDriver : public testing::Test {
protected:
  void SetUp() override {
    objects = quern::test::driverObjects;
    ASSERT_OK(zeInit(0));
    before = objects();
    uint32_t one = 1;
    ASSERT_OK(zeDriverGet(&one, &driver));
    ASSERT_OK(zeDeviceGet(driver, &one, &device));
    const ze_context_desc_t desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    ASSERT_OK(zeContextCreate(driver, &desc, &context));
    const ze_device_mem_alloc_desc_t onDevice{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0, 0};
    const ze_host_mem_alloc_desc_t onHost{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
    ASSERT_OK(zeMemAllocShared(context, &onDevice, &onHost, count * sizeof(float), 64, device,
                               reinterpret_cast<void **>(&source)));
    ASSERT_OK(
        zeMemAllocDevice(context, &onDevice, count * sizeof(float), 64, device, reinterpret_cast<void **>(&result)));
    for (uint32_t i = 0; i < count; ++i)
      source[i] = static_cast<float>(i);
    const ze_command_queue_desc_t queueDesc{
        ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, nullptr, 0, 0, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
        ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
    ASSERT_OK(zeCommandQueueCreate(context, device, &queueDesc, &queue));
    ASSERT_OK(zeCommandListCreateImmediate(context, device, &queueDesc, &now));
    const ze_command_list_desc_t listDesc{ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr, 0, 0};
    ASSERT_OK(zeCommandListCreate(context, device, &listDesc, &list));
    makeEvents();
    ASSERT_OK(build(spirv(), &module, nullptr));
  }

  void TearDown() override {
    for (ze_kernel_handle_t kernel : kernels)
      EXPECT_OK(zeKernelDestroy(kernel));
    for (ze_event_handle_t event : events)
      EXPECT_OK(zeEventDestroy(event));
    EXPECT_OK(zeEventPoolDestroy(pool));
    EXPECT_OK(zeCommandListDestroy(list));
    EXPECT_OK(zeCommandListDestroy(now));
    EXPECT_OK(zeCommandQueueDestroy(queue));
    EXPECT_OK(zeModuleDestroy(module));
    EXPECT_OK(zeMemFree(context, source));
    EXPECT_OK(zeMemFree(context, result));
    EXPECT_OK(zeContextDestroy(context));
    EXPECT_EQ(objects(), before) << "an object was not released";
  }

  void makeEvents() {
    const ze_event_pool_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                    ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP, 3};
    ASSERT_OK(zeEventPoolCreate(context, &desc, 1, &device, &pool));
    for (uint32_t i = 0; i < std::size(events); ++i) {
      const ze_event_desc_t event{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, i, ZE_EVENT_SCOPE_FLAG_HOST,
                                  ZE_EVENT_SCOPE_FLAG_HOST};
      ASSERT_OK(zeEventCreate(pool, &event, &events[i]));
    }
  }

  ze_result_t build(const std::string &code, ze_module_handle_t *out, ze_module_build_log_handle_t *log,
                    ze_module_format_t format = ZE_MODULE_FORMAT_IL_SPIRV) {
    const ze_module_desc_t desc{ZE_STRUCTURE_TYPE_MODULE_DESC,
                                nullptr,
                                format,
                                code.size(),
                                reinterpret_cast<const uint8_t *>(code.data()),
                                "-ze-opt-level=2",
                                nullptr};
    return zeModuleCreate(context, device, &desc, out, log);
  }

  /// Returns a kernel in groups of `group` with buffers source and result. SetUp() must have succeeded.
  ze_kernel_handle_t kernel(const char *name, uint32_t group, ze_module_handle_t of = nullptr) {
    const ze_kernel_desc_t desc{ZE_STRUCTURE_TYPE_KERNEL_DESC, nullptr, 0, name};
    ze_kernel_handle_t made = nullptr;
    EXPECT_OK(zeKernelCreate(of ? of : module, &desc, &made));
    kernels.push_back(made);
    EXPECT_OK(zeKernelSetGroupSize(made, group, 1, 1));
    EXPECT_OK(zeKernelSetArgumentValue(made, 0, sizeof source, &source));
    EXPECT_OK(zeKernelSetArgumentValue(made, 1, sizeof result, &result));
    return made;
  }

  void execute() {
    EXPECT_OK(zeCommandListClose(list));
    EXPECT_OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, nullptr));
    EXPECT_OK(zeCommandQueueSynchronize(queue, forever));
    EXPECT_OK(zeCommandListReset(list));
  }

  int64_t (*objects)() = nullptr;
  int64_t before = 0;
  ze_driver_handle_t driver{};
  ze_device_handle_t device{};
  ze_context_handle_t context{};
  ze_command_queue_handle_t queue{};
  ze_command_list_handle_t now{}, list{};
  ze_event_pool_handle_t pool{};
  ze_event_handle_t events[3] = {};
  ze_module_handle_t module{};
  std::vector<ze_kernel_handle_t> kernels;
  float *source = nullptr, *result = nullptr;
  const ze_group_count_t groups{count / 16, 1, 1};
};

TEST_F(ZeDriver, RecordedCommandsRunWhenTheyAreExecutedAndInTheOrderOfEvents) {
  std::vector<float> copy(count, 0);
  ASSERT_OK(zeCommandListAppendLaunchKernel(list, kernel("add_one", 16), &groups, events[1], 1, &events[0]));
  ASSERT_OK(zeCommandListAppendMemoryCopy(list, copy.data(), result, count * sizeof(float), events[2], 1, &events[1]));
  EXPECT_EQ(zeCommandQueueExecuteCommandLists(queue, 1, &list, nullptr), ZE_RESULT_ERROR_INVALID_ARGUMENT)
      << "the list is not closed";
  ASSERT_OK(zeCommandListClose(list));
  for (int times = 0; times < 2; ++times) {
    for (ze_event_handle_t event : events)
      ASSERT_OK(zeEventHostReset(event));
    copy.assign(count, 0);
    ASSERT_OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, nullptr));
    EXPECT_EQ(zeEventHostSynchronize(events[2], 5000000), ZE_RESULT_NOT_READY)
        << "the list must wait for the event of the host";
    EXPECT_EQ(zeCommandQueueSynchronize(queue, 0), ZE_RESULT_NOT_READY);
    ASSERT_OK(zeEventHostSignal(events[0]));
    ASSERT_OK(zeCommandQueueSynchronize(queue, forever));
    ze_kernel_timestamp_result_t kernel{}, memory{};
    ASSERT_OK(zeEventQueryKernelTimestamp(events[1], &kernel));
    ASSERT_OK(zeEventQueryKernelTimestamp(events[2], &memory));
    EXPECT_LE(kernel.global.kernelStart, kernel.global.kernelEnd);
    EXPECT_LE(kernel.global.kernelEnd, memory.global.kernelStart);
    for (uint32_t i = 0; i < count; ++i)
      ASSERT_EQ(copy[i], source[i] + 1) << i;
  }
}

TEST_F(ZeDriver, SubGroupsWorkGroupMemoryAndBarriersCompute) {
  const ze_group_count_t rows{count / 64, 1, 1};
  float sums[count / 64] = {};
  ASSERT_OK(zeCommandListAppendLaunchKernel(list, kernel("sum_rows", 64), &rows, nullptr, 0, nullptr));
  ASSERT_OK(zeCommandListAppendBarrier(list, nullptr, 0, nullptr));
  ASSERT_OK(zeCommandListAppendMemoryCopy(list, sums, result, sizeof sums, nullptr, 0, nullptr));
  execute();
  for (uint32_t row = 0; row < std::size(sums); ++row)
    EXPECT_EQ(sums[row], 64.0f * (64.0f * static_cast<float>(row) + 31.5f));
}

TEST_F(ZeDriver, AnImmediateListRunsWithoutBeingExecuted) {
  float first = 0;
  ASSERT_OK(zeCommandListAppendLaunchKernel(now, kernel("add_one", 16), &groups, events[0], 0, nullptr));
  ASSERT_OK(zeCommandListAppendMemoryCopy(now, &first, result + 7, sizeof first, events[1], 1, &events[0]));
  ASSERT_OK(zeEventHostSynchronize(events[1], forever));
  EXPECT_EQ(first, 8);
}

TEST_F(ZeDriver, ANativeBinaryIsTakenBackAndAForeignOneRefused) {
  size_t size = 0;
  ASSERT_OK(zeModuleGetNativeBinary(module, &size, nullptr));
  std::string binary(size, 0);
  ASSERT_OK(zeModuleGetNativeBinary(module, &size, reinterpret_cast<uint8_t *>(binary.data())));
  ze_module_handle_t again{};
  ASSERT_OK(build(binary, &again, nullptr, ZE_MODULE_FORMAT_NATIVE));
  float first = 0;
  ASSERT_OK(zeCommandListAppendLaunchKernel(now, kernel("add_one", 16, again), &groups, events[0], 0, nullptr));
  ASSERT_OK(zeCommandListAppendMemoryCopy(now, &first, result, sizeof first, events[1], 1, &events[0]));
  ASSERT_OK(zeEventHostSynchronize(events[1], forever));
  EXPECT_EQ(first, 1);
  ASSERT_OK(zeKernelDestroy(kernels.back()));
  kernels.pop_back();
  ASSERT_OK(zeModuleDestroy(again));
  EXPECT_EQ(build("something else, of some length", &again, nullptr, ZE_MODULE_FORMAT_NATIVE),
            ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
}

TEST_F(ZeDriver, ABrokenModuleIsAnErrorWithALog) {
  const std::string whole = spirv();
  for (size_t size : {size_t(4), size_t(18), whole.size() / 8 * 4, whole.size() - 4, whole.size() - 6}) {
    ze_module_handle_t broken{};
    ze_module_build_log_handle_t log{};
    EXPECT_EQ(build(whole.substr(0, size), &broken, &log), ZE_RESULT_ERROR_MODULE_BUILD_FAILURE) << size;
    size_t length = 0;
    ASSERT_OK(zeModuleBuildLogGetString(log, &length, nullptr));
    std::string text(length, 0);
    ASSERT_OK(zeModuleBuildLogGetString(log, &length, text.data()));
    EXPECT_NE(text.find("SPIR-V"), std::string::npos) << text;
    ASSERT_OK(zeModuleBuildLogDestroy(log));
  }
}

TEST_F(ZeDriver, RefusesWhatHardwareRefuses) {
  ze_kernel_handle_t made = kernel("add_one", 16), missing{};
  const ze_kernel_desc_t unknown{ZE_STRUCTURE_TYPE_KERNEL_DESC, nullptr, 0, "nothing_of_that_name"};
  EXPECT_EQ(zeKernelCreate(module, &unknown, &missing), ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
  EXPECT_EQ(zeKernelSetGroupSize(made, 32, 1, 1), ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION) << "16 is required";
  EXPECT_EQ(zeKernelSetArgumentValue(made, 2, 8, &source), ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX);
  EXPECT_EQ(zeKernelSetArgumentValue(made, 0, 4, &source), ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
  void *onStack = &made;
  EXPECT_EQ(zeKernelSetArgumentValue(made, 0, 8, &onStack), ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(zeCommandListAppendLaunchKernelIndirect(list, made, &groups, nullptr, 0, nullptr),
            ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
  const ze_device_mem_alloc_desc_t desc{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0, 0};
  void *huge = nullptr;
  EXPECT_EQ(zeMemAllocDevice(context, &desc, size_t(1) << 50, 64, device, &huge), ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
  ze_memory_allocation_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
  EXPECT_OK(zeMemGetAllocProperties(context, result + 3, &properties, nullptr));
  EXPECT_EQ(properties.type, ZE_MEMORY_TYPE_DEVICE);
  EXPECT_OK(zeMemGetAllocProperties(context, onStack, &properties, nullptr));
  EXPECT_EQ(properties.type, ZE_MEMORY_TYPE_UNKNOWN);
}

TEST_F(ZeDriver, ACallFailsAsPlanned) {
  quern::test::failDriverCall(2, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
  const int64_t calls = quern::test::driverCalls();
  EXPECT_OK(zeEventHostReset(events[0]));
  EXPECT_EQ(zeEventHostReset(events[0]), ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
  EXPECT_OK(zeEventHostReset(events[0]));
  EXPECT_EQ(quern::test::driverCalls(), calls + 3);
}

} // namespace
