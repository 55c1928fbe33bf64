//===- ElfObject.h - Sections and symbols of a relocatable object ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Reads and checks the sections and symbols of an object for a given machine. The bytes are not trusted. Structures are
// copied out of the file, so that its alignment does not matter.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_ELF_ELFOBJECT_H
#define QUERN_RUNTIME_ELF_ELFOBJECT_H

#include "Support/ElfMachine.h"
#include "Support/Error.h"

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <optional>
#include <string_view>
#include <vector>

namespace quern {

/// Refers to the bytes of the constructor, which it does not own.
class ElfObject {
public:
  struct Section {
    Elf64_Shdr header; ///< its contents are within the file
    std::string_view name;
  };

  explicit ElfObject(std::string_view file, uint16_t machine = hostElfMachine) : file(file), machine(machine) {}
  /// Fail with `runtime_error` and a reason if the object is malformed or for another machine. readSections() must be
  /// called first.
  Result<void> readSections();
  Result<void> readSymbols();

  const std::vector<Section> &sections() const { return sectionList; }
  const std::vector<Elf64_Sym> &symbols() const { return symbolList; }
  /// Returns the contents of a section that is not SHT_NOBITS.
  std::string_view contents(const Section &section) const {
    return file.substr(section.header.sh_offset, section.header.sh_size);
  }
  /// Returns the symbol's name; nullopt if it exceeds the string table.
  std::optional<std::string_view> nameOf(const Elf64_Sym &symbol) const {
    return stringAt(symbolNames, symbol.st_name);
  }
  /// Returns the contents of the first section with this name; empty if there is none.
  std::string_view contentsOf(std::string_view name) const;
  /// Returns the offset of a section's header in the file.
  uint64_t headerPlace(size_t section) const { return headersPlace + section * sizeof(Elf64_Shdr); }

  /// Returns the T at `offset` of the file; nullopt if it exceeds the file.
  template <typename T> std::optional<T> at(uint64_t offset) const {
    if (offset > file.size() || file.size() - offset < sizeof(T))
      return std::nullopt;
    T value;
    std::memcpy(&value, file.data() + offset, sizeof(T));
    return value;
  }

private:
  /// Returns the null-terminated string at `offset` of `table`; nullopt if it exceeds the table.
  static std::optional<std::string_view> stringAt(std::string_view table, uint64_t offset);

  std::string_view file, symbolNames;
  uint16_t machine;
  uint64_t headersPlace = 0;
  std::vector<Section> sectionList;
  std::vector<Elf64_Sym> symbolList;
};

} // namespace quern

#endif // QUERN_RUNTIME_ELF_ELFOBJECT_H
