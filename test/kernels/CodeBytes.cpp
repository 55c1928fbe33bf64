//===- CodeBytes.cpp - Bytes of an artifact that determine its behavior ---===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each relocation is written with its target, a section and an offset, so that the names of symbols do not matter.
//
//===----------------------------------------------------------------------===//
#include "CodeBytes.h"

#include "Support/Bytes.h"

#include <algorithm>
#include <cstring>
#include <elf.h>

namespace quern {
namespace {

/// An object file. Contents and names outside of it read as empty, and isWhole() is then false.
class ObjectFile {
public:
  explicit ObjectFile(std::string_view bytes);
  std::vector<Elf64_Shdr> sections;
  std::vector<Elf64_Sym> symbols;

  std::string_view nameOf(const Elf64_Shdr &section) { return textAt(nameTable, section.sh_name); }
  std::string_view nameOf(const Elf64_Sym &symbol) { return textAt(symbolNames, symbol.st_name); }
  std::string_view contents(const Elf64_Shdr &section);
  template <typename T> std::vector<T> tableIn(const Elf64_Shdr &section);
  bool isWhole() const { return whole; }

private:
  std::string_view range(uint64_t offset, uint64_t size);
  std::string_view textAt(std::string_view table, uint64_t offset);

  std::string_view bytes, nameTable, symbolNames;
  bool whole = true;
};

std::string_view ObjectFile::range(uint64_t offset, uint64_t size) {
  const bool isInside = offset <= bytes.size() && size <= bytes.size() - offset;
  whole &= isInside;
  return isInside ? bytes.substr(offset, size) : std::string_view();
}

std::string_view ObjectFile::textAt(std::string_view table, uint64_t offset) {
  whole &= offset < table.size();
  return offset < table.size() ? table.substr(offset, table.find('\0', offset) - offset) : std::string_view();
}

std::string_view ObjectFile::contents(const Elf64_Shdr &section) {
  return section.sh_type == SHT_NOBITS ? std::string_view() : range(section.sh_offset, section.sh_size);
}

template <typename T> std::vector<T> ObjectFile::tableIn(const Elf64_Shdr &section) {
  const std::string_view from = contents(section);
  std::vector<T> table(from.size() / sizeof(T));
  if (!table.empty())
    std::memcpy(static_cast<void *>(table.data()), from.data(), table.size() * sizeof(T));
  return table;
}

ObjectFile::ObjectFile(std::string_view bytes) : bytes(bytes) {
  Elf64_Shdr file{};
  file.sh_size = sizeof(Elf64_Ehdr);
  const std::vector<Elf64_Ehdr> header = tableIn<Elf64_Ehdr>(file);
  if (header.empty())
    return;
  Elf64_Shdr table{};
  table.sh_offset = header[0].e_shoff;
  table.sh_size = header[0].e_shnum * sizeof(Elf64_Shdr);
  sections = tableIn<Elf64_Shdr>(table);
  whole &= header[0].e_shstrndx < sections.size();
  if (whole)
    nameTable = contents(sections[header[0].e_shstrndx]);
  for (const Elf64_Shdr &section : sections)
    if (section.sh_type == SHT_SYMTAB && section.sh_link < sections.size()) {
      symbols = tableIn<Elf64_Sym>(section);
      symbolNames = contents(sections[section.sh_link]);
    }
}

/// Writes a section by its name, or a special index as a number.
void writeSection(ObjectFile &object, uint32_t index, ByteWriter &out) {
  if (index < object.sections.size())
    out.putString(object.nameOf(object.sections[index]));
  else
    out.put(index);
}

Result<std::string> objectBytes(const Artifact &artifact) {
  ObjectFile object(artifact.code);
  ByteWriter out;
  for (const Elf64_Shdr &section : object.sections) {
    if (section.sh_flags & SHF_ALLOC) {
      out.putString(object.nameOf(section));
      out.put(section.sh_flags);
      out.put(section.sh_addralign);
      out.put(section.sh_size);
      out.bytes.append(object.contents(section));
    }
    if (section.sh_type != SHT_RELA)
      continue;
    writeSection(object, section.sh_info, out);
    for (const Elf64_Rela &relocation : object.tableIn<Elf64_Rela>(section)) {
      const uint64_t index = ELF64_R_SYM(relocation.r_info);
      if (index >= object.symbols.size())
        return internalError("an object refers to symbol ", index, " of ", object.symbols.size());
      out.put(relocation.r_offset);
      out.put<uint64_t>(ELF64_R_TYPE(relocation.r_info));
      out.put(relocation.r_addend);
      out.put(object.symbols[index].st_value);
      writeSection(object, object.symbols[index].st_shndx, out);
    }
  }
  for (const std::string &entry : artifact.entries) {
    auto found = std::find_if(object.symbols.begin(), object.symbols.end(),
                              [&](const Elf64_Sym &symbol) { return object.nameOf(symbol) == entry; });
    if (found == object.symbols.end())
      return internalError("an object has no symbol ", entry);
    out.put(found->st_value);
    writeSection(object, found->st_shndx, out);
  }
  return object.isWhole() ? Result<std::string>(out.take())
                          : internalError("an object file of ", artifact.code.size(), " bytes ends early");
}

} // namespace

Result<std::string> codeBytesOf(const Artifact &artifact) {
  return artifact.codeKind == CodeKind::ElfObject ? objectBytes(artifact) : Result<std::string>(artifact.code);
}

} // namespace quern
