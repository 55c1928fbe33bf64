//===- Relocations.h - What the fields of an object are filled with -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The relocations that kernels have, of each machine that they are compiled for. All are known on every machine, so
// that they are tested and fuzzed there.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CPU_RELOCATIONS_H
#define QUERN_RUNTIME_CPU_RELOCATIONS_H

#include <cstdint>
#include <string_view>

namespace quern {

/// One machine's.
struct Relocations {
  std::string_view machine; ///< as messages call it
  /// Bytes of the field that a relocation of this type fills: 4 or 8; 0 where there is nothing to do. Of a type that is
  /// not known, 4.
  uint64_t (*width)(uint64_t type);
  /// Fills the field at `place`, which will run there, with `value` = symbol + addend; false for an unknown type or a
  /// value out of its range.
  bool (*apply)(char *place, uint64_t type, uint64_t value);
};

/// Of a machine as e_machine has it; null for one that is not known.
const Relocations *relocationsOf(uint16_t machine);

} // namespace quern

#endif // QUERN_RUNTIME_CPU_RELOCATIONS_H
