//===- Kernel.h - An owned primitive of the public API --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The tools use the public C API. This file gives its handles owners and converts its statuses to Error. Not
// thread-safe.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TOOLS_KERNEL_H
#define QUERN_TOOLS_KERNEL_H

#include "Desc/Target.h"
#include "Desc/Tensor/TensorDesc.h"
#include "Support/Error.h"
#include "quern/quern.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace quern {

/// Destroys a handle of the C API; for Owned.
template <typename Handle, quern_status_t (*destroy)(Handle)> struct HandleDeleter {
  using pointer = Handle;
  void operator()(Handle handle) const { (void)destroy(handle); }
};
template <typename Handle, quern_status_t (*destroy)(Handle)>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, HandleDeleter<Handle, destroy>>;

/// Returns success, or the status with the last error message of this thread.
Result<void> checked(quern_status_t status);

/// An engine with an in-order stream.
class Device {
public:
  static Result<Device> open(quern_engine_kind_t kind, size_t index = 0);
  quern_engine_t engine() const { return ownedEngine.get(); }
  quern_stream_t stream() const { return ownedStream.get(); }
  /// Returns the target for which kernels of this device are compiled.
  const Target &target() const { return compiledFor; }
  bool isCpu() const { return compiledFor.isCpu(); }
  /// Returns the name from quern_engine_get_info().
  const std::string &name() const { return deviceName; }

private:
  Target compiledFor;
  std::string deviceName;
  Owned<quern_engine_t, quern_engine_destroy> ownedEngine;
  Owned<quern_stream_t, quern_stream_destroy> ownedStream;
};

/// A caller-owned buffer with its layout at execution: all sizes are known. `desc` is used only by bind().
struct BoundBuffer {
  const TensorDesc *desc;
  void *data;
};

/// A compiled problem on a device. The device must outlive it.
class Kernel {
public:
  static Result<Kernel> create(const Device &device, const std::string &line);
  /// Like create(), but from an artifact that was compiled for a target that the device can run.
  static Result<Kernel> createFrom(const Device &device, const std::string &line, const std::string &artifact);
  /// Returns the addresses of its functions in this process, in the order of their first call.
  Result<std::vector<const char *>> entries() const;
  /// Binds buffers by execution argument until the next bind(). For a device other than the CPU, memory is allocated on
  /// it, where arguments share bytes in the same way as the host's buffers.
  Result<void> bind(const std::map<int32_t, BoundBuffer> &buffers);
  /// Returns the size of the caller's scratchpad in bytes; 0 unless the scratchpad mode is user.
  Result<int64_t> scratchpadBytes() const;
  /// Executes and waits. Separate memory of a device is filled before and read back after the execution.
  Result<void> execute() const;
  /// Waits until the specialized kernel is used; returns at once if QUERN_TIERS selects only the family's kernel.
  Result<void> waitSpecialized() const;
  /// Like execute(), but does not copy memory: for timing.
  Result<void> run() const;
  /// Returns true if an argument is the caller's buffer itself. An argument on the host and one that is not never share
  /// bytes, wherever their buffers are.
  Result<bool> isOnHost(int32_t argument) const;
  const quern_primitive_info_t &info() const { return details; }

private:
  static Result<Kernel> make(const Device &device, const std::string &line, const std::string *artifact);
  /// A range of host memory and its copy on the device.
  struct Copy {
    quern_memory_t memory;
    char *data;
    size_t bytes;
    char *end() const { return data + bytes; }
  };
  quern_engine_t engineOf(int32_t argument) const;
  Result<void> placeOnDevice(const std::map<int32_t, BoundBuffer> &buffers);
  Result<void *> onDevice(const void *data) const;
  Result<quern_memory_t> makeMemory(int32_t argument, const BoundBuffer &buffer, const_quern_memory_desc_t desc);
  Result<void> copy(bool toDevice) const;

  const Device *device = nullptr;
  Owned<quern_primitive_desc_t, quern_primitive_desc_destroy> desc;
  Owned<quern_primitive_t, quern_primitive_destroy> primitive;
  std::vector<Owned<quern_memory_t, quern_memory_destroy>> memories;
  std::vector<quern_exec_arg_t> arguments;
  std::vector<Copy> copies;
  quern_primitive_info_t details{};
};

/// Returns a word such as "compiled", "disk" or "memory".
const char *nameOf(quern_origin_t origin);

/// Returns the code from quern_compile().
Result<std::string> compileTo(const std::string &line, const std::string &target, quern_code_form_t form);
/// Returns the text from quern_explain().
Result<std::string> explain(const std::string &line, const std::string &target);

} // namespace quern

#endif // QUERN_TOOLS_KERNEL_H
