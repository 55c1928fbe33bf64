//===- Array.cpp - An array of the caller's, while it is used -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See Array.h.
//
//===----------------------------------------------------------------------===//
#include "Array.h"

namespace nb = nanobind;

namespace quern::python {
namespace {

/// Of a struct module's format, native or little-endian: one letter behind an optional order.
quern_data_type_t typeOfFormat(const char *format, int64_t bytes) {
  if (!format)
    return quern_u8;
  if (*format == '@' || *format == '=' || *format == '<')
    ++format;
  if (!*format || format[1])
    return quern_data_type_undef;
  switch (*format) {
  case 'f':
    return quern_f32;
  case 'd':
    return quern_f64;
  case 'e':
    return quern_f16;
  case 'i':
  case 'l':
    return bytes == 4 ? quern_s32 : quern_s64;
  case 'q':
    return quern_s64;
  case 'b':
    return quern_s8;
  case 'B':
  case '?':
    return quern_u8;
  default:
    return quern_data_type_undef;
  }
}

/// Of ml_dtypes, whose names end in what a format has (float8_e4m3fn: finite values and NaN alone).
quern_data_type_t typeOfName(std::string_view name) {
  if (name == "bfloat16")
    return quern_bf16;
  if (name == "float8_e5m2")
    return quern_f8_e5m2;
  if (name == "float8_e4m3fn")
    return quern_f8_e4m3;
  return quern_data_type_undef;
}

quern_data_type_t typeOfDlpack(nb::dlpack::dtype type) {
  using Code = nb::dlpack::dtype_code;
  const auto is = [&](Code code, int bits) {
    return type.code == static_cast<uint8_t>(code) && type.bits == bits && type.lanes == 1;
  };
  if (is(Code::Float, 32))
    return quern_f32;
  if (is(Code::Float, 64))
    return quern_f64;
  if (is(Code::Float, 16))
    return quern_f16;
  if (is(Code::Bfloat, 16))
    return quern_bf16;
  if (is(Code::Int, 32))
    return quern_s32;
  if (is(Code::Int, 64))
    return quern_s64;
  if (is(Code::Int, 8))
    return quern_s8;
  if (is(Code::UInt, 8) || is(Code::Bool, 8))
    return quern_u8;
  if (is(Code::Float8_E5M2, 8))
    return quern_f8_e5m2;
  if (is(Code::Float8_E4M3FN, 8))
    return quern_f8_e4m3;
  return quern_data_type_undef;
}

[[noreturn]] void failOnRank(int64_t rank) {
  fail(quern_unimplemented,
       "an array has " + std::to_string(rank) + " dims; at most " + std::to_string(QUERN_MAX_NDIMS) + " are possible");
}

[[noreturn]] void failOnReadOnly() { fail(quern_invalid_arguments, "an array to write to (out) is read-only"); }

/// That which cannot be described at all is for the caller to convert.
[[noreturn]] void failOnType(nb::handle object) {
  const std::string name = nb::str(nb::getattr(object, "dtype", object.type())).c_str();
  fail(quern_unimplemented, "an array is of type " + name +
                                "; float64, float32, float16, bfloat16, float8_e5m2, float8_e4m3fn, int32, int8, uint8 "
                                "and bool are possible");
}

nb::module_ numpy() { return nb::module_::import_("numpy"); }

} // namespace

Framework frameworkOf(nb::handle object) {
  PyTypeObject *type = Py_TYPE(object.ptr());
  const char *name = type->tp_name;
  if (std::strncmp(name, "numpy.", 6) == 0)
    return Framework::NumPy;
  const nb::object module = nb::getattr(object.type(), "__module__", nb::str(""));
  const std::string_view text = nb::isinstance<nb::str>(module) ? nb::cast<nb::str>(module).c_str() : "";
  if (text.starts_with("torch"))
    return Framework::Torch;
  if (text.starts_with("jax"))
    return Framework::Jax;
  return Framework::NumPy;
}

void Array::release() {
  if (hasBuffer)
    PyBuffer_Release(&buffer);
  hasBuffer = false;
}

/// Strides in elements, if they are such, and the start a multiple of an element.
Array::Taken Array::place(void *data, int32_t rank, const int64_t *dims, const int64_t *byteStrides,
                          int64_t elementBytes) {
  if (rank > QUERN_MAX_NDIMS)
    failOnRank(rank);
  begin = data;
  shape.rank = rank;
  for (int32_t dim = 0; dim < rank; ++dim)
    shape.dims[static_cast<size_t>(dim)] = dims[dim];
  if (reinterpret_cast<uintptr_t>(data) % static_cast<size_t>(elementBytes) != 0)
    return Taken::OnlyACopy;
  if (!byteStrides) {
    shape.setDense();
    return Taken::Yes;
  }
  for (int32_t dim = 0; dim < rank; ++dim) {
    if (byteStrides[dim] < 0 || byteStrides[dim] % elementBytes != 0)
      return Taken::OnlyACopy;
    shape.strides[static_cast<size_t>(dim)] = byteStrides[dim] / elementBytes;
  }
  return Taken::Yes;
}

Array::Taken Array::takeBuffer(nb::handle object, Access access) {
  if (!PyObject_CheckBuffer(object.ptr()))
    return Taken::NotThisWay;
  if (PyObject_GetBuffer(object.ptr(), &buffer, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    return Taken::NotThisWay;
  }
  hasBuffer = true;
  if (access == Access::Write && buffer.readonly)
    failOnReadOnly();
  shape.type = typeOfFormat(buffer.format, buffer.itemsize);
  if (shape.isAbsent() && buffer.format && *buffer.format == '>')
    return Taken::OnlyACopy;
  if (shape.isAbsent())
    failOnType(object);
  static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
  return place(buffer.buf, buffer.ndim, buffer.shape, buffer.strides, buffer.itemsize);
}

/// NumPy's, of a type that only its name tells.
Array::Taken Array::takeInterface(nb::handle object, Access access) {
  const nb::object type = nb::getattr(object, "dtype", nb::none());
  const nb::object name = nb::getattr(type, "name", nb::none());
  if (!nb::isinstance<nb::str>(name) || !nb::hasattr(object, "__array_interface__"))
    return Taken::NotThisWay;
  shape.type = typeOfName(nb::cast<nb::str>(name).c_str());
  if (shape.isAbsent())
    return Taken::NotThisWay;
  const auto interface = nb::cast<nb::dict>(object.attr("__array_interface__"));
  const auto data = nb::cast<nb::tuple>(interface["data"]);
  if (access == Access::Write && nb::cast<bool>(data[1]))
    failOnReadOnly();
  held = nb::borrow(object);
  const auto dims = nb::cast<nb::tuple>(interface["shape"]);
  const nb::object steps = interface["strides"];
  if (dims.size() > QUERN_MAX_NDIMS)
    failOnRank(static_cast<int64_t>(dims.size()));
  std::array<int64_t, QUERN_MAX_NDIMS> sizes{}, strides{};
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    sizes[dim] = nb::cast<int64_t>(dims[dim]);
    if (!steps.is_none())
      strides[dim] = nb::cast<int64_t>(nb::cast<nb::tuple>(steps)[dim]);
  }
  return place(reinterpret_cast<void *>(nb::cast<uintptr_t>(data[0])), static_cast<int32_t>(dims.size()), sizes.data(),
               steps.is_none() ? nullptr : strides.data(), nb::cast<int64_t>(type.attr("itemsize")));
}

Array::Taken Array::takeDlpack(nb::handle object, Access access) {
  if (!nb::hasattr(object, "__dlpack__"))
    return Taken::NotThisWay;
  nb::ndarray<nb::ro> array;
  if (!nb::try_cast(object, array)) {
    object.attr("__dlpack__")(); // which says why not
    fail(quern_unimplemented, "an array cannot be exchanged by DLPack");
  }
  if (array.device_type() != nb::device::cpu::value)
    fail(quern_unimplemented, "an array is on a device; it has to be in the CPU's memory");
  if (access == Access::Write) {
    nb::ndarray<> writable;
    if (!nb::try_cast(object, writable))
      failOnReadOnly();
  }
  shape.type = typeOfDlpack(array.dtype());
  if (shape.isAbsent())
    failOnType(object);
  const auto bytes = static_cast<int64_t>(array.itemsize());
  const auto rank = static_cast<int32_t>(array.ndim());
  if (rank > QUERN_MAX_NDIMS)
    failOnRank(rank);
  std::array<int64_t, QUERN_MAX_NDIMS> dims{}, strides{};
  for (size_t dim = 0; dim < array.ndim(); ++dim) {
    dims[dim] = static_cast<int64_t>(array.shape(dim));
    strides[dim] = array.stride(dim) * bytes;
  }
  held = nb::cast(nb::ndarray<nb::ro>(array), nb::rv_policy::none);
  return place(const_cast<void *>(static_cast<const void *>(array.data())), rank, dims.data(), strides.data(), bytes);
}

Array::Taken Array::takeAnyWay(nb::handle object, Access access) {
  Taken taken = takeBuffer(object, access);
  if (taken == Taken::NotThisWay)
    taken = takeInterface(object, access);
  if (taken == Taken::NotThisWay)
    taken = takeDlpack(object, access);
  return taken;
}

/// NumPy copies what no descriptor has, and makes an array of what is none.
void Array::takeCopy(nb::handle object, Access access) {
  release();
  const nb::object given = numpy().attr("asarray")(object);
  const nb::object type = given.attr("dtype").attr("newbyteorder")("=");
  const nb::object copy = numpy().attr("array")(given, type, nb::arg("order") = "C", nb::arg("copy") = true);
  if (access == Access::Write)
    target = nb::borrow(object);
  shape = Tensor();
  if (takeAnyWay(copy, access) != Taken::Yes)
    failOnType(copy);
}

void Array::take(nb::handle object, Access access) {
  if (object.is_none())
    return;
  owner = frameworkOf(object);
  const Taken taken = takeAnyWay(object, access);
  if (taken == Taken::Yes)
    return;
  if (taken == Taken::NotThisWay && access == Access::Write)
    fail(quern_invalid_arguments, "out is no array: it has neither the buffer protocol nor DLPack");
  takeCopy(object, access);
}

void Array::finish() {
  if (!target.is_valid())
    return;
  const nb::object source = hasBuffer ? nb::borrow(buffer.obj) : held;
  target[nb::ellipsis()] = source;
}

} // namespace quern::python
