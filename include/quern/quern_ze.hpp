//===- quern/quern_ze.hpp - Engines, streams and events of Level Zero in C++ ===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// C++ functions for quern_ze.h, in the form of oneDNN's dnnl_ze.hpp. The header of Level Zero is not needed.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_ZE_HPP
#define QUERN_ZE_HPP

#include "quern/quern.hpp"
#include "quern/quern_ze.h"

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace quern {
namespace ze_interop {

/// See quern_ze_interop_engine_get_cache_blob_id().
inline std::vector<uint8_t> get_engine_cache_blob_id(ze_driver_handle_t driver, ze_device_handle_t device) {
  size_t size = 0;
  error::wrap_c_api(quern_ze_interop_engine_get_cache_blob_id(driver, device, &size, nullptr),
          "could not get the size of an engine's cache blob id");
  std::vector<uint8_t> id(size);
  error::wrap_c_api(quern_ze_interop_engine_get_cache_blob_id(driver, device, &size, id.data()),
          "could not get an engine's cache blob id");
  return id;
}
/// See quern_ze_interop_engine_get_cache_blob().
inline std::vector<uint8_t> get_engine_cache_blob(const engine &aengine) {
  size_t size = 0;
  error::wrap_c_api(quern_ze_interop_engine_get_cache_blob(aengine.get(), &size, nullptr),
          "could not get the size of an engine's cache blob");
  std::vector<uint8_t> blob(size);
  error::wrap_c_api(quern_ze_interop_engine_get_cache_blob(aengine.get(), &size, blob.data()),
          "could not get an engine's cache blob");
  return blob;
}

/// See quern_ze_interop_engine_create(). The handles must outlive the engine and all objects created with it.
inline engine make_engine(ze_driver_handle_t driver, ze_device_handle_t device, ze_context_handle_t context) {
  quern_engine_t created = nullptr;
  error::wrap_c_api(quern_ze_interop_engine_create(&created, driver, device, context), "could not create an engine");
  return engine(created);
}
/// See quern_ze_interop_engine_create_from_cache_blob().
inline engine make_engine(ze_driver_handle_t driver, ze_device_handle_t device, ze_context_handle_t context,
        const std::vector<uint8_t> &cache_blob) {
  quern_engine_t created = nullptr;
  error::wrap_c_api(quern_ze_interop_engine_create_from_cache_blob(
                            &created, driver, device, context, cache_blob.size(), cache_blob.data()),
          "could not create an engine from a cache blob");
  return engine(created);
}

/// Returns the context of an engine, whose owner stays the same.
inline ze_context_handle_t get_context(const engine &aengine) {
  ze_context_handle_t found = nullptr;
  error::wrap_c_api(
          quern_ze_interop_engine_get_context(aengine.get(), &found), "could not get the context of an engine");
  return found;
}
/// Returns the device of an engine, whose owner stays the same.
inline ze_device_handle_t get_device(const engine &aengine) {
  ze_device_handle_t found = nullptr;
  error::wrap_c_api(quern_ze_interop_engine_get_device(aengine.get(), &found), "could not get the device of an engine");
  return found;
}
/// Returns the driver of an engine, whose owner stays the same.
inline ze_driver_handle_t get_driver(const engine &aengine) {
  ze_driver_handle_t found = nullptr;
  error::wrap_c_api(quern_ze_interop_engine_get_driver(aengine.get(), &found), "could not get the driver of an engine");
  return found;
}

/// See quern_ze_interop_stream_create().
inline stream make_stream(const engine &aengine, ze_command_list_handle_t list, bool profiling = false) {
  quern_stream_t created = nullptr;
  error::wrap_c_api(quern_ze_interop_stream_create(&created, aengine.get(), list, profiling ? 1 : 0),
          "could not create a stream");
  return stream(created);
}
/// See quern_ze_interop_stream_get_list().
inline ze_command_list_handle_t get_list(const stream &astream) {
  ze_command_list_handle_t found = nullptr;
  error::wrap_c_api(
          quern_ze_interop_stream_get_list(astream.get(), &found), "could not get the command list of a stream");
  return found;
}

/// See quern_ze_interop_memory_create(). Without handles, the buffers are allocated.
inline memory make_memory(const memory::desc &desc, const engine &aengine, std::vector<void *> handles = {}) {
  if (handles.empty())
    handles.assign(static_cast<size_t>(desc.get_num_handles()), QUERN_MEMORY_ALLOCATE);
  quern_memory_t created = nullptr;
  error::wrap_c_api(quern_ze_interop_memory_create(
                            &created, desc.get(), aengine.get(), static_cast<int>(handles.size()), handles.data()),
          "could not create memory");
  return memory(created);
}
/// Creates a memory object with one buffer.
inline memory make_memory(const memory::desc &desc, const engine &aengine, void *handle) {
  return make_memory(desc, aengine, std::vector<void *>{handle});
}

/// See quern_ze_interop_primitive_execute(). Returns the event, which the stream owns.
inline ze_event_handle_t execute(const primitive &aprimitive, const stream &astream,
        const std::unordered_map<int, memory> &args, const std::vector<ze_event_handle_t> &deps = {}) {
  std::vector<quern_exec_arg_t> list;
  list.reserve(args.size());
  for (const auto &arg : args)
    list.push_back({arg.first, arg.second.get(true)});
  ze_event_handle_t event = nullptr;
  error::wrap_c_api(quern_ze_interop_primitive_execute(aprimitive.get(), astream.get(), static_cast<int>(list.size()),
                            list.data(), static_cast<int>(deps.size()), deps.empty() ? nullptr : deps.data(), &event),
          "could not execute a primitive");
  return event;
}

} // namespace ze_interop
} // namespace quern

#endif // QUERN_ZE_HPP
