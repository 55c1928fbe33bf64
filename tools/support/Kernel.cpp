//===- Kernel.cpp - An owned primitive of the public API ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Kernel.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace quern {
namespace {

using OwnedBlob = Owned<quern_blob_t, quern_blob_destroy>;

Result<std::string> takeBlob(OwnedBlob blob) {
  const void *data = nullptr;
  size_t size = 0;
  QUERN_RETURN_IF_ERROR(checked(quern_blob_get_data(blob.get(), &data, &size)));
  return std::string(static_cast<const char *>(data), size);
}

/// Returns true if a dim, a stride or the offset of a tensor is open.
bool hasRuntimeDims(const_quern_memory_desc_t md) {
  TensorDesc desc;
  size_t size = sizeof(desc);
  return quern_memory_desc_get_blob(reinterpret_cast<uint8_t *>(&desc), &size, md) == quern_success &&
         desc.hasRuntimeDims();
}

} // namespace

Result<void> checked(quern_status_t status) {
  if (status == quern_success)
    return {};
  std::string message = quern_get_last_error_message();
  return Error{static_cast<Status>(status), message.empty() ? quern_status_name(status) : message};
}

Result<Device> Device::open(quern_engine_kind_t kind, size_t index) {
  if (quern_engine_get_count(kind) == 0)
    return unimplemented("there is no device of kind ", kind == quern_gpu ? "gpu" : "cpu", "; see `quern devices`");
  Device device;
  quern_engine_t engine = nullptr;
  QUERN_RETURN_IF_ERROR(checked(quern_engine_create(&engine, kind, index)));
  device.ownedEngine.reset(engine);
  quern_engine_info_t info{};
  QUERN_RETURN_IF_ERROR(checked(quern_engine_get_info(engine, &info)));
  QUERN_ASSIGN_OR_RETURN(Target target, Target::parse(info.target));
  device.compiledFor = target;
  device.deviceName = info.name;
  quern_stream_t stream = nullptr;
  QUERN_RETURN_IF_ERROR(checked(quern_stream_create(&stream, engine, quern_stream_default_flags)));
  device.ownedStream.reset(stream);
  return device;
}

Result<Kernel> Kernel::create(const Device &device, const std::string &line) { return make(device, line, nullptr); }

Result<Kernel> Kernel::createFrom(const Device &device, const std::string &line, const std::string &artifact) {
  return make(device, line, &artifact);
}

Result<std::vector<const char *>> Kernel::entries() const {
  int count = 0;
  QUERN_RETURN_IF_ERROR(checked(quern_primitive_get_launch_counts(primitive.get(), nullptr, nullptr, &count)));
  std::vector<const char *> all;
  for (int position = 0; position < count; ++position) {
    quern_kernel_fn function = nullptr;
    QUERN_RETURN_IF_ERROR(checked(quern_primitive_get_launch_function(primitive.get(), position, &function)));
    all.push_back(reinterpret_cast<const char *>(function));
  }
  return all;
}

Result<Kernel> Kernel::make(const Device &device, const std::string &line, const std::string *artifact) {
  Kernel kernel;
  kernel.device = &device;
  quern_primitive_desc_t desc = nullptr;
  QUERN_RETURN_IF_ERROR(checked(quern_primitive_desc_create_from_text(&desc, device.engine(), line.c_str())));
  kernel.desc.reset(desc);
  quern_primitive_t primitive = nullptr;
  const quern_status_t status =
      artifact ? quern_primitive_create_from_cache_blob(&primitive, desc, artifact->size(),
                                                        reinterpret_cast<const uint8_t *>(artifact->data()))
               : quern_primitive_create(&primitive, desc);
  QUERN_RETURN_IF_ERROR(checked(status));
  kernel.primitive.reset(primitive);
  QUERN_RETURN_IF_ERROR(checked(quern_primitive_get_info(primitive, &kernel.details)));
  return kernel;
}

/// Returns the engine of an argument: the device's engine, or the engine of one side of a reorder.
quern_engine_t Kernel::engineOf(int32_t argument) const {
  quern_engine_t engine = device->engine();
  if (argument == QUERN_ARG_SRC || argument == QUERN_ARG_DST) {
    const quern_query_t side =
        argument == QUERN_ARG_SRC ? quern_query_reorder_src_engine : quern_query_reorder_dst_engine;
    quern_primitive_kind_t kind{};
    if (quern_primitive_desc_query(desc.get(), quern_query_primitive_kind, 0, &kind) == quern_success &&
        kind == quern_reorder)
      (void)quern_primitive_desc_query(desc.get(), side, 0, &engine);
  }
  return engine;
}

Result<bool> Kernel::isOnHost(int32_t argument) const {
  quern_engine_kind_t kind{};
  QUERN_RETURN_IF_ERROR(checked(quern_engine_get_kind(engineOf(argument), &kind)));
  return kind == quern_cpu;
}

/// Allocates device memory for the buffers. Host ranges that share bytes or touch are merged, so their arguments have
/// the same relative addresses on the device.
Result<void> Kernel::placeOnDevice(const std::map<int32_t, BoundBuffer> &buffers) {
  std::vector<Copy> ranges;
  for (const auto &[argument, buffer] : buffers) {
    QUERN_ASSIGN_OR_RETURN(bool onHost, isOnHost(argument));
    if (!onHost && !buffer.desc->isHostScalar() && buffer.desc->bytes() > 0)
      ranges.push_back({nullptr, static_cast<char *>(buffer.data), static_cast<size_t>(buffer.desc->bytes())});
  }
  std::ranges::sort(ranges, std::less<>(), &Copy::data);
  for (const Copy &range : ranges)
    if (copies.empty() || std::less<>()(copies.back().end(), range.data))
      copies.push_back(range);
    else
      copies.back().bytes =
          static_cast<size_t>(std::max(copies.back().end(), range.end(), std::less<>()) - copies.back().data);
  for (Copy &range : copies) {
    quern_memory_desc_t desc = nullptr;
    const quern_dim_t bytes = static_cast<quern_dim_t>(range.bytes), stride = 1;
    QUERN_RETURN_IF_ERROR(checked(quern_memory_desc_create_with_strides(&desc, 1, &bytes, quern_u8, &stride)));
    const Owned<quern_memory_desc_t, quern_memory_desc_destroy> owned(desc);
    if (Result<void> made = checked(quern_memory_create(&range.memory, desc, device->engine(), QUERN_MEMORY_ALLOCATE));
        !made)
      return made;
    memories.emplace_back(range.memory);
  }
  return {};
}

/// Returns the device address of a host buffer.
Result<void *> Kernel::onDevice(const void *data) const {
  for (const Copy &range : copies)
    if (const char *at = static_cast<const char *>(data);
        !std::less<>()(at, range.data) && std::less<>()(at, range.end())) {
      void *handle = nullptr;
      QUERN_RETURN_IF_ERROR(checked(quern_memory_get_data_handle(range.memory, &handle)));
      return static_cast<void *>(static_cast<char *>(handle) + (at - range.data));
    }
  return internalError("a buffer has no memory on the device");
}

Result<quern_memory_t> Kernel::makeMemory(int32_t argument, const BoundBuffer &buffer, const_quern_memory_desc_t desc) {
  QUERN_ASSIGN_OR_RETURN(bool onHost, isOnHost(argument));
  void *data = buffer.data;
  if (!onHost && !buffer.desc->isHostScalar()) {
    QUERN_ASSIGN_OR_RETURN(void *there, buffer.desc->bytes() > 0 ? onDevice(data) : nullptr);
    data = there;
  }
  quern_memory_t memory = nullptr;
  const quern_status_t made = buffer.desc->isHostScalar()
                                  ? quern_memory_create_host_scalar(&memory, desc, data)
                                  : quern_memory_create(&memory, desc, engineOf(argument), data);
  QUERN_RETURN_IF_ERROR(checked(made));
  return memory;
}

Result<void> Kernel::copy(bool toDevice) const {
  for (const Copy &each : copies) {
    void *mapped = nullptr;
    QUERN_RETURN_IF_ERROR(checked(quern_memory_map_data(each.memory, &mapped)));
    std::memcpy(toDevice ? mapped : each.data, toDevice ? each.data : mapped, each.bytes);
    QUERN_RETURN_IF_ERROR(checked(quern_memory_unmap_data(each.memory, mapped)));
  }
  return {};
}

Result<void> Kernel::bind(const std::map<int32_t, BoundBuffer> &buffers) {
  memories.clear();
  copies.clear();
  arguments.clear();
  QUERN_RETURN_IF_ERROR(placeOnDevice(buffers));
  for (const auto &[argument, buffer] : buffers) {
    quern_memory_desc_t made = nullptr;
    if (Result<void> done =
            checked(quern_memory_desc_create_with_blob(&made, reinterpret_cast<const uint8_t *>(buffer.desc)));
        !done)
      return done;
    Owned<quern_memory_desc_t, quern_memory_desc_destroy> md(made);
    const_quern_memory_desc_t known = quern_primitive_desc_query_md(desc.get(), quern_query_exec_arg_md, argument);
    if (!known)
      return internalError("the primitive has no argument ", argument);
    if (!hasRuntimeDims(known) && !quern_memory_desc_equal(known, made))
      return internalError("the primitive has another descriptor for its argument ", argument);
    QUERN_ASSIGN_OR_RETURN(quern_memory_t memory, makeMemory(argument, buffer, made));
    memories.emplace_back(memory);
    arguments.push_back({argument, memory});
  }
  return {};
}

Result<int64_t> Kernel::scratchpadBytes() const {
  const_quern_memory_desc_t md = quern_primitive_desc_query_md(desc.get(), quern_query_scratchpad_md, 0);
  return md ? static_cast<int64_t>(quern_memory_desc_get_size(md))
            : Result<int64_t>(internalError("there is no scratchpad descriptor"));
}

Result<void> Kernel::execute() const {
  QUERN_RETURN_IF_ERROR(copy(true));
  Result<void> done = run();
  Result<void> copied = copy(false); // also after a refused execution, which may have written nothing
  return done ? copied : done;
}

Result<void> Kernel::waitSpecialized() const {
  const quern_status_t status = quern_primitive_wait_specialized(primitive.get());
  return status == quern_not_required ? Result<void>() : checked(status);
}

Result<void> Kernel::run() const {
  quern_status_t status =
      quern_primitive_execute(primitive.get(), device->stream(), static_cast<int>(arguments.size()), arguments.data());
  return checked(status == quern_success ? quern_stream_wait(device->stream()) : status);
}

const char *nameOf(quern_origin_t origin) {
  switch (origin) {
  case quern_origin_compiled:
    return "compiled";
  case quern_origin_disk:
    return "disk";
  case quern_origin_memory:
    return "memory";
  case quern_origin_blob:
    return "blob";
  case quern_origin_none:
    return "none";
  case quern_origin_pack:
    return "pack";
  case quern_origin_family:
    return "family";
  case quern_origin_remote:
    return "remote";
  }
  return "unknown";
}

Result<std::string> compileTo(const std::string &line, const std::string &target, quern_code_form_t form) {
  quern_blob_t blob = nullptr;
  QUERN_RETURN_IF_ERROR(checked(quern_compile(line.c_str(), target.c_str(), form, &blob)));
  return takeBlob(OwnedBlob(blob));
}

Result<std::string> explain(const std::string &line, const std::string &target) {
  quern_blob_t blob = nullptr;
  QUERN_RETURN_IF_ERROR(checked(quern_explain(line.c_str(), target.c_str(), &blob)));
  return takeBlob(OwnedBlob(blob));
}

} // namespace quern
