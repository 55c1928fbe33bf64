//===- Function.cpp - A function of arrays, a kernel for each kind --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Function.h"

#include "TorchPool.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace quern::python {
namespace {

nb::module_ frameworks() { return nb::module_::import_("quern._frameworks"); }

/// Returns numpy.empty, which is looked up once and never released.
nb::handle numpyEmpty() {
  static const nb::handle function = nb::object(nb::module_::import_("numpy").attr("empty")).release();
  return function;
}

/// Returns torch.empty, which is looked up once and never released.
nb::handle torchEmpty() {
  static const nb::handle function = nb::object(nb::module_::import_("torch").attr("empty")).release();
  return function;
}

nb::object allocate(Framework framework, const CallPlan::Result &result) {
  switch (framework) {
  case Framework::NumPy:
    return numpyEmpty()(result.shape, result.dtype);
  case Framework::Torch:
    if (!result.torchType.is_valid())
      result.torchType = frameworks().attr("torch_dtype")(nameOf(result.type));
    return torchEmpty()(result.shape, nb::arg("dtype") = result.torchType);
  case Framework::Jax:
    break;
  }
  return frameworks().attr("aligned")(result.shape, result.dtype);
}

void mix(size_t &hash, size_t value) { hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2); }

size_t hashOf(const std::vector<Tensor> &tensors) {
  size_t hash = 0;
  for (const Tensor &tensor : tensors) {
    mix(hash, static_cast<size_t>(tensor.type) * 16 + static_cast<size_t>(tensor.rank));
    for (size_t dim = 0; dim < static_cast<size_t>(tensor.rank); ++dim) {
      mix(hash, static_cast<size_t>(tensor.dims[dim]));
      mix(hash, static_cast<size_t>(tensor.strides[dim]));
    }
  }
  return hash;
}

std::vector<int> presentArguments(const std::vector<int> &inputs, const std::vector<CallPlan::Made> &results,
                                  std::vector<size_t> &positions) {
  std::vector<int> indices;
  const auto add = [&](int index, size_t position) {
    if (index < 0)
      return;
    indices.push_back(index);
    positions.push_back(position);
  };
  for (size_t i = 0; i < inputs.size(); ++i)
    add(inputs[i], i);
  for (size_t i = 0; i < results.size(); ++i)
    add(std::get<int>(results[i]), inputs.size() + i);
  return indices;
}

} // namespace

CallPlan::CallPlan(std::shared_ptr<CompiledKernel> compiled, const std::vector<int> &inputs,
                   const std::vector<Made> &made)
    : kernel(std::move(compiled)), frames(*kernel, presentArguments(inputs, made, positions)) {
  for (const auto &[index, type, shape] : made)
    results.push_back({index, typeFromName(type), shape,
                       index < 0 ? nb::object(nb::none()) : nb::object(frameworks().attr("numpy_dtype")(type))});
}

Function::Function(size_t inputs, size_t outputs, nb::object build, size_t capacity)
    : inputs(inputs), outputs(outputs), builder(std::move(build)), capacity(capacity) {}

bool Function::Equal::operator()(const Key *first, const Key *second) const {
  return first->hash == second->hash && first->tensors == second->tensors &&
         first->parameters.equal(second->parameters);
}

Function::Key Function::keyOf(const std::vector<Array> &arrays, const nb::args &arguments) const {
  Key key;
  key.tensors.reserve(arrays.size());
  for (const Array &array : arrays)
    key.tensors.push_back(array.tensor());
  key.parameters = nb::steal<nb::tuple>(PyTuple_GetSlice(arguments.ptr(), static_cast<Py_ssize_t>(inputs + outputs),
                                                         static_cast<Py_ssize_t>(arguments.size())));
  key.hash = hashOf(key.tensors);
  const Py_hash_t parameters = PyObject_Hash(key.parameters.ptr());
  if (parameters == -1)
    throw nb::python_error();
  mix(key.hash, static_cast<size_t>(parameters));
  return key;
}

Function::Way Function::build(const Key &key) const {
  nb::list given, outs;
  for (size_t i = 0; i < key.tensors.size(); ++i)
    (i < inputs ? given : outs).append(key.tensors[i].isAbsent() ? nb::object(nb::none()) : nb::cast(key.tensors[i]));
  nb::object built = builder(given, outs, *key.parameters);
  if (nb::isinstance<CallPlan>(built))
    return {nb::cast<std::shared_ptr<CallPlan>>(built), {}};
  return {nullptr, std::move(built)};
}

/// While a plan is built, other threads may run and build the same plan.
Function::Way Function::find(Key key) {
  if (const auto found = plans.find(&key); found != plans.end())
    return found->second->way;
  Way way = build(key);
  if (const auto found = plans.find(&key); found != plans.end())
    return found->second->way;
  entries.push_front({std::move(key), way});
  plans.emplace(&entries.front().key, entries.begin());
  if (entries.size() > capacity) {
    plans.erase(&entries.back().key);
    entries.pop_back();
  }
  return way;
}

void Function::clear() {
  plans.clear();
  entries.clear();
}

nb::object Function::call(const nb::args &arguments) {
  if (arguments.size() < inputs + outputs)
    fail(quern_invalid_arguments, "a function of " + std::to_string(inputs + outputs) + " arrays was called with " +
                                      std::to_string(arguments.size()));
  std::vector<Array> arrays(inputs + outputs);
  Framework framework = Framework::NumPy;
  for (size_t i = 0; i < arrays.size(); ++i) {
    arrays[i].take(arguments[i], i < inputs ? Array::Access::Read : Array::Access::Write);
    if (arrays[i].framework() != Framework::NumPy)
      framework = arrays[i].framework();
  }
  const Way way = find(keyOf(arrays, arguments));
  if (way.function.is_valid())
    return way.function(*arguments);
  const std::shared_ptr<CallPlan> &plan = way.plan;

  std::vector<nb::object> made(outputs);
  for (size_t i = 0; i < outputs; ++i) {
    const CallPlan::Result &result = plan->results[i];
    if (result.index < 0 || !arguments[inputs + i].is_none()) {
      made[i] = nb::borrow(arguments[inputs + i]);
      continue;
    }
    made[i] = allocate(framework, result);
    arrays[inputs + i].take(made[i], Array::Access::Write);
  }
  std::vector<void *> data;
  data.reserve(plan->positions.size());
  for (size_t position : plan->positions)
    data.push_back(arrays[position].data());
  plan->frames.execute(data.data(), framework == Framework::Torch ? torchStream() : cpuStream());

  for (size_t i = 0; i < outputs; ++i) {
    arrays[inputs + i].finish();
    if (framework == Framework::Jax && arguments[inputs + i].is_none() && !made[i].is_none())
      made[i] = frameworks().attr("deliver")(made[i]);
  }
  if (outputs == 1)
    return made[0];
  nb::list all;
  for (nb::object &object : made)
    all.append(object);
  return nb::tuple(all);
}

void bindFunctions(nb::module_ &module) {
  nb::class_<CallPlan>(module, "Plan")
      .def(nb::init<std::shared_ptr<CompiledKernel>, const std::vector<int> &, const std::vector<CallPlan::Made> &>(),
           nb::arg("kernel"), nb::arg("inputs"), nb::arg("results"))
      .def_ro("kernel", &CallPlan::kernel);
  nb::class_<Function>(module, "Function")
      .def(nb::init<size_t, size_t, nb::object, size_t>(), nb::arg("inputs"), nb::arg("outputs"), nb::arg("build"),
           nb::arg("capacity") = 1024)
      .def("__call__", &Function::call)
      .def("clear", &Function::clear)
      .def("__len__", &Function::size);
}

} // namespace quern::python
