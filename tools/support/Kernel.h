//===- Kernel.h - A primitive of the public API, owned --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The tools are users of the public C API; this gives its handles owners and its statuses the form
// of Error. Not thread-safe.
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

/// Owns any handle of the C API.
template <typename Handle, quern_status_t (*destroy)(Handle)> struct HandleDeleter {
  using pointer = Handle;
  void operator()(Handle handle) const { (void)destroy(handle); }
};
template <typename Handle, quern_status_t (*destroy)(Handle)>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, HandleDeleter<Handle, destroy>>;

/// The status with the last message of this thread, or success.
Result<void> checked(quern_status_t status);

/// An engine with a stream in order.
class Device {
public:
  static Result<Device> open(quern_engine_kind_t kind, size_t index = 0);
  quern_engine_t engine() const { return ownedEngine.get(); }
  quern_stream_t stream() const { return ownedStream.get(); }
  /// What its kernels are compiled for.
  const Target &target() const { return compiledFor; }
  bool isCpu() const { return compiledFor.isCpu(); }
  /// As quern_engine_get_info() gives it.
  const std::string &name() const { return ownName; }

private:
  Target compiledFor;
  std::string ownName;
  Owned<quern_engine_t, quern_engine_destroy> ownedEngine;
  Owned<quern_stream_t, quern_stream_destroy> ownedStream;
};

/// A buffer of the caller's with the layout that it has at execution: all sizes known. `desc` is
/// needed only while binding.
struct BoundBuffer {
  const TensorDesc *desc;
  void *data;
};

/// A compiled problem on a device, which must outlive it.
class Kernel {
public:
  static Result<Kernel> create(const Device &device, const std::string &line);
  /// The same from what was compiled for a target that the device has, too.
  static Result<Kernel> createFrom(const Device &device, const std::string &line, const std::string &artifact);
  /// Where its functions begin in this process, in the order in which they are first called.
  Result<std::vector<const char *>> entries() const;
  /// Buffers by execution argument. They stay bound until the next bind(). A device other than the CPU gets memory of
  /// its own for them, in which they share bytes as they do here.
  Result<void> bind(const std::map<int32_t, BoundBuffer> &buffers);
  /// What the caller has to give beside the tensors; 0 but in user mode.
  Result<int64_t> scratchpadBytes() const;
  /// Executes and waits; what other memory a device has is filled before and read back after.
  Result<void> execute() const;
  /// Until it is the problem's own kernel that runs; where QUERN_TIERS keeps that of the family, at once.
  Result<void> waitSpecialised() const;
  /// The same without moving anything: for timing.
  Result<void> run() const;
  /// Whether an argument is the caller's buffer itself. One that is not shares no bytes with one that is,
  /// wherever their buffers lie.
  Result<bool> isOnHost(int32_t argument) const;
  const quern_primitive_info_t &info() const { return details; }

private:
  static Result<Kernel> make(const Device &device, const std::string &line, const std::string *artifact);
  /// What the device has instead of a buffer of the host.
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

/// "compiled", "disk", "memory", ...
const char *nameOf(quern_origin_t origin);

/// What quern_compile() gives.
Result<std::string> compileTo(const std::string &line, const std::string &target, quern_code_form_t form);
/// What quern_explain() gives.
Result<std::string> explain(const std::string &line, const std::string &target);

} // namespace quern

#endif // QUERN_TOOLS_KERNEL_H
