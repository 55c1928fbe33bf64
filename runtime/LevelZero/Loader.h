//===- Loader.h - The Level Zero loader, opened at run time ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Nothing is linked: where libze_loader.so.1 is missing there are no devices, and no error.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_LEVELZERO_LOADER_H
#define QUERN_RUNTIME_LEVELZERO_LOADER_H

#include "Support/Error.h"

#include <level_zero/ze_api.h>

namespace quern::ze {

// clang-format off: a list
#define QUERN_ZE_FUNCTIONS(X) \
  X(zeInit) X(zeDriverGet) X(zeDriverGetProperties) X(zeDeviceGet) X(zeDeviceGetProperties) \
  X(zeDeviceGetComputeProperties) X(zeDeviceGetModuleProperties) \
  X(zeDeviceGetCommandQueueGroupProperties) X(zeContextCreate) X(zeContextDestroy) \
  X(zeMemAllocDevice) X(zeMemAllocHost) X(zeMemAllocShared) X(zeMemFree) X(zeMemGetAllocProperties) \
  X(zeModuleCreate) X(zeModuleDestroy) X(zeModuleBuildLogGetString) X(zeModuleBuildLogDestroy) \
  X(zeModuleGetNativeBinary) X(zeKernelCreate) X(zeKernelDestroy) X(zeKernelSetGroupSize) \
  X(zeKernelSetArgumentValue) X(zeCommandQueueCreate) X(zeCommandQueueDestroy) \
  X(zeCommandQueueExecuteCommandLists) X(zeCommandQueueSynchronize) X(zeCommandListCreate) \
  X(zeCommandListCreateImmediate) X(zeCommandListDestroy) X(zeCommandListClose) \
  X(zeCommandListReset) X(zeCommandListAppendLaunchKernel) X(zeCommandListAppendMemoryCopy) \
  X(zeCommandListAppendBarrier) X(zeCommandListAppendWaitOnEvents) X(zeCommandListAppendEventReset) \
  X(zeEventPoolCreate) X(zeEventPoolDestroy) X(zeEventCreate) X(zeEventDestroy) \
  X(zeEventHostSynchronize) X(zeEventHostReset) X(zeEventQueryKernelTimestamp)
// clang-format on

/// What the loader exports and this library calls.
struct Functions {
#define QUERN_ZE_DECLARE(name) decltype(&::name) name = nullptr;
  QUERN_ZE_FUNCTIONS(QUERN_ZE_DECLARE)
#undef QUERN_ZE_DECLARE
};

/// Null where there is no loader. Opened at the first call, and never closed. Thread-safe.
const Functions *functions();
/// For code that has a device, which only a loader gives.
inline const Functions &api() { return *functions(); }

/// "ZE_RESULT_ERROR_DEVICE_LOST"; for a value that is unknown its number.
std::string nameOf(ze_result_t result);
/// The status that a result means, with its name behind `call`, the function that gave it.
Error errorOf(ze_result_t result, const char *call);

} // namespace quern::ze

/// Calls a function of the loader; leaves the function around, which gives a Result, if it fails.
#define QUERN_ZE_TRY(function, ...)                                                                                    \
  if (const ze_result_t quernResult = ::quern::ze::api().function(__VA_ARGS__))                                        \
  return ::quern::ze::errorOf(quernResult, #function)

#endif // QUERN_RUNTIME_LEVELZERO_LOADER_H
