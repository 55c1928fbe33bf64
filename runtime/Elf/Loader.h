//===- Loader.h - Mapping ELF objects without LLVM ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Turns a relocatable object from a cache into executable pages. The bytes are not trusted: every offset, size, index
// and range is checked, and nothing outside the object can be referenced. Code and constants are on separate pages
// (read-execute and read-only), which are never writable and executable at the same time. If a policy forbids pages
// that become executable, they are mapped from a file in memory.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_ELF_LOADER_H
#define QUERN_RUNTIME_ELF_LOADER_H

#include "Support/ElfMachine.h"
#include "Support/Error.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quern {

/// Mapped code, which is unmapped on destruction. Movable.
class LoadedObject {
public:
  /// Maximum size of an image in bytes.
  static constexpr uint64_t maxImageBytes = 64ull << 20;

  /// Maps an object that must define a global function symbol for each of `entries`. Fails with `runtime_error` and a
  /// reason if the object is invalid, with `out_of_memory` if the system has no memory, and with `unimplemented` if it
  /// does not allow executable pages. An object of another `machine`, EM_X86_64 or EM_AARCH64, is also mapped, so that
  /// tests can cover all machines.
  static Result<LoadedObject> load(std::string_view object, std::span<const std::string> entries,
                                   uint16_t machine = hostElfMachine);

  LoadedObject(LoadedObject &&other) noexcept;
  LoadedObject &operator=(LoadedObject &&other) noexcept;
  ~LoadedObject();

  /// The addresses of `entries`, in their order.
  const std::vector<void *> &addresses() const { return entryAddresses; }
  /// The address of each section of the object; null if it is not mapped.
  const std::vector<const void *> &sections() const { return sectionAddresses; }
  size_t mappedBytes() const { return imageBytes; }

private:
  LoadedObject(void *image, size_t bytes) : image(image), imageBytes(bytes) {}
  void *image;
  size_t imageBytes;
  std::vector<void *> entryAddresses;
  std::vector<const void *> sectionAddresses;
};

} // namespace quern

#endif // QUERN_RUNTIME_ELF_LOADER_H
