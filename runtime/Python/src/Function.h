//===- Function.h - A function of arrays, a kernel for each kind -*- C++ -*-===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// quern.softmax and its like: the types, dims, strides and parameters of a call are looked up, and a function in Python
// makes a plan for a new combination. A repeated call runs no Python code except the allocation of its results. For
// sizes of 0 that need no kernel of their own, a function in Python takes the place of the plan.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PYTHON_FUNCTION_H
#define QUERN_PYTHON_FUNCTION_H

#include "Array.h"
#include "Kernel.h"

#include <list>
#include <tuple>
#include <unordered_map>

namespace quern::python {

/// A kernel, and which arrays are which of its arguments.
class Plan {
public:
  struct Result {
    int index; ///< of the kernel's argument
    quern_data_type_t type;
    nanobind::tuple shape;
    nanobind::object dtype;                  ///< NumPy's
    mutable nanobind::object torchType = {}; ///< PyTorch's, once it was asked for
  };

  /// The kernel's argument, type and shape of a result.
  using Made = std::tuple<int, std::string, nanobind::tuple>;

  /// `inputs` has an argument for each array of a call, `made` what each of its results is; -1: the kernel does
  /// not take it, and the result is None.
  Plan(std::shared_ptr<Kernel> compiled, const std::vector<int> &inputs, const std::vector<Made> &made);

  /// Of all inputs, then all results: those that the kernel takes.
  std::vector<size_t> positions;
  std::vector<Result> results;
  std::shared_ptr<Kernel> kernel;
  Frames frames;
};

class Function {
public:
  /// `build(tensors, outs, *parameters)` returns a Plan, or a function in Python that is called with the arguments of
  /// call() and returns its result. `tensors` has `inputs` Tensors or None, `outs` has `outputs` of them.
  Function(size_t inputs, size_t outputs, nanobind::object build, size_t capacity);

  /// `inputs` arrays or None, `outputs` arrays or None (a result is made), then parameters, which are hashable.
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
  /// How a call is computed: one of the two is valid.
  struct Way {
    std::shared_ptr<Plan> plan;
    nanobind::object function; ///< in Python
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
