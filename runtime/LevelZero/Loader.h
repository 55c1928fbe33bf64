//===- Loader.h - The Level Zero loader, opened at run time ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The loader is not linked: without libze_loader.so.1 there are no devices, but no error.
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

/// The functions of the loader that this library calls.
struct Functions {
#define QUERN_ZE_DECLARE(name) decltype(&::name) name = nullptr;
  QUERN_ZE_FUNCTIONS(QUERN_ZE_DECLARE)
#undef QUERN_ZE_DECLARE
};

/// Returns the functions of the loader; null if there is none. The first call opens the loader, which is never closed.
/// Thread-safe.
const Functions *functions();
/// Returns the same functions for code that has a device, which implies that a loader is available.
inline const Functions &api() { return *functions(); }

/// Returns a name such as "ZE_RESULT_ERROR_DEVICE_LOST", or the number of an unknown value.
std::string nameOf(ze_result_t result);
/// Returns the status for a result, and a message with its name and `call`, the function that returned it.
Error errorOf(ze_result_t result, const char *call);

} // namespace quern::ze

/// Calls a function of the loader; on failure returns its error from the surrounding function.
#define QUERN_ZE_TRY(function, ...)                                                                                    \
  if (const ze_result_t quernResult = ::quern::ze::api().function(__VA_ARGS__))                                        \
  return ::quern::ze::errorOf(quernResult, #function)

#endif // QUERN_RUNTIME_LEVELZERO_LOADER_H
