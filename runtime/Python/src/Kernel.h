//===- Kernel.h - Problems and their kernels --------------------*- C++ -*-===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Primitive descriptors and primitives of the CPU as objects.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PYTHON_KERNEL_H
#define QUERN_PYTHON_KERNEL_H

#include "Frame.h"
#include "Tensor.h"

#include <mutex>
#include <optional>
#include <vector>

namespace quern::python {

using OwnedMemoryDesc = Owned<quern_memory_desc_t, quern_memory_desc_destroy>;
using OwnedMemory = Owned<quern_memory_t, quern_memory_destroy>;

/// The one CPU engine of the process, and its stream on the default threads.
quern_engine_t cpuEngine();
quern_stream_t cpuStream();

OwnedMemoryDesc memoryDescOf(const Tensor &tensor);

/// The plain tensor of a descriptor, as an array has it: nothing for blocks, padding, offsets, compensation.
std::optional<Tensor> plainTensor(const_quern_memory_desc_t desc);
/// Type and dims alone.
Tensor shapeOf(const_quern_memory_desc_t desc);

/// A verified problem.
class Descriptor {
public:
  static Descriptor fromText(const std::string &line);
  static Descriptor fromMlir(const nanobind::bytes &module, const std::optional<std::string> &function, bool naive);
  /// Takes what the C interface made.
  static Descriptor adopt(quern_primitive_desc_t handle) { return Descriptor(handle); }
  /// From a layout to another one, of equal dims.
  static Descriptor reorder(const_quern_memory_desc_t src, const_quern_memory_desc_t dst);

  std::string text() const;
  const_quern_primitive_desc_t get() const { return handle.get(); }
  /// Null: there is no such tensor.
  const_quern_memory_desc_t tensor(int arg) const;

private:
  explicit Descriptor(quern_primitive_desc_t handle) : handle(handle) {}
  Owned<quern_primitive_desc_t, quern_primitive_desc_destroy> handle;
};

/// A compiled problem. Any number of threads may run it.
class Kernel {
public:
  /// From a cache, or compiled, with the interpreter released.
  explicit Kernel(const Descriptor &descriptor);

  struct Argument {
    int index;
    bool isOutput;
  };
  /// Asks for the problem's own kernel: a family's is not enough, and it may have to be compiled.
  std::vector<Argument> arguments() const;
  const Descriptor &descriptor() const { return problem; }
  quern_primitive_t get() const { return handle.get(); }
  nanobind::dict info() const;

private:
  Descriptor problem;
  Owned<quern_primitive_t, quern_primitive_destroy> handle;
};

/// One execution with descriptors of its own: those of arrays, or the kernel's where a buffer of bytes is given.
class Execution {
public:
  explicit Execution(const Kernel &kernel) : kernel(kernel) {}
  void bind(int index, const Tensor &tensor, void *data);
  /// A buffer of `bytes`, in the layout that the kernel has.
  void bindBytes(int index, void *data, size_t bytes);
  /// Releases the interpreter.
  void run(quern_stream_t stream);

private:
  void add(int index, const_quern_memory_desc_t desc, void *data);
  const Kernel &kernel;
  std::vector<OwnedMemory> memories;
  std::vector<quern_exec_arg_t> arguments;
};

/// Memory objects for one execution, which the next one takes over with other buffers.
class Frames {
public:
  /// Each argument has the kernel's own descriptor.
  Frames(const Kernel &kernel, std::vector<int> indices);

  /// `data` has a buffer for each index. Releases the interpreter.
  void execute(void *const *data, quern_stream_t stream);

private:
  Frame take();
  void give(Frame frame);

  quern_primitive_t primitive;
  const Descriptor &problem;
  std::vector<int> indices;
  std::mutex mutex;
  std::vector<Frame> idle;
};

void bindProblems(nanobind::module_ &module);

} // namespace quern::python

#endif // QUERN_PYTHON_KERNEL_H
