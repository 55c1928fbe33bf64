//===- Handle.h - Owners of Level Zero handles ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_LEVELZERO_HANDLE_H
#define QUERN_RUNTIME_LEVELZERO_HANDLE_H

#include "LevelZero/Loader.h"

#include <memory>

namespace quern::ze {

/// Destroys a handle with a function of the loader. Its result is ignored, because it cannot be handled.
template <typename Type, auto Destroy> struct Destroyer {
  using pointer = Type;
  void operator()(Type handle) const { (void)(api().*Destroy)(handle); }
};
template <typename Type, auto Destroy>
using Owned = std::unique_ptr<std::remove_pointer_t<Type>, Destroyer<Type, Destroy>>;

using OwnedContext = Owned<ze_context_handle_t, &Functions::zeContextDestroy>;
using OwnedModule = Owned<ze_module_handle_t, &Functions::zeModuleDestroy>;
using OwnedBuildLog = Owned<ze_module_build_log_handle_t, &Functions::zeModuleBuildLogDestroy>;
using OwnedKernel = Owned<ze_kernel_handle_t, &Functions::zeKernelDestroy>;
using OwnedQueue = Owned<ze_command_queue_handle_t, &Functions::zeCommandQueueDestroy>;
using OwnedList = Owned<ze_command_list_handle_t, &Functions::zeCommandListDestroy>;
using OwnedEventPool = Owned<ze_event_pool_handle_t, &Functions::zeEventPoolDestroy>;
using OwnedEvent = Owned<ze_event_handle_t, &Functions::zeEventDestroy>;

} // namespace quern::ze

#endif // QUERN_RUNTIME_LEVELZERO_HANDLE_H
