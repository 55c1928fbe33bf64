//===- Tables.h - The tables of functions that the loader asks for ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_ZE_OVER_OPENCL_TABLES_H
#define QUERN_TEST_ZE_OVER_OPENCL_TABLES_H

#include "Driver.h"

#include <level_zero/ze_ddi.h>

namespace zocl {

// Each fills in the functions that the driver has; the rest says UNSUPPORTED_FEATURE.
void fill(ze_global_dditable_t &table);
void fill(ze_driver_dditable_t &table);
void fill(ze_device_dditable_t &table);
void fill(ze_context_dditable_t &table);
void fill(ze_mem_dditable_t &table);
void fill(ze_module_dditable_t &table);
void fill(ze_module_build_log_dditable_t &table);
void fill(ze_kernel_dditable_t &table);
void fill(ze_command_queue_dditable_t &table);
void fill(ze_command_list_dditable_t &table);
void fill(ze_event_pool_dditable_t &table);
void fill(ze_event_dditable_t &table);

/// What a test has asked this call to give instead of doing its work; see zeOverOpenClFail() in Tables.cpp.
ze_result_t plannedFailure();

template <auto Function> struct MayFail;
template <typename... Arguments, ze_result_t (*Function)(Arguments...)> struct MayFail<Function> {
  static ze_result_t call(Arguments... arguments) {
    const ze_result_t planned = plannedFailure();
    return planned ? planned : Function(arguments...);
  }
};
/// The function, but for the call that is to fail. What gives something back never fails.
template <auto Function> constexpr auto *mayFail = &MayFail<Function>::call;

template <typename Object, typename Handle> ze_result_t destroy(Handle handle) {
  delete as<Object>(handle);
  return ZE_RESULT_SUCCESS;
}

} // namespace zocl

#endif // QUERN_TEST_ZE_OVER_OPENCL_TABLES_H
