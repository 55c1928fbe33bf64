//===- Loader.cpp - The Level Zero loader, opened at run time -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "LevelZero/Loader.h"

#include "Support/Forks.h"

#include <dlfcn.h>

namespace quern::ze {
namespace {

struct NamedResult {
  ze_result_t result;
  const char *name;
  Status status;
};

#define QUERN_ZE_RESULT(name, status) {name, #name, Status::status}
/// All results of API 1.4. A result about an invalid argument becomes InvalidArguments only if a caller's handle or
/// pointer can cause it; Quern checks all others.
constexpr NamedResult results[] = {
    QUERN_ZE_RESULT(ZE_RESULT_NOT_READY, RuntimeError),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_DEVICE_LOST, RuntimeError),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, OutOfMemory),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, OutOfMemory),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_MODULE_BUILD_FAILURE, RuntimeError),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_MODULE_LINK_FAILURE, RuntimeError),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET, RuntimeError),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_DEVICE_IN_LOW_POWER_STATE, RuntimeError),
    QUERN_ZE_RESULT(ZE_RESULT_EXP_ERROR_DEVICE_IS_NOT_VERTEX, RuntimeError),
    QUERN_ZE_RESULT(ZE_RESULT_EXP_ERROR_VERTEX_IS_NOT_DEVICE, RuntimeError),
    QUERN_ZE_RESULT(ZE_RESULT_EXP_ERROR_REMOTE_DEVICE, RuntimeError),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS, RuntimeError),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_NOT_AVAILABLE, RuntimeError),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, RuntimeError),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_UNINITIALIZED, RuntimeError),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_UNSUPPORTED_VERSION, Unimplemented),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, Unimplemented),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_INVALID_ARGUMENT, InvalidArguments),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, InvalidArguments),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, InvalidArguments),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_INVALID_NULL_POINTER, InvalidArguments),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_INVALID_SIZE, InvalidArguments),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, Unimplemented),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, Unimplemented),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, InvalidArguments),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_INVALID_ENUMERATION, InvalidArguments),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION, Unimplemented),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT, Unimplemented),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY, RuntimeError),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_INVALID_GLOBAL_NAME, RuntimeError),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_INVALID_KERNEL_NAME, RuntimeError),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_INVALID_FUNCTION_NAME, RuntimeError),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION, RuntimeError),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION, RuntimeError),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX, RuntimeError),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE, RuntimeError),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_INVALID_KERNEL_ATTRIBUTE_VALUE, RuntimeError),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED, RuntimeError),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE, InvalidArguments),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_OVERLAPPING_REGIONS, InvalidArguments),
    QUERN_ZE_RESULT(ZE_RESULT_WARNING_ACTION_REQUIRED, RuntimeError),
    QUERN_ZE_RESULT(ZE_RESULT_WARNING_DROPPED_DATA, RuntimeError),
    QUERN_ZE_RESULT(ZE_RESULT_ERROR_UNKNOWN, RuntimeError),
};
#undef QUERN_ZE_RESULT

const NamedResult *find(ze_result_t result) {
  for (const NamedResult &entry : results)
    if (entry.result == result)
      return &entry;
  return nullptr;
}

const Functions *load() {
  void *library = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return nullptr;
  static Functions loaded;
#define QUERN_ZE_LOAD(name)                                                                                            \
  if (!(loaded.name = reinterpret_cast<decltype(loaded.name)>(dlsym(library, #name))))                                 \
    return nullptr;
  QUERN_ZE_FUNCTIONS(QUERN_ZE_LOAD)
#undef QUERN_ZE_LOAD
  return &loaded;
}

} // namespace

const Functions *functions() {
  return immortal([] { return new const Functions *(load()); });
}

std::string nameOf(ze_result_t result) {
  const NamedResult *entry = find(result);
  return entry ? entry->name : concat("ze_result_t 0x", std::hex, static_cast<uint32_t>(result));
}

Error errorOf(ze_result_t result, const char *call) {
  const NamedResult *entry = find(result);
  return {entry ? entry->status : Status::RuntimeError, concat(call, "() returned ", nameOf(result))};
}

} // namespace quern::ze
