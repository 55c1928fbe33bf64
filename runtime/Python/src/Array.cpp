//===- Array.cpp - An array of the caller during a call -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Array.h"

#include <algorithm>
#include <optional>

namespace nb = nanobind;

namespace quern::python {
namespace {

/// Returns the type of a format of Python's struct module: one letter after an optional byte order, which must be
/// native or little-endian.
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

/// Returns the type of a name of ml_dtypes (float8_e4m3fn: finite values and NaN only).
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

/// Fails for a type that Quern does not support. The caller must convert such arrays.
[[noreturn]] void failOnType(nb::handle object) {
  const std::string name = nb::str(nb::getattr(object, "dtype", object.type())).c_str();
  fail(quern_unimplemented, "an array is of type " + name +
                                "; float64, float32, float16, bfloat16, float8_e5m2, float8_e4m3fn, int32, int8, uint8 "
                                "and bool are possible");
}

/// Functions of a framework (DLPack 1.2 and later), which are an attribute of its tensor type.
struct ExchangeApi {
  uint32_t major, minor;
  void *previous;
  void *allocate, *fromObject, *toObject;
  /// Describes a tensor that the caller holds. Returns nonzero with a Python exception on failure.
  int (*describe)(void *object, nb::dlpack::dltensor *tensor);
  void *currentStream;
};

/// Returns the DLPack exchange functions of a tensor type; null if it has none. The functions of the last two types are
/// cached.
const ExchangeApi *exchangeOf(PyTypeObject *type) {
  struct Known {
    PyTypeObject *type;
    const ExchangeApi *api;
  };
  thread_local std::array<Known, 2> known{};
  for (const Known &one : known)
    if (one.type == type)
      return one.api;
  const ExchangeApi *api = nullptr;
  const nb::object capsule = nb::getattr(reinterpret_cast<PyObject *>(type), "__dlpack_c_exchange_api__", nb::none());
  if (PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api"))
    api = static_cast<const ExchangeApi *>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  if (api && (api->major != 1 || !api->describe))
    api = nullptr;
  if (!api)
    return nullptr;
  known[1] = known[0];
  known[0] = {type, api};
  return api;
}

/// Returns true if a descriptor can have these strides: sorted by stride, each is at least the next smaller one times
/// its dim. A sliding window does not satisfy this, nor does every second element of rows with an odd length.
bool isNested(const Tensor &tensor) {
  std::array<std::pair<int64_t, int64_t>, QUERN_MAX_NDIMS> order{}; // stride, dim
  size_t count = 0;
  for (size_t dim = 0; dim < static_cast<size_t>(tensor.rank); ++dim) {
    if (tensor.dims[dim] == 0)
      return true;
    if (tensor.dims[dim] > 1 && tensor.strides[dim] > 0)
      order[count++] = {tensor.strides[dim], tensor.dims[dim]};
  }
  std::sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(count));
  for (size_t i = 0; i + 1 < count; ++i)
    if (order[i + 1].first < order[i].first * order[i].second)
      return false;
  return true;
}

/// Returns the framework by the module that defines the type; nullopt if no framework does.
std::optional<Framework> lookUpFramework(nb::handle object) {
  const nb::object module = nb::getattr(object.type(), "__module__", nb::none());
  const std::string_view text = nb::isinstance<nb::str>(module) ? nb::cast<nb::str>(module).c_str() : "";
  if (text.starts_with("torch"))
    return Framework::Torch;
  if (text.starts_with("jax"))
    return Framework::Jax;
  return text.starts_with("numpy") ? std::optional(Framework::NumPy) : std::nullopt;
}

nb::module_ numpy() { return nb::module_::import_("numpy"); }

} // namespace

Framework frameworkOf(nb::handle object) {
  struct Known {
    PyTypeObject *type;
    Framework framework;
  };
  thread_local std::array<Known, 2> known{}; // types of frameworks are never destroyed
  PyTypeObject *type = Py_TYPE(object.ptr());
  for (const Known &one : known)
    if (one.type == type)
      return one.framework;
  const std::optional<Framework> found = lookUpFramework(object);
  if (found) {
    known[1] = known[0];
    known[0] = {type, *found};
  }
  return found.value_or(Framework::NumPy);
}

void Array::release() {
  if (hasBuffer)
    PyBuffer_Release(&buffer);
  hasBuffer = false;
}

/// Stores the address, the dims and the strides in elements. Returns NeedsCopy if the start or a stride is not a
/// multiple of an element, a stride is negative, or no descriptor can have the strides.
Array::Outcome Array::place(void *data, int32_t rank, const int64_t *dims, const int64_t *byteStrides,
                            int64_t elementBytes) {
  if (rank > QUERN_MAX_NDIMS)
    failOnRank(rank);
  begin = data;
  shape.rank = rank;
  for (int32_t dim = 0; dim < rank; ++dim)
    shape.dims[static_cast<size_t>(dim)] = dims[dim];
  // The strides and start of an empty array are irrelevant; NumPy sets its strides to 0.
  const bool isEmpty = std::find(dims, dims + rank, 0) != dims + rank;
  if (!isEmpty && reinterpret_cast<uintptr_t>(data) % static_cast<size_t>(elementBytes) != 0)
    return Outcome::NeedsCopy;
  if (isEmpty || !byteStrides) {
    shape.setDense();
    return Outcome::Described;
  }
  for (int32_t dim = 0; dim < rank; ++dim) {
    if (byteStrides[dim] < 0 || byteStrides[dim] % elementBytes != 0)
      return Outcome::NeedsCopy;
    shape.strides[static_cast<size_t>(dim)] = byteStrides[dim] / elementBytes;
  }
  return isNested(shape) ? Outcome::Described : Outcome::NeedsCopy;
}

Array::Outcome Array::takeBuffer(nb::handle object, Access access) {
  if (!PyObject_CheckBuffer(object.ptr()))
    return Outcome::Unsupported;
  if (PyObject_GetBuffer(object.ptr(), &buffer, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    return Outcome::Unsupported;
  }
  hasBuffer = true;
  if (access == Access::Write && buffer.readonly)
    failOnReadOnly();
  shape.type = typeOfFormat(buffer.format, buffer.itemsize);
  if (shape.isAbsent() && buffer.format && *buffer.format == '>')
    return Outcome::NeedsCopy;
  if (shape.isAbsent())
    failOnType(object);
  static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
  return place(buffer.buf, buffer.ndim, buffer.shape, buffer.strides, buffer.itemsize);
}

/// Takes a NumPy array whose type is known only by its name.
Array::Outcome Array::takeInterface(nb::handle object, Access access) {
  const nb::object type = nb::getattr(object, "dtype", nb::none());
  const nb::object name = nb::getattr(type, "name", nb::none());
  if (!nb::isinstance<nb::str>(name) || !nb::hasattr(object, "__array_interface__"))
    return Outcome::Unsupported;
  shape.type = typeOfName(nb::cast<nb::str>(name).c_str());
  if (shape.isAbsent())
    return Outcome::Unsupported;
  const auto interface = nb::cast<nb::dict>(object.attr("__array_interface__"));
  const auto data = nb::cast<nb::tuple>(interface["data"]);
  if (access == Access::Write && nb::cast<bool>(data[1]))
    failOnReadOnly();
  memoryOwner = nb::borrow(object);
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

/// Returns true if the object is a PyTorch tensor that is stored with its sign flipped (the negative bit of
/// `x.conj().imag`). Neither the exchange functions nor DLPack export that bit.
bool isNegative(nb::handle object) {
  const nb::object method = nb::getattr(object, "is_neg", nb::none());
  return nb::isinstance<nb::callable>(method) && method().ptr() == Py_True;
}

/// Takes a PyTorch tensor, which the arguments of the call keep alive. A tensor that requires a gradient is rejected,
/// as every other exporter rejects it.
Array::Outcome Array::takeExchange(nb::handle object) {
  const ExchangeApi *api = exchangeOf(Py_TYPE(object.ptr()));
  if (!api)
    return Outcome::Unsupported;
  if (nb::getattr(object, "requires_grad", nb::none()).ptr() == Py_True)
    fail(quern_invalid_arguments,
         "an array requires a gradient, which this function does not compute: detach() it, or call "
         "the function of quern.torch");
  if (isNegative(object))
    return Outcome::NeedsCopy;
  nb::dlpack::dltensor tensor{};
  if (api->describe(object.ptr(), &tensor) != 0)
    throw nb::python_error();
  int64_t *const end = tensor.shape + tensor.ndim;
  if (!tensor.data && std::find(tensor.shape, end, 0) == end)
    fail(quern_unimplemented, "an array has no memory: it is a zero tensor or a fake tensor of PyTorch");
  if (tensor.device.device_type != nb::device::cpu::value)
    fail(quern_unimplemented, "an array is on a device; it has to be in the CPU's memory");
  shape.type = typeOfDlpack(tensor.dtype);
  if (shape.isAbsent())
    failOnType(object);
  if (tensor.ndim > QUERN_MAX_NDIMS)
    failOnRank(tensor.ndim);
  memoryOwner = nb::borrow(object);
  const int64_t bytes = tensor.dtype.bits / 8;
  std::array<int64_t, QUERN_MAX_NDIMS> strides{};
  for (int32_t dim = 0; dim < tensor.ndim && tensor.strides; ++dim)
    strides[static_cast<size_t>(dim)] = tensor.strides[dim] * bytes;
  return place(static_cast<char *>(tensor.data) + tensor.byte_offset, tensor.ndim, tensor.shape,
               tensor.strides ? strides.data() : nullptr, bytes);
}

Array::Outcome Array::takeDlpack(nb::handle object, Access access) {
  if (!nb::hasattr(object, "__dlpack__"))
    return Outcome::Unsupported;
  if (isNegative(object))
    return Outcome::NeedsCopy;
  nb::ndarray<nb::ro> array;
  if (!nb::try_cast(object, array)) {
    object.attr("__dlpack__")(); // raises an exception with the reason
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
  memoryOwner = nb::cast(nb::ndarray<nb::ro>(array), nb::rv_policy::none);
  return place(const_cast<void *>(static_cast<const void *>(array.data())), rank, dims.data(), strides.data(), bytes);
}

Array::Outcome Array::takeAnyWay(nb::handle object, Access access) {
  Outcome outcome = takeBuffer(object, access);
  if (outcome == Outcome::Unsupported)
    outcome = takeExchange(object);
  if (outcome == Outcome::Unsupported)
    outcome = takeInterface(object, access);
  if (outcome == Outcome::Unsupported)
    outcome = takeDlpack(object, access);
  return outcome;
}

/// Copies an object that no descriptor fits: a PyTorch tensor by PyTorch, any other object by NumPy.
void Array::takeCopy(nb::handle object, Access access) {
  release();
  nb::object copy;
  if (owner == Framework::Torch) {
    target = nb::borrow(object);
    copy = object.attr("resolve_neg")().attr("contiguous")();
    if (copy.is(target) ||
        nb::cast<uintptr_t>(copy.attr("data_ptr")()) == nb::cast<uintptr_t>(object.attr("data_ptr")()))
      copy = object.attr("clone")(); // it was contiguous, but misaligned
  } else {
    target = numpy().attr("asarray")(object);
    const nb::object type = target.attr("dtype").attr("newbyteorder")("=");
    copy = numpy().attr("array")(target, type, nb::arg("order") = "C", nb::arg("copy") = true);
  }
  if (access == Access::Read)
    target.reset();
  shape = Tensor();
  if (takeAnyWay(copy, access) != Outcome::Described)
    failOnType(copy);
}

void Array::take(nb::handle object, Access access) {
  if (object.is_none())
    return;
  owner = frameworkOf(object);
  const Outcome outcome = takeAnyWay(object, access);
  if (outcome == Outcome::Described)
    return;
  if (outcome == Outcome::Unsupported && access == Access::Write)
    fail(quern_invalid_arguments, "out is not an array: it has neither the buffer protocol nor DLPack");
  takeCopy(object, access);
}

void Array::finish() {
  if (!target.is_valid())
    return;
  const nb::object source = hasBuffer ? nb::borrow(buffer.obj) : memoryOwner;
  if (owner == Framework::Torch)
    target.attr("copy_")(source);
  else
    target[nb::ellipsis()] = source;
}

} // namespace quern::python
