//===- Loader.h - Maps ELF objects without LLVM ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The hit path: a relocatable object becomes executable pages. Strict, since the bytes may be hostile: every
// offset, size, index and range is checked, nothing outside the object can be referred to, and code and constants end
// up in separate pages (read-execute and read-only; never writable and executable at once). In a process whose pages
// must not become executable at all, they are mapped from a file in memory.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CPU_LOADER_H
#define QUERN_RUNTIME_CPU_LOADER_H

#include "Support/ElfMachine.h"
#include "Support/Error.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quern {

/// Code that was mapped; unmapped on destruction. Movable.
class LoadedObject {
public:
  /// The largest image that is mapped.
  static constexpr uint64_t maxImageBytes = 64ull << 20;

  /// Needs a global function symbol for each of `entries`. `runtime_error`: not such an object, with the reason.
  /// `out_of_memory`, `unimplemented`: the system has, or allows, no executable pages. Of another machine, EM_X86_64 or
  /// EM_AARCH64, the object is mapped all the same, which is how its reading is tested.
  static Result<LoadedObject> load(std::string_view object, std::span<const std::string> entries,
                                   uint16_t machine = hostElfMachine);

  LoadedObject(LoadedObject &&other) noexcept;
  LoadedObject &operator=(LoadedObject &&other) noexcept;
  ~LoadedObject();

  /// In the order of `entries`.
  const std::vector<void *> &addresses() const { return entryAddresses; }
  /// Of each section of the object where it was mapped; null: it was not.
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

#endif // QUERN_RUNTIME_CPU_LOADER_H
