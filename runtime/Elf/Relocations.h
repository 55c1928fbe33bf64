//===- Relocations.h - Applying the relocations of an object --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Implements the relocations that kernels contain, for each machine that they are compiled for. All machines are
// available on every host, so that tests and fuzzers cover them.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_ELF_RELOCATIONS_H
#define QUERN_RUNTIME_ELF_RELOCATIONS_H

#include <cstdint>
#include <string_view>

namespace quern {

/// The relocations of one machine.
struct Relocations {
  std::string_view machine; ///< name in messages
  /// Returns the bytes of the field that a relocation of this type fills: 4 or 8; 0 if it has no effect; 4 for an
  /// unknown type.
  uint64_t (*width)(uint64_t type);
  /// Fills the field at `place`, its final address, with `value` = symbol + addend. Returns false for an unknown type
  /// or a value out of range.
  bool (*apply)(char *place, uint64_t type, uint64_t value);
};

/// Returns the relocations for a value of e_machine; null if it is unknown.
const Relocations *relocationsOf(uint16_t machine);

} // namespace quern

#endif // QUERN_RUNTIME_ELF_RELOCATIONS_H
