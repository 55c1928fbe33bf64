//===- Linker.h - Linking of objects with ORC -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Links an object into this process with LLJIT and its object-linking layer. Process symbols are not visible, because
// objects are self-contained.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_CPU_LINKER_H
#define QUERN_TARGETS_CPU_LINKER_H

#include "Support/Error.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace quern {

/// Code that stays mapped during the lifetime of this object.
class LinkedObject {
public:
  virtual ~LinkedObject() = default;
  /// Addresses of the requested symbols.
  std::vector<void *> entries;
};

/// Links `object`, which must come from CpuCodegen or a validated artifact for this machine. Fails with
/// `unimplemented` if the system does not allow executable pages, and with `out_of_memory` if it has no memory.
/// Thread-safe.
Result<std::unique_ptr<LinkedObject>> linkObject(std::string_view object, const std::vector<std::string> &symbols);

} // namespace quern

#endif // QUERN_TARGETS_CPU_LINKER_H
