//===- Problems.cpp - Problems and kernels in Python ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The classes that quern.Problem uses.
//
//===----------------------------------------------------------------------===//
#include "Array.h"
#include "CompiledKernel.h"
#include "TorchPool.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace quern::python {
namespace {

/// A memory descriptor.
class Layout {
public:
  explicit Layout(const_quern_memory_desc_t desc) {
    quern_memory_desc_t copy = nullptr;
    check(quern_memory_desc_clone(&copy, desc));
    handle.reset(copy);
  }
  const_quern_memory_desc_t get() const { return handle.get(); }
  size_t bytes() const { return quern_memory_desc_get_size(handle.get()); }
  bool isOpen() const { return bytes() == QUERN_RUNTIME_SIZE_VAL; }

private:
  OwnedMemoryDesc handle;
};

/// Returns the numbers; -1 for a size that is known only at execution.
nb::tuple tupleOf(const std::array<int64_t, QUERN_MAX_NDIMS> &numbers, int32_t rank) {
  nb::list list;
  for (size_t dim = 0; dim < static_cast<size_t>(rank); ++dim)
    list.append(numbers[dim] == QUERN_RUNTIME_DIM_VAL ? -1 : numbers[dim]);
  return nb::tuple(list);
}

Tensor makeTensor(const std::string &type, const std::vector<int64_t> &dims,
                  const std::optional<std::vector<int64_t>> &strides) {
  Tensor tensor;
  tensor.type = typeFromName(type);
  if (tensor.isAbsent())
    fail(quern_invalid_arguments, "'" + type + "' is not a type");
  if (dims.size() > QUERN_MAX_NDIMS || (strides && strides->size() != dims.size()))
    fail(quern_invalid_arguments, "dims and strides are of different ranks, or of more than 12");
  tensor.rank = static_cast<int32_t>(dims.size());
  std::copy(dims.begin(), dims.end(), tensor.dims.begin());
  if (strides)
    std::copy(strides->begin(), strides->end(), tensor.strides.begin());
  else
    tensor.setDense();
  return tensor;
}

/// Runs a kernel. Arguments are (index, array, whether it is written, whether it is bytes in the kernel's layout).
void execute(const CompiledKernel &kernel, const nb::list &given) {
  std::vector<Array> arrays(given.size());
  Execution execution(kernel);
  quern_stream_t stream = cpuStream();
  for (size_t i = 0; i < arrays.size(); ++i) {
    const auto argument = nb::cast<nb::tuple>(given[i]);
    const auto index = nb::cast<int>(argument[0]);
    arrays[i].take(argument[1], nb::cast<bool>(argument[2]) ? Array::Access::Write : Array::Access::Read);
    const Tensor &tensor = arrays[i].tensor();
    if (arrays[i].framework() == Framework::Torch)
      stream = torchStream();
    if (!nb::cast<bool>(argument[3]))
      execution.bind(index, tensor, arrays[i].data());
    else if (tensor.type == quern_u8 && tensor.rank == 1 && (tensor.strides[0] == 1 || tensor.dims[0] <= 1))
      execution.bindBytes(index, arrays[i].data(), static_cast<size_t>(tensor.dims[0]));
    else
      fail(quern_invalid_arguments, "a buffer of bytes is " + tensor.text());
  }
  execution.run(stream);
  for (Array &array : arrays)
    array.finish();
}

/// Returns the cache blob of a kernel.
nb::bytes blobOf(const CompiledKernel &kernel) {
  size_t size = 0;
  check(quern_primitive_get_cache_blob(kernel.get(), &size, nullptr));
  std::vector<uint8_t> bytes(size);
  check(quern_primitive_get_cache_blob(kernel.get(), &size, bytes.data()));
  return nb::bytes(bytes.data(), bytes.size());
}

Tensor describe(nb::handle object) {
  Array array;
  array.take(object, Array::Access::Read);
  return array.tensor();
}

nb::list argumentsOf(const CompiledKernel &kernel) {
  nb::list list;
  for (const CompiledKernel::Argument &argument : kernel.arguments())
    list.append(nb::make_tuple(argument.index, argument.isOutput));
  return list;
}

std::optional<Layout> layoutOf(const Descriptor &descriptor, int arg) {
  const_quern_memory_desc_t desc = descriptor.tensor(arg);
  return desc ? std::optional<Layout>(std::in_place, desc) : std::nullopt;
}

} // namespace

void bindProblems(nb::module_ &module) {
  nb::class_<Tensor>(module, "Tensor")
      .def(
          "__init__",
          [](Tensor *self, const std::string &type, const std::vector<int64_t> &dims,
             const std::optional<std::vector<int64_t>> &strides) {
            new (self) Tensor(makeTensor(type, dims, strides));
          },
          nb::arg("type"), nb::arg("dims"), nb::arg("strides") = nb::none())
      .def_prop_ro("type", [](const Tensor &tensor) { return nameOf(tensor.type); })
      .def_prop_ro("dims", [](const Tensor &tensor) { return tupleOf(tensor.dims, tensor.rank); })
      .def_prop_ro("strides", [](const Tensor &tensor) { return tupleOf(tensor.strides, tensor.rank); })
      .def_prop_ro("text", &Tensor::text)
      .def(
          "__eq__", [](const Tensor &first, const Tensor &second) { return first == second; }, nb::is_operator())
      .def("__repr__", &Tensor::text);
  nb::class_<Layout>(module, "Layout")
      .def_prop_ro("bytes", &Layout::bytes)
      .def_prop_ro("is_open", &Layout::isOpen)
      .def_prop_ro("type", [](const Layout &layout) { return nameOf(shapeOf(layout.get()).type); })
      .def_prop_ro("dims",
                   [](const Layout &layout) {
                     const Tensor shape = shapeOf(layout.get());
                     return tupleOf(shape.dims, shape.rank);
                   })
      .def_prop_ro("plain", [](const Layout &layout) { return plainTensor(layout.get()); })
      .def(
          "__eq__",
          [](const Layout &first, const Layout &second) {
            return quern_memory_desc_equal(first.get(), second.get()) == 1;
          },
          nb::is_operator());
  nb::class_<Descriptor>(module, "Descriptor")
      .def_static("from_text", &Descriptor::fromText)
      .def_static("from_mlir", &Descriptor::fromMlir)
      .def_static("pack", [](const Tensor &src,
                             const Layout &dst) { return Descriptor::reorder(memoryDescOf(src).get(), dst.get()); })
      .def_static("unpack", [](const Layout &src,
                               const Tensor &dst) { return Descriptor::reorder(src.get(), memoryDescOf(dst).get()); })
      .def_prop_ro("text", &Descriptor::text)
      .def("layout", layoutOf);
  nb::class_<CompiledKernel>(module, "Kernel")
      .def(nb::init<const Descriptor &>())
      .def_prop_ro("arguments", argumentsOf)
      .def_prop_ro("info", &CompiledKernel::info)
      .def_prop_ro("blob", blobOf)
      .def("execute", execute);
  module.def("describe", describe);
}

} // namespace quern::python
