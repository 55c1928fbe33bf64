//===- ElfObject.cpp - Sections and symbols of a relocatable object -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Elf/ElfObject.h"

#include "Elf/Relocations.h"

namespace quern {

std::optional<std::string_view> ElfObject::stringAt(std::string_view table, uint64_t offset) {
  if (offset >= table.size())
    return std::nullopt;
  size_t end = table.find('\0', offset);
  if (end == std::string_view::npos)
    return std::nullopt;
  return table.substr(offset, end - offset);
}

Result<void> ElfObject::readSections() {
  std::optional<Elf64_Ehdr> header = at<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
    return runtimeError("the object is not an ELF file");
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
      header->e_machine != machine || header->e_type != ET_REL)
    return runtimeError("the object is not a relocatable ", relocationsOf(machine)->machine, " ELF file");
  if (header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shnum == 0)
    return runtimeError("the object's section table is malformed: ", header->e_shnum, " entries of ",
                        header->e_shentsize, " bytes");
  headersPlace = header->e_shoff;
  for (uint64_t i = 0; i < header->e_shnum; ++i) {
    std::optional<Elf64_Shdr> section;
    if (header->e_shoff <= file.size()) // otherwise the sum could wrap around
      section = at<Elf64_Shdr>(header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!section)
      return runtimeError("section header ", i, " lies outside the object of ", file.size(), " bytes");
    if (section->sh_type != SHT_NOBITS && section->sh_type != SHT_NULL &&
        (section->sh_offset > file.size() || section->sh_size > file.size() - section->sh_offset))
      return runtimeError("section ", i, " lies outside the object of ", file.size(), " bytes");
    sectionList.push_back({*section, {}});
  }
  if (header->e_shstrndx >= sectionList.size() || sectionList[header->e_shstrndx].header.sh_type != SHT_STRTAB)
    return runtimeError("the object has no section names");
  for (Section &section : sectionList) {
    std::optional<std::string_view> name = stringAt(contents(sectionList[header->e_shstrndx]), section.header.sh_name);
    if (!name)
      return runtimeError("a section name lies outside its table");
    section.name = *name;
  }
  return {};
}

Result<void> ElfObject::readSymbols() {
  for (const Section &section : sectionList) {
    const Elf64_Shdr &header = section.header;
    if (header.sh_type != SHT_SYMTAB)
      continue;
    if (!symbolList.empty() || header.sh_entsize != sizeof(Elf64_Sym) || header.sh_size % sizeof(Elf64_Sym) ||
        header.sh_link >= sectionList.size() || sectionList[header.sh_link].header.sh_type != SHT_STRTAB)
      return runtimeError("the object's symbol table is malformed");
    symbolList.resize(header.sh_size / sizeof(Elf64_Sym));
    if (!symbolList.empty())
      std::memcpy(symbolList.data(), file.data() + header.sh_offset, header.sh_size);
    symbolNames = contents(sectionList[header.sh_link]);
  }
  return symbolList.empty() ? Result<void>(runtimeError("the object has no symbols")) : Result<void>();
}

std::string_view ElfObject::contentsOf(std::string_view name) const {
  for (const Section &section : sectionList)
    if (section.name == name && section.header.sh_type != SHT_NOBITS && section.header.sh_type != SHT_NULL)
      return contents(section);
  return {};
}

} // namespace quern
