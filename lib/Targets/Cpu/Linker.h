//===- Linker.h - Objects to callable code, by ORC ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Links an object that was just compiled into this process with LLJIT and its object-linking layer. Process symbols
// are not visible: objects are self-contained.
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

/// Code that stays mapped for as long as this object lives.
class LinkedObject {
public:
  virtual ~LinkedObject() = default;
  /// One address for each symbol that was asked for.
  std::vector<void *> entries;
};

/// Links `object`, which must come from CpuCodegen or a validated artifact for this machine. `unimplemented`: the
/// system does not allow that pages become executable; `out_of_memory`: it has none. Thread-safe.
Result<std::unique_ptr<LinkedObject>> linkObject(std::string_view object, const std::vector<std::string> &symbols);

} // namespace quern

#endif // QUERN_TARGETS_CPU_LINKER_H
