//===- CompiledKernel.h - Problems and their kernels ------------*- C++ -*-===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Wraps primitive descriptors and primitives of the CPU.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PYTHON_COMPILEDKERNEL_H
#define QUERN_PYTHON_COMPILEDKERNEL_H

#include "Frame.h"
#include "Tensor.h"

#include <mutex>
#include <optional>
#include <vector>

namespace quern::python {

using OwnedMemoryDesc = Owned<quern_memory_desc_t, quern_memory_desc_destroy>;
using OwnedMemory = Owned<quern_memory_t, quern_memory_destroy>;

/// Return the CPU engine of the process, and its stream on the default threads.
quern_engine_t cpuEngine();
quern_stream_t cpuStream();

OwnedMemoryDesc memoryDescOf(const Tensor &tensor);

/// Returns the plain tensor of a descriptor; nullopt if it has blocks, padding, an offset or compensation.
std::optional<Tensor> plainTensor(const_quern_memory_desc_t desc);
/// Returns a tensor with only the type and dims of a descriptor.
Tensor shapeOf(const_quern_memory_desc_t desc);

/// A verified problem.
class Descriptor {
public:
  static Descriptor fromText(const std::string &line);
  static Descriptor fromMlir(const nanobind::bytes &module, const std::optional<std::string> &function, bool naive);
  /// Takes ownership of a handle of the C interface.
  static Descriptor adopt(quern_primitive_desc_t handle) { return Descriptor(handle); }
  /// Creates a reorder between two layouts of equal dims.
  static Descriptor reorder(const_quern_memory_desc_t src, const_quern_memory_desc_t dst);

  std::string text() const;
  const_quern_primitive_desc_t get() const { return handle.get(); }
  /// Returns the descriptor of the tensor with this argument index; null if the problem does not have it.
  const_quern_memory_desc_t tensor(int arg) const;

private:
  explicit Descriptor(quern_primitive_desc_t handle) : handle(handle) {}
  Owned<quern_primitive_desc_t, quern_primitive_desc_destroy> handle;
};

/// A compiled problem. Any number of threads may run it.
class CompiledKernel {
public:
  /// Fetches or compiles the kernel, without the interpreter's lock.
  explicit CompiledKernel(const Descriptor &descriptor);

  struct Argument {
    int index;
    bool isOutput;
  };
  /// Requires the specialized kernel, which may have to be compiled: the kernel of a family is not sufficient.
  std::vector<Argument> arguments() const;
  const Descriptor &descriptor() const { return problem; }
  quern_primitive_t get() const { return handle.get(); }
  nanobind::dict info() const;

private:
  Descriptor problem;
  Owned<quern_primitive_t, quern_primitive_destroy> handle;
};

/// One execution with the descriptors of the arrays, or the kernel's descriptors for buffers of bytes.
class Execution {
public:
  explicit Execution(const CompiledKernel &kernel) : kernel(kernel) {}
  void bind(int index, const Tensor &tensor, void *data);
  /// Binds a buffer of `bytes` bytes in the kernel's layout.
  void bindBytes(int index, void *data, size_t bytes);
  /// Releases the interpreter's lock.
  void run(quern_stream_t stream);

private:
  void add(int index, const_quern_memory_desc_t desc, void *data);
  const CompiledKernel &kernel;
  std::vector<OwnedMemory> memories;
  std::vector<quern_exec_arg_t> arguments;
};

/// A pool of memory objects, which executions reuse with other buffers.
class Frames {
public:
  /// All arguments have the kernel's own descriptors.
  Frames(const CompiledKernel &kernel, std::vector<int> indices);

  /// Executes the kernel on `data`, which has a buffer for each index. Releases the interpreter's lock.
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

#endif // QUERN_PYTHON_COMPILEDKERNEL_H
