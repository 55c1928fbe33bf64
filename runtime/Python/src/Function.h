//===- Function.h - A function of arrays, a kernel for each kind -*- C++ -*-===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// quern.softmax and similar functions: the types, dims, strides and parameters of a call are looked up, and a Python
// function builds a plan for a new combination. A repeated call runs no Python code except the allocation of its
// results. For sizes of 0 that the kernel does not support, a Python function takes the place of the plan.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PYTHON_FUNCTION_H
#define QUERN_PYTHON_FUNCTION_H

#include "Array.h"
#include "CompiledKernel.h"

#include <list>
#include <tuple>
#include <unordered_map>

namespace quern::python {

/// A kernel, and the mapping of arrays to its arguments.
class CallPlan {
public:
  struct Result {
    int index; ///< argument of the kernel
    quern_data_type_t type;
    nanobind::tuple shape;
    nanobind::object dtype;                  ///< type in NumPy
    mutable nanobind::object torchType = {}; ///< type in PyTorch, set when it is first needed
  };

  /// Argument of the kernel, type and shape of a result.
  using Made = std::tuple<int, std::string, nanobind::tuple>;

  /// `inputs` has the kernel's argument for each array of a call, `made` describes each result. If the argument is -1,
  /// the kernel does not have it, and the result is None.
  CallPlan(std::shared_ptr<CompiledKernel> compiled, const std::vector<int> &inputs, const std::vector<Made> &made);

  /// Positions of the kernel's arguments among all inputs, followed by all results.
  std::vector<size_t> positions;
  std::vector<Result> results;
  std::shared_ptr<CompiledKernel> kernel;
  Frames frames;
};

class Function {
public:
  /// `build(tensors, outs, *parameters)` returns a Plan, or a function in Python that is called with the arguments of
  /// call() and returns its result. `tensors` has `inputs` Tensors or None, `outs` has `outputs` of them.
  Function(size_t inputs, size_t outputs, nanobind::object build, size_t capacity);

  /// Calls the function. `arguments` are `inputs` arrays or None, `outputs` arrays or None (then the result is
  /// allocated), and hashable parameters.
  nanobind::object call(const nanobind::args &arguments);
  void clear();
  size_t size() const { return plans.size(); }

private:
  struct Key {
    std::vector<Tensor> tensors;
    nanobind::tuple parameters;
    size_t hash;
  };
  struct Hash {
    size_t operator()(const Key *key) const { return key->hash; }
  };
  struct Equal {
    bool operator()(const Key *first, const Key *second) const;
  };
  /// The result of a lookup: exactly one member is valid.
  struct Way {
    std::shared_ptr<CallPlan> plan;
    nanobind::object function; ///< a Python function
  };
  struct Entry {
    Key key;
    Way way;
  };

  Key keyOf(const std::vector<Array> &arrays, const nanobind::args &arguments) const;
  Way find(Key key);
  Way build(const Key &key) const;

  size_t inputs, outputs;
  nanobind::object builder;
  size_t capacity;
  std::list<Entry> entries; ///< the newest first
  std::unordered_map<const Key *, std::list<Entry>::iterator, Hash, Equal> plans;
};

void bindFunctions(nanobind::module_ &module);

} // namespace quern::python

#endif // QUERN_PYTHON_FUNCTION_H
