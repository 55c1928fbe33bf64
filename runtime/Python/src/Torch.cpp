//===- Torch.cpp - Operators of PyTorch without Python --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// quern::softmax, quern::eltwise and their gradients for PyTorch's dispatcher, and functions that call them from Python
// as fast as PyTorch calls its own. The module is built for one version of PyTorch and of Python. quern.torch declares
// the operators and has implementations in Python for other versions.
//
//===----------------------------------------------------------------------===//
#include "Frame.h"

#include <ATen/Context.h>
#include <ATen/EmptyTensor.h>
#include <ATen/PythonTorchFunctionTLS.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/library.h>

#include <bit>
#include <list>
#include <sstream>
#include <unordered_map>

namespace quern::python {
namespace {

using torch::autograd::variable_list;

constexpr int src = 1, dst = 17, diffSrc = 129, diffDst = 145;

/// An error status of Quern. PyTorch raises its text; `callOperator` raises quern.Error.
class Refusal : public std::runtime_error {
public:
  explicit Refusal(quern_status_t status) : Refusal(status, quern_get_last_error_message()) {}
  Refusal(quern_status_t status, const std::string &message) : std::runtime_error(message), status(status) {}
  quern_status_t status;
};

void check(quern_status_t status) {
  if (status != quern_success)
    throw Refusal(status);
}

// Handles of quern._quern. The stream uses PyTorch's threads if PyTorch exports them.
quern_engine_t engine = nullptr;
quern_stream_t stream = nullptr;

const char *typeName(at::ScalarType type) {
  switch (type) {
  case at::kDouble:
    return "f64";
  case at::kFloat:
    return "f32";
  case at::kHalf:
    return "f16";
  case at::kBFloat16:
    return "bf16";
  case at::kFloat8_e5m2:
    return "f8_e5m2";
  case at::kFloat8_e4m3fn:
    return "f8_e4m3";
  case at::kInt:
    return "s32";
  case at::kChar:
    return "s8";
  case at::kByte:
  case at::kBool:
    return "u8";
  default:
    throw Refusal(quern_unimplemented, std::string("Quern does not compute with ") + at::toString(type));
  }
}

/// Returns the text form of a tensor; without dims it is one element.
std::string textOf(const at::Tensor &tensor) {
  std::ostringstream text;
  text << typeName(tensor.scalar_type()) << ':';
  const auto list = [&](at::IntArrayRef numbers) {
    if (numbers.empty())
      text << 1;
    for (size_t i = 0; i < numbers.size(); ++i)
      text << (i ? "x" : "") << numbers[i];
  };
  list(tensor.sizes());
  text << ":s";
  list(tensor.strides());
  return text.str();
}

/// Identifies a kernel: an operator with its parameters, and tensors.
struct Key {
  enum class Operator : uint8_t { Softmax, SoftmaxBackward, Eltwise, EltwiseBackward };

  Operator op;
  std::string algorithm;                 ///< algorithm of an eltwise kernel
  c10::SmallVector<int64_t, 16> numbers; ///< parameters; then type, rank, sizes and strides of each tensor

  explicit Key(Operator op, std::string_view algorithm = {}) : op(op), algorithm(algorithm) {}
  bool operator==(const Key &other) const = default;

  void add(const at::Tensor &tensor) {
    numbers.push_back(static_cast<int64_t>(tensor.scalar_type()));
    numbers.push_back(tensor.dim());
    numbers.append(tensor.sizes().begin(), tensor.sizes().end());
    numbers.append(tensor.strides().begin(), tensor.strides().end());
  }
  void add(int64_t number) { numbers.push_back(number); }
  void add(double number) { numbers.push_back(std::bit_cast<int64_t>(number)); }
};

struct HashOfKey {
  size_t operator()(const Key &key) const {
    size_t hash = static_cast<size_t>(key.op);
    const auto mix = [&](size_t value) { hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2); };
    for (const int64_t number : key.numbers)
      mix(static_cast<size_t>(number));
    mix(std::hash<std::string>()(key.algorithm));
    return hash;
  }
};

template <auto Destroy> struct Destroyer {
  template <typename Handle> void operator()(Handle *handle) const noexcept { Destroy(handle); }
};

/// A kernel with the memory objects of one thread.
struct TorchKernel {
  std::unique_ptr<quern_primitive_desc, Destroyer<quern_primitive_desc_destroy>> problem;
  std::unique_ptr<quern_primitive, Destroyer<quern_primitive_destroy>> primitive;
  Frame frame;

  TorchKernel(const std::string &line, std::initializer_list<int> arguments) {
    quern_primitive_desc_t verified = nullptr;
    check(quern_primitive_desc_create_from_text(&verified, engine, line.c_str()));
    problem.reset(verified);
    quern_primitive_t made = nullptr;
    check(quern_primitive_create(&made, verified));
    primitive.reset(made);
    for (const int index : arguments)
      check(frame.add(engine, verified, index));
  }

  void run(std::initializer_list<void *> buffers) {
    size_t position = 0;
    for (void *buffer : buffers)
      check(frame.set(position++, buffer));
    check(frame.execute(primitive.get(), stream));
  }
};

/// The kernels that a thread has called, most recent first. One object per thread, so calls need no lock.
class Kernels {
public:
  template <typename Make> TorchKernel &find(const Key &key, Make make) {
    if (!entries.empty() && entries.front().first == key)
      return entries.front().second;
    if (const auto found = byKey.find(key); found != byKey.end()) {
      entries.splice(entries.begin(), entries, found->second);
      return entries.front().second;
    }
    entries.emplace_front(key, make());
    byKey.emplace(key, entries.begin());
    if (entries.size() > capacity) {
      byKey.erase(entries.back().first);
      entries.pop_back();
    }
    return entries.front().second;
  }

private:
  static constexpr size_t capacity = 512;
  std::list<std::pair<Key, TorchKernel>> entries;
  std::unordered_map<Key, std::list<std::pair<Key, TorchKernel>>::iterator, HashOfKey> byKey;
};
thread_local Kernels kernels;

/// Copies a tensor whose start is not a multiple of an element, because no descriptor fits it.
at::Tensor aligned(const at::Tensor &tensor) {
  return reinterpret_cast<uintptr_t>(tensor.const_data_ptr()) % tensor.element_size() == 0 ? tensor : tensor.clone();
}

at::Tensor dense(const at::Tensor &like, at::ScalarType type) { return at::detail::empty_cpu(like.sizes(), type); }
at::Tensor dense(const at::Tensor &like) { return dense(like, like.scalar_type()); }

/// Returns text from which the same number is read.
std::string numberText(double number) {
  std::ostringstream text;
  text.precision(17);
  text << number;
  return text.str();
}

// --- Softmax ---

int64_t axisOf(int64_t dim, int64_t rank) {
  const int64_t count = std::max<int64_t>(rank, 1);
  if (dim < -count || dim >= count)
    throw Refusal(quern_invalid_arguments, "axis is " + std::to_string(dim) + "; an array of " + std::to_string(rank) +
                                               " dims allows " + std::to_string(-count) + " to " +
                                               std::to_string(count - 1));
  return dim < 0 ? dim + count : dim;
}

const char *softmaxName(bool log) { return log ? "log" : "accurate"; }

at::Tensor softmax(const at::Tensor &given, int64_t dim, bool log) {
  const at::Tensor x = aligned(given);
  at::Tensor y = dense(x, x.is_floating_point() ? x.scalar_type() : at::kFloat);
  Key key(Key::Operator::Softmax);
  key.add(dim * 2 + log);
  key.add(x);
  const auto make = [&] {
    const std::string axis = std::to_string(axisOf(dim, x.dim()));
    return TorchKernel(std::string("softmax fwd_i alg=") + softmaxName(log) + " src=" + textOf(x) +
                           " dst=" + textOf(y) + " axis=" + axis,
                       {src, dst});
  };
  kernels.find(key, make).run({const_cast<void *>(x.const_data_ptr()), y.mutable_data_ptr()});
  return y;
}

at::Tensor softmaxBackward(const at::Tensor &givenY, const at::Tensor &givenGradient, int64_t dim, bool log) {
  const at::Tensor y = aligned(givenY), dy = aligned(givenGradient);
  at::Tensor dx = dense(y);
  Key key(Key::Operator::SoftmaxBackward);
  key.add(dim * 2 + log);
  key.add(y);
  key.add(dy);
  const auto make = [&] {
    const std::string axis = std::to_string(axisOf(dim, y.dim()));
    return TorchKernel(std::string("softmax bwd_d alg=") + softmaxName(log) + " dst=" + textOf(y) +
                           " diff_src=" + textOf(dx) + " diff_dst=" + textOf(dy) + " axis=" + axis,
                       {dst, diffDst, diffSrc});
  };
  kernels.find(key, make).run(
      {const_cast<void *>(y.const_data_ptr()), const_cast<void *>(dy.const_data_ptr()), dx.mutable_data_ptr()});
  return dx;
}

// --- Elementwise functions ---

std::string eltwiseHead(const char *propagation, std::string_view algorithm, double alpha, double beta) {
  return std::string("eltwise ") + propagation + " alg=" + std::string(algorithm) + " alpha=" + numberText(alpha) +
         " beta=" + numberText(beta);
}

/// Returns true if an algorithm's gradient is computed from its result.
bool readsResult(std::string_view algorithm) { return algorithm.ends_with("_use_dst_for_bwd"); }

at::Tensor eltwise(const at::Tensor &given, std::string_view algorithm, double alpha, double beta) {
  const at::Tensor x = aligned(given);
  at::Tensor y = dense(x);
  Key key(Key::Operator::Eltwise, algorithm);
  key.add(alpha);
  key.add(beta);
  key.add(x);
  const auto make = [&] {
    return TorchKernel(eltwiseHead("fwd_i", algorithm, alpha, beta) + " src=" + textOf(x) + " dst=" + textOf(y),
                       {src, dst});
  };
  kernels.find(key, make).run({const_cast<void *>(x.const_data_ptr()), y.mutable_data_ptr()});
  return y;
}

/// Computes the gradient of eltwise. `givenData` is the argument, or the result if readsResult(algorithm).
at::Tensor eltwiseBackward(const at::Tensor &givenData, const at::Tensor &givenGradient, std::string_view algorithm,
                           double alpha, double beta) {
  const at::Tensor data = aligned(givenData), dy = aligned(givenGradient);
  at::Tensor dx = dense(data);
  Key key(Key::Operator::EltwiseBackward, algorithm);
  key.add(alpha);
  key.add(beta);
  key.add(data);
  key.add(dy);
  const auto make = [&] {
    const bool isResult = readsResult(algorithm);
    return TorchKernel(eltwiseHead("bwd_d", algorithm, alpha, beta) + (isResult ? " dst=" : " src=") + textOf(data) +
                           " diff_src=" + textOf(dx) + " diff_dst=" + textOf(dy),
                       {isResult ? dst : src, diffDst, diffSrc});
  };
  kernels.find(key, make).run(
      {const_cast<void *>(data.const_data_ptr()), const_cast<void *>(dy.const_data_ptr()), dx.mutable_data_ptr()});
  return dx;
}

// --- Gradients ---

template <typename Signature> c10::TypedOperatorHandle<Signature> operatorOf(const char *name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

at::Tensor callSoftmax(const at::Tensor &x, int64_t dim, bool log) {
  static const auto handle = operatorOf<decltype(softmax)>("quern::softmax");
  return handle.call(x, dim, log);
}

at::Tensor callEltwise(const at::Tensor &x, c10::string_view algorithm, double alpha, double beta) {
  static const auto handle = operatorOf<decltype(eltwise)>("quern::eltwise");
  return handle.call(x, algorithm, alpha, beta);
}

/// The node of a gradient that autograd records with create_graph: its derivative is not implemented.
struct NoSecondDerivative final : torch::autograd::Node {
  std::string name() const override { return "QuernNoSecondDerivative"; }
  variable_list apply(variable_list &&) override {
    throw Refusal(quern_unimplemented,
                  "a gradient of quern.torch is differentiated; second derivatives are not implemented");
  }
};

/// Runs the operator of a gradient below autograd; a derivative of its result raises.
template <typename Run> at::Tensor recordGradient(const at::Tensor &data, const at::Tensor &gradient, Run run) {
  const bool isRecorded = at::GradMode::is_enabled() && (data.requires_grad() || gradient.requires_grad());
  at::Tensor result;
  {
    const at::AutoDispatchBelowADInplaceOrView below;
    result = run();
  }
  if (isRecorded) {
    auto node = c10::make_intrusive<NoSecondDerivative>();
    node->set_next_edges(torch::autograd::collect_next_edges(data, gradient));
    torch::autograd::set_history(result, node);
  }
  return result;
}

at::Tensor callSoftmaxBackward(const at::Tensor &y, const at::Tensor &dy, int64_t dim, bool log) {
  static const auto handle = operatorOf<decltype(softmaxBackward)>("quern::softmax_backward");
  return handle.call(y, dy, dim, log);
}

at::Tensor callEltwiseBackward(const at::Tensor &data, const at::Tensor &dy, c10::string_view algorithm, double alpha,
                               double beta) {
  static const auto handle = operatorOf<decltype(eltwiseBackward)>("quern::eltwise_backward");
  return handle.call(data, dy, algorithm, alpha, beta);
}

at::Tensor softmaxBackwardRecorded(const at::Tensor &y, const at::Tensor &dy, int64_t dim, bool log) {
  return recordGradient(y, dy, [&] { return callSoftmaxBackward(y, dy, dim, log); });
}

at::Tensor eltwiseBackwardRecorded(const at::Tensor &data, const at::Tensor &dy, c10::string_view algorithm,
                                   double alpha, double beta) {
  return recordGradient(data, dy, [&] { return callEltwiseBackward(data, dy, algorithm, alpha, beta); });
}

/// The autograd node of an operator with one tensor, built like PyTorch's own nodes, so that function transforms accept
/// it.
class Gradient : public torch::autograd::Node {
public:
  /// Saves a tensor for backward. `isResult` is true if `tensor` is the operator's result.
  void keep(const at::Tensor &tensor, bool isResult) { kept = torch::autograd::SavedVariable(tensor, isResult); }
  variable_list apply(variable_list &&gradients) override {
    if (!gradients[0].defined())
      return {at::Tensor()};
    return {compute(kept.unpack(getptr()), gradients[0])};
  }
  void release_variables() override { kept.reset_data(); }

protected:
  virtual at::Tensor compute(const at::Tensor &data, const at::Tensor &gradient) const = 0;

private:
  torch::autograd::SavedVariable kept;
};

struct SoftmaxGradient final : Gradient {
  SoftmaxGradient(int64_t dim, bool log) : dim(dim), log(log) {}
  std::string name() const override { return "QuernSoftmaxBackward"; }
  at::Tensor compute(const at::Tensor &y, const at::Tensor &dy) const override {
    return callSoftmaxBackward(y, dy, dim, log);
  }
  int64_t dim;
  bool log;
};

struct EltwiseGradient final : Gradient {
  EltwiseGradient(c10::string_view algorithm, double alpha, double beta)
      : algorithm(algorithm), alpha(alpha), beta(beta) {}
  std::string name() const override { return "QuernEltwiseBackward"; }
  at::Tensor compute(const at::Tensor &data, const at::Tensor &dy) const override {
    return callEltwiseBackward(data, dy, algorithm, alpha, beta);
  }
  std::string algorithm;
  double alpha, beta;
};

/// Runs an operator of `x` below autograd and records its gradient.
template <typename Run, typename Make>
at::Tensor record(const at::Tensor &x, bool keepsResult, Run run, Make makeGradient) {
  if (torch::autograd::isFwGradDefined(x))
    throw Refusal(quern_unimplemented, "an operator of quern.torch has an input with a tangent; forward-mode "
                                       "differentiation is not implemented");
  c10::intrusive_ptr<Gradient> gradient;
  if (x.requires_grad() && at::GradMode::is_enabled()) {
    gradient = makeGradient();
    gradient->set_next_edges(torch::autograd::collect_next_edges(x));
  }
  at::Tensor y;
  {
    const at::AutoDispatchBelowADInplaceOrView below;
    y = run();
  }
  if (gradient) {
    torch::autograd::set_history(y, gradient);
    gradient->keep(keepsResult ? y : x, keepsResult);
  }
  return y;
}

at::Tensor softmaxRecorded(const at::Tensor &x, int64_t dim, bool log) {
  return record(
      x, true, [&] { return callSoftmax(x, dim, log); },
      [&] { return c10::make_intrusive<SoftmaxGradient>(dim, log); });
}

at::Tensor eltwiseRecorded(const at::Tensor &x, c10::string_view algorithm, double alpha, double beta) {
  return record(
      x, readsResult(algorithm), [&] { return callEltwise(x, algorithm, alpha, beta); },
      [&] { return c10::make_intrusive<EltwiseGradient>(algorithm, alpha, beta); });
}

// --- From Python ---

/// Converts the current exception to a Python exception.
PyObject *raise() {
  try {
    throw;
  } catch (const Refusal &refusal) {
    PyObject *module = PyImport_ImportModule("quern._errors");
    PyObject *type = module ? PyObject_GetAttrString(module, "Error") : nullptr;
    PyObject *error =
        type ? PyObject_CallFunction(type, "si", refusal.what(), static_cast<int>(refusal.status)) : nullptr;
    if (error)
      PyErr_SetObject(type, error);
    Py_XDECREF(error);
    Py_XDECREF(type);
    Py_XDECREF(module);
  } catch (const std::exception &other) {
    PyErr_SetString(PyExc_RuntimeError, other.what());
  }
  return nullptr;
}

/// Returns true if only the dispatcher handles a call: no subclass or mode overrides functions in Python.
bool isPlain(PyObject *object) { return THPVariable_CheckExact(object) && !at::impl::torch_function_mode_enabled(); }

/// Returns NotImplemented if the caller must call the operator through Python.
template <typename Call> PyObject *callOperator(PyObject *object, Call call) {
  if (!isPlain(object))
    Py_RETURN_NOTIMPLEMENTED;
  try {
    const at::Tensor &x = THPVariable_Unpack(object);
    at::Tensor y;
    PyThreadState *state = PyEval_SaveThread();
    try {
      y = call(x);
    } catch (...) {
      PyEval_RestoreThread(state);
      throw;
    }
    PyEval_RestoreThread(state);
    return THPVariable_Wrap(std::move(y));
  } catch (...) {
    return raise();
  }
}

PyObject *pySoftmax(PyObject *, PyObject *const *arguments, Py_ssize_t count) {
  if (count != 3)
    return PyErr_Format(PyExc_TypeError, "softmax takes 3 arguments, not %zd", count);
  const int64_t dim = PyLong_AsLongLong(arguments[1]);
  if (dim == -1 && PyErr_Occurred())
    return nullptr;
  const bool log = arguments[2] == Py_True;
  return callOperator(arguments[0], [&](const at::Tensor &x) { return callSoftmax(x, dim, log); });
}

PyObject *pyEltwise(PyObject *, PyObject *const *arguments, Py_ssize_t count) {
  if (count != 4)
    return PyErr_Format(PyExc_TypeError, "eltwise takes 4 arguments, not %zd", count);
  Py_ssize_t length = 0;
  const char *name = PyUnicode_AsUTF8AndSize(arguments[1], &length);
  const double alpha = name ? PyFloat_AsDouble(arguments[2]) : 0, beta = name ? PyFloat_AsDouble(arguments[3]) : 0;
  if (PyErr_Occurred())
    return nullptr;
  const std::string algorithm(name, static_cast<size_t>(length));
  return callOperator(arguments[0], [&](const at::Tensor &x) { return callEltwise(x, algorithm, alpha, beta); });
}

/// start(engine, stream): registers the implementations of operators that are already declared.
PyObject *start(PyObject *, PyObject *const *arguments, Py_ssize_t count) {
  if (count != 2)
    return PyErr_Format(PyExc_TypeError, "start takes 2 arguments, not %zd", count);
  engine = static_cast<quern_engine_t>(PyLong_AsVoidPtr(arguments[0]));
  stream = static_cast<quern_stream_t>(PyLong_AsVoidPtr(arguments[1]));
  if (PyErr_Occurred())
    return nullptr;
  try {
    static torch::Library cpu(torch::Library::IMPL, "quern", c10::DispatchKey::CPU, __FILE__, __LINE__);
    cpu.impl("softmax", softmax);
    cpu.impl("softmax_backward", softmaxBackward);
    cpu.impl("eltwise", eltwise);
    cpu.impl("eltwise_backward", eltwiseBackward);
    static torch::Library autograd(torch::Library::IMPL, "quern", c10::DispatchKey::Autograd, __FILE__, __LINE__);
    autograd.impl("softmax", softmaxRecorded);
    autograd.impl("eltwise", eltwiseRecorded);
    autograd.impl("softmax_backward", softmaxBackwardRecorded);
    autograd.impl("eltwise_backward", eltwiseBackwardRecorded);
  } catch (...) {
    return raise();
  }
  Py_RETURN_NONE;
}

using FastCall = PyObject *(PyObject *, PyObject *const *, Py_ssize_t);
template <FastCall *Function> PyCFunction asMethod() {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(Function));
}

PyMethodDef methods[] = {{"softmax", asMethod<pySoftmax>(), METH_FASTCALL, nullptr},
                         {"eltwise", asMethod<pyEltwise>(), METH_FASTCALL, nullptr},
                         {"start", asMethod<start>(), METH_FASTCALL, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_torch", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

} // namespace
} // namespace quern::python

PyMODINIT_FUNC QUERN_TORCH_INIT() { return PyModule_Create(&quern::python::definition); }
