//===- ElfObject.h - What a relocatable object has ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Sections and symbols of an object for a machine, checked: the bytes may be hostile. Structures are copied out of the
// file, so that its alignment does not matter.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CPU_ELFOBJECT_H
#define QUERN_RUNTIME_CPU_ELFOBJECT_H

#include "Support/ElfMachine.h"
#include "Support/Error.h"

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <optional>
#include <string_view>
#include <vector>

namespace quern {

/// Views of the bytes that it was made of.
class ElfObject {
public:
  struct Section {
    Elf64_Shdr header; ///< its contents lie within the file
    std::string_view name;
  };

  explicit ElfObject(std::string_view file, uint16_t machine = hostElfMachine) : file(file), machine(machine) {}
  /// `runtime_error`: it is no such object, with the reason. Symbols are read behind sections.
  Result<void> readSections();
  Result<void> readSymbols();

  const std::vector<Section> &sections() const { return sectionList; }
  const std::vector<Elf64_Sym> &symbols() const { return symbolList; }
  /// Of a section that is not SHT_NOBITS.
  std::string_view contents(const Section &section) const {
    return file.substr(section.header.sh_offset, section.header.sh_size);
  }
  /// Nothing if it runs out of its table.
  std::optional<std::string_view> nameOf(const Elf64_Sym &symbol) const {
    return stringAt(symbolNames, symbol.st_name);
  }
  /// Of the first section of that name; empty if there is none.
  std::string_view contentsOf(std::string_view name) const;
  /// Where the header of a section is in the file.
  uint64_t headerPlace(size_t section) const { return headersPlace + section * sizeof(Elf64_Shdr); }

  /// A T at `offset` of the file; nothing if it does not fit.
  template <typename T> std::optional<T> at(uint64_t offset) const {
    if (offset > file.size() || file.size() - offset < sizeof(T))
      return std::nullopt;
    T value;
    std::memcpy(&value, file.data() + offset, sizeof(T));
    return value;
  }

private:
  /// The terminated string at `offset` of `table`; nothing if it runs out of it.
  static std::optional<std::string_view> stringAt(std::string_view table, uint64_t offset);

  std::string_view file, symbolNames;
  uint16_t machine;
  uint64_t headersPlace = 0;
  std::vector<Section> sectionList;
  std::vector<Elf64_Sym> symbolList;
};

} // namespace quern

#endif // QUERN_RUNTIME_CPU_ELFOBJECT_H
