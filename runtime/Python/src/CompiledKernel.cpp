//===- CompiledKernel.cpp - Problems and their kernels --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "CompiledKernel.h"

namespace nb = nanobind;

namespace quern::python {
namespace {

template <typename Value> Value query(const_quern_memory_desc_t desc, quern_query_t what) {
  Value value{};
  check(quern_memory_desc_query(desc, what, &value));
  return value;
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

} // namespace

quern_engine_t cpuEngine() {
  // Never destroyed, because kernels of other objects may outlive everything that is destroyed at exit.
  static quern_engine_t engine = [] {
    quern_engine_t made = nullptr;
    check(quern_engine_create(&made, quern_cpu, 0));
    return made;
  }();
  return engine;
}

quern_stream_t cpuStream() {
  static quern_stream_t stream = [] {
    quern_stream_t made = nullptr;
    check(quern_stream_create(&made, cpuEngine(), quern_stream_default_flags));
    return made;
  }();
  return stream;
}

OwnedMemoryDesc memoryDescOf(const Tensor &tensor) {
  quern_memory_desc_t desc = nullptr;
  if (tensor.rank == 0) { // one element
    const quern_dims_t one = {1};
    check(quern_memory_desc_create_with_strides(&desc, 1, one, tensor.type, one));
  } else {
    check(quern_memory_desc_create_with_strides(&desc, tensor.rank, tensor.dims.data(), tensor.type,
                                                tensor.strides.data()));
  }
  return OwnedMemoryDesc(desc);
}

Tensor shapeOf(const_quern_memory_desc_t desc) {
  Tensor tensor;
  tensor.type = query<quern_data_type_t>(desc, quern_query_data_type);
  tensor.rank = query<int>(desc, quern_query_ndims_s32);
  const auto *dims = query<const quern_dims_t *>(desc, quern_query_dims);
  for (int dim = 0; dim < tensor.rank; ++dim)
    tensor.dims[static_cast<size_t>(dim)] = (*dims)[dim];
  return tensor;
}

std::optional<Tensor> plainTensor(const_quern_memory_desc_t desc) {
  if (query<quern_format_kind_t>(desc, quern_query_format_kind) != quern_blocked ||
      query<int>(desc, quern_query_inner_nblks_s32) != 0 || query<int64_t>(desc, quern_query_submemory_offset_s64) != 0)
    return std::nullopt;
  Tensor tensor = shapeOf(desc);
  const auto *strides = query<const quern_dims_t *>(desc, quern_query_strides);
  for (int dim = 0; dim < tensor.rank; ++dim)
    tensor.strides[static_cast<size_t>(dim)] = (*strides)[dim];
  // Other properties, such as compensation, make the descriptors unequal.
  return quern_memory_desc_equal(memoryDescOf(tensor).get(), desc) ? std::optional(tensor) : std::nullopt;
}

Descriptor Descriptor::fromText(const std::string &line) {
  quern_primitive_desc_t made = nullptr;
  check(quern_primitive_desc_create_from_text(&made, cpuEngine(), line.c_str()));
  return Descriptor(made);
}

Descriptor Descriptor::fromMlir(const nb::bytes &module, const std::optional<std::string> &function, bool naive) {
  quern_primitive_attr_t attr = nullptr;
  check(quern_primitive_attr_create(&attr));
  const Owned<quern_primitive_attr_t, quern_primitive_attr_destroy> owned(attr);
  check(quern_primitive_attr_set_mlir_allow_naive(attr, naive ? 1 : 0));
  quern_primitive_desc_t made = nullptr;
  const void *bytes = module.data();
  const size_t size = module.size();
  quern_status_t status = quern_success;
  {
    const nb::gil_scoped_release released;
    status = quern_primitive_desc_create_from_mlir(&made, cpuEngine(), bytes, size,
                                                   function ? function->c_str() : nullptr, attr);
  }
  check(status);
  return Descriptor(made);
}

Descriptor Descriptor::reorder(const_quern_memory_desc_t src, const_quern_memory_desc_t dst) {
  quern_primitive_desc_t made = nullptr;
  check(quern_reorder_primitive_desc_create(&made, src, cpuEngine(), dst, cpuEngine(), nullptr));
  return Descriptor(made);
}

std::string Descriptor::text() const {
  const char *text = nullptr;
  check(quern_primitive_desc_get_text(handle.get(), &text));
  return text;
}

const_quern_memory_desc_t Descriptor::tensor(int arg) const {
  const_quern_memory_desc_t desc = quern_primitive_desc_query_md(handle.get(), quern_query_exec_arg_md, arg);
  return desc && query<int>(desc, quern_query_ndims_s32) > 0 ? desc : nullptr;
}

CompiledKernel::CompiledKernel(const Descriptor &descriptor)
    : problem([&] {
        quern_primitive_desc_t copy = nullptr;
        check(quern_primitive_desc_clone(&copy, descriptor.get()));
        return Descriptor::adopt(copy);
      }()) {
  quern_primitive_t made = nullptr;
  quern_status_t status = quern_success;
  {
    const nb::gil_scoped_release released;
    status = quern_primitive_create(&made, problem.get());
  }
  check(status);
  handle.reset(made);
}

std::vector<CompiledKernel::Argument> CompiledKernel::arguments() const {
  std::vector<Argument> result;
  int count = 0;
  quern_status_t status = quern_success;
  {
    const nb::gil_scoped_release released;
    status = quern_primitive_get_launch_counts(handle.get(), &count, nullptr, nullptr);
  }
  check(status);
  for (int position = 0; position < count; ++position) {
    int index = 0, isOutput = 0;
    check(quern_primitive_get_launch_argument(handle.get(), position, &index, &isOutput, nullptr));
    result.push_back({index, isOutput != 0});
  }
  return result;
}

nb::dict CompiledKernel::info() const {
  quern_primitive_info_t info{};
  check(quern_primitive_get_info(handle.get(), &info));
  nb::dict result;
  result["origin"] = nameOf(info.origin);
  result["create_ns"] = info.create_ns;
  result["compile_ns"] = info.compile_ns;
  result["load_ns"] = info.load_ns;
  result["code_bytes"] = info.code_bytes;
  result["scratch_bytes"] = info.scratch_bytes;
  result["shared_bytes"] = info.shared_bytes;
  result["implementation"] = info.implementation;
  result["plan"] = info.plan;
  result["target"] = info.target;
  result["linker"] = info.linker;
  result["key"] = info.key;
  result["pack"] = info.pack;
  result["is_family"] = info.is_family != 0;
  return result;
}

void Execution::add(int index, const_quern_memory_desc_t desc, void *data) {
  quern_memory_t memory = nullptr;
  check(quern_memory_create(&memory, desc, cpuEngine(), data));
  memories.emplace_back(memory);
  arguments.push_back({index, memory});
}

void Execution::bind(int index, const Tensor &tensor, void *data) { add(index, memoryDescOf(tensor).get(), data); }

void Execution::bindBytes(int index, void *data, size_t bytes) {
  const_quern_memory_desc_t desc = kernel.descriptor().tensor(index);
  if (!desc)
    fail(quern_invalid_arguments, "the problem has no argument " + std::to_string(index));
  if (const size_t needed = quern_memory_desc_get_size(desc); bytes < needed)
    fail(quern_invalid_arguments, "argument " + std::to_string(index) + " has " + std::to_string(bytes) +
                                      " bytes; its layout takes " + std::to_string(needed));
  add(index, desc, data);
}

void Execution::run(quern_stream_t stream) {
  quern_status_t status = quern_success;
  {
    const nb::gil_scoped_release released;
    status = quern_primitive_execute(kernel.get(), stream, static_cast<int>(arguments.size()), arguments.data());
  }
  check(status);
}

Frames::Frames(const CompiledKernel &kernel, std::vector<int> indices)
    : primitive(kernel.get()), problem(kernel.descriptor()), indices(std::move(indices)) {}

Frame Frames::take() {
  {
    const std::scoped_lock lock(mutex);
    if (!idle.empty()) {
      Frame frame = std::move(idle.back());
      idle.pop_back();
      return frame;
    }
  }
  Frame frame;
  for (int index : indices)
    check(frame.add(cpuEngine(), problem.get(), index));
  return frame;
}

void Frames::give(Frame frame) {
  const std::scoped_lock lock(mutex);
  idle.push_back(std::move(frame));
}

void Frames::execute(void *const *data, quern_stream_t stream) {
  Frame frame = take();
  quern_status_t status = quern_success;
  for (size_t i = 0; i < indices.size() && status == quern_success; ++i)
    status = frame.set(i, data[i]);
  if (status == quern_success) {
    const nb::gil_scoped_release released;
    status = frame.execute(primitive, stream);
  }
  give(std::move(frame));
  check(status);
}

} // namespace quern::python
