//===- Loader.cpp - Maps ELF objects without LLVM -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Three steps: read and check the section table, lay the sections out (code first, constants on later pages) and copy
// them, then apply the relocations and set the protection. Structures are copied out of the file, so that its alignment
// does not matter. The image is limited to 64 MiB, which is why 32-bit displacements within it cannot overflow; they
// are checked all the same, since addends are free.
//
//===----------------------------------------------------------------------===//
#include "Cpu/Loader.h"

#include "Cpu/Relocations.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <elf.h>
#include <optional>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace quern {
namespace {

constexpr uint64_t notLoaded = ~0ull;
constexpr uint64_t leadBytes = 64;

uint64_t alignUp(uint64_t value, uint64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

class ObjectLoader {
public:
  ObjectLoader(std::string_view object, uint16_t machine)
      : file(object), machine(machine), relocations(*relocationsOf(machine)) {}

  Result<void> readSections();
  Result<void> layOut();
  Result<void> readSymbols();
  void copyTo(char *image) const;
  Result<void> relocate(char *image) const;
  Result<void> protect(char *image) const;
  Result<void *> findEntry(char *image, const std::string &name) const;
  uint64_t size() const { return imageBytes; }

private:
  struct Section {
    Elf64_Shdr header;
    std::string_view name;
    uint64_t offset = notLoaded; ///< in the image
  };

  /// A T at `offset` of the file; nothing if it does not fit.
  template <typename T> std::optional<T> at(uint64_t offset) const {
    if (offset > file.size() || file.size() - offset < sizeof(T))
      return std::nullopt;
    T value;
    std::memcpy(&value, file.data() + offset, sizeof(T));
    return value;
  }
  /// The terminated string at `offset` of `table`; nothing if it runs out of it.
  static std::optional<std::string_view> stringAt(std::string_view table, uint64_t offset) {
    if (offset >= table.size())
      return std::nullopt;
    size_t end = table.find('\0', offset);
    if (end == std::string_view::npos)
      return std::nullopt;
    return table.substr(offset, end - offset);
  }
  std::string_view contents(const Section &section) const {
    return file.substr(section.header.sh_offset, section.header.sh_size);
  }
  Result<void> place(bool code);
  Result<uint64_t> addressOf(const Elf64_Sym &symbol, std::string_view name) const;
  Result<void> relocateSection(char *image, const Section &table) const;

  std::string_view file;
  uint16_t machine;
  const Relocations &relocations;
  std::vector<Section> sections;
  std::vector<Elf64_Sym> symbols;
  std::string_view symbolNames;
  // No function at the very start: tools read what lies before one.
  uint64_t codeBytes = 0, imageBytes = leadBytes;
};

Result<void> ObjectLoader::readSections() {
  std::optional<Elf64_Ehdr> header = at<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
    return runtimeError("the object is not an ELF file");
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
      header->e_machine != machine || header->e_type != ET_REL)
    return runtimeError("the object is not a relocatable ", relocations.machine, " ELF file");
  if (header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shnum == 0)
    return runtimeError("the object's section table is malformed: ", header->e_shnum, " entries of ",
                        header->e_shentsize, " bytes");
  for (uint64_t i = 0; i < header->e_shnum; ++i) {
    std::optional<Elf64_Shdr> section;
    if (header->e_shoff <= file.size()) // else the sum could wrap
      section = at<Elf64_Shdr>(header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!section)
      return runtimeError("section header ", i, " lies outside the object of ", file.size(), " bytes");
    if (section->sh_type != SHT_NOBITS && section->sh_type != SHT_NULL &&
        (section->sh_offset > file.size() || section->sh_size > file.size() - section->sh_offset))
      return runtimeError("section ", i, " lies outside the object of ", file.size(), " bytes");
    sections.push_back({*section, {}, notLoaded});
  }
  if (header->e_shstrndx >= sections.size() || sections[header->e_shstrndx].header.sh_type != SHT_STRTAB)
    return runtimeError("the object has no section names");
  for (Section &section : sections) {
    std::optional<std::string_view> name = stringAt(contents(sections[header->e_shstrndx]), section.header.sh_name);
    if (!name)
      return runtimeError("a section name lies outside its table");
    section.name = *name;
  }
  return {};
}

/// Gives every section of one kind its place behind what was placed before.
Result<void> ObjectLoader::place(bool code) {
  for (Section &section : sections) {
    const Elf64_Shdr &header = section.header;
    const bool isCode = header.sh_flags & SHF_EXECINSTR;
    const bool isSkipped =
        header.sh_type == SHT_NOTE || section.name == ".eh_frame" || section.name.starts_with(".note");
    if (!(header.sh_flags & SHF_ALLOC) || header.sh_size == 0 || isSkipped || isCode != code)
      continue;
    if (header.sh_type != SHT_PROGBITS)
      return runtimeError("section ", section.name, " has type ", header.sh_type,
                          "; only code and constants are loaded");
    // Nothing is writable at run time; .data.rel.ro is marked so only until its relocations are applied.
    if ((header.sh_flags & SHF_WRITE) && (isCode || !section.name.starts_with(".data.rel.ro")))
      return runtimeError("section ", section.name, " is writable");
    if (header.sh_flags & (SHF_TLS | SHF_COMPRESSED))
      return runtimeError("section ", section.name, " is thread-local or compressed");
    if (header.sh_addralign > 4096 || (header.sh_addralign & (header.sh_addralign - 1)))
      return runtimeError("section ", section.name, " asks for an alignment of ", header.sh_addralign,
                          "; the limit is 4096");
    section.offset = alignUp(imageBytes, std::max<uint64_t>(header.sh_addralign, 64));
    if (header.sh_size > LoadedObject::maxImageBytes || section.offset > LoadedObject::maxImageBytes - header.sh_size)
      return runtimeError("the object's image exceeds ", LoadedObject::maxImageBytes, " bytes");
    imageBytes = section.offset + header.sh_size;
  }
  return {};
}

Result<void> ObjectLoader::layOut() {
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  if (Result<void> placed = place(/*code=*/true); !placed)
    return placed;
  if (imageBytes == leadBytes)
    return runtimeError("the object has no code");
  codeBytes = imageBytes = alignUp(imageBytes, page);
  if (Result<void> placed = place(/*code=*/false); !placed)
    return placed;
  imageBytes = alignUp(imageBytes, page);
  return {};
}

Result<void> ObjectLoader::readSymbols() {
  for (const Section &section : sections) {
    const Elf64_Shdr &header = section.header;
    if (header.sh_type != SHT_SYMTAB)
      continue;
    if (!symbols.empty() || header.sh_entsize != sizeof(Elf64_Sym) || header.sh_size % sizeof(Elf64_Sym) ||
        header.sh_link >= sections.size() || sections[header.sh_link].header.sh_type != SHT_STRTAB)
      return runtimeError("the object's symbol table is malformed");
    symbols.resize(header.sh_size / sizeof(Elf64_Sym));
    if (!symbols.empty())
      std::memcpy(symbols.data(), file.data() + header.sh_offset, header.sh_size);
    symbolNames = contents(sections[header.sh_link]);
  }
  return symbols.empty() ? Result<void>(runtimeError("the object has no symbols")) : Result<void>();
}

void ObjectLoader::copyTo(char *image) const {
  for (const Section &section : sections)
    if (section.offset != notLoaded)
      std::memcpy(image + section.offset, file.data() + section.header.sh_offset, section.header.sh_size);
}

/// The symbol's offset in the image.
Result<uint64_t> ObjectLoader::addressOf(const Elf64_Sym &symbol, std::string_view name) const {
  if (symbol.st_shndx == SHN_UNDEF)
    return runtimeError("the object refers to \"", name, "\", which it does not define");
  if (symbol.st_shndx >= sections.size() || sections[symbol.st_shndx].offset == notLoaded)
    return runtimeError("symbol \"", name, "\" lies in no loaded section");
  const Section &section = sections[symbol.st_shndx];
  if (symbol.st_value > section.header.sh_size)
    return runtimeError("symbol \"", name, "\" lies outside section ", section.name);
  return section.offset + symbol.st_value;
}

Result<void> ObjectLoader::relocateSection(char *image, const Section &table) const {
  const Section &section = sections[table.header.sh_info];
  if (table.header.sh_entsize != sizeof(Elf64_Rela) || table.header.sh_size % sizeof(Elf64_Rela))
    return runtimeError("the relocations of ", section.name, " are malformed");
  for (uint64_t offset = 0; offset < table.header.sh_size; offset += sizeof(Elf64_Rela)) {
    const Elf64_Rela relocation = *at<Elf64_Rela>(table.header.sh_offset + offset);
    const uint64_t type = ELF64_R_TYPE(relocation.r_info), symbol = ELF64_R_SYM(relocation.r_info);
    const uint64_t width = relocations.width(type);
    if (width == 0)
      continue;
    if (section.header.sh_size < width || relocation.r_offset > section.header.sh_size - width)
      return runtimeError("a relocation lies outside section ", section.name);
    if (symbol >= symbols.size())
      return runtimeError("a relocation of ", section.name, " names symbol ", symbol, " of ", symbols.size());
    const std::string_view name = stringAt(symbolNames, symbols[symbol].st_name).value_or("?");
    Result<uint64_t> target = addressOf(symbols[symbol], name);
    if (!target)
      return target.takeError();
    char *place = image + section.offset + relocation.r_offset;
    const uint64_t value = reinterpret_cast<uint64_t>(image) + *target + static_cast<uint64_t>(relocation.r_addend);
    if (!relocations.apply(place, type, value))
      return runtimeError("a relocation of ", section.name, " against \"", name, "\" has type ", type,
                          " or is out of range");
  }
  return {};
}

Result<void> ObjectLoader::relocate(char *image) const {
  for (const Section &table : sections) {
    if (table.header.sh_type != SHT_RELA && table.header.sh_type != SHT_REL)
      continue;
    if (table.header.sh_info >= sections.size())
      return runtimeError("relocations ", table.name, " are for section ", table.header.sh_info, " of ",
                          sections.size());
    if (sections[table.header.sh_info].offset == notLoaded)
      continue;
    if (table.header.sh_type == SHT_REL)
      return runtimeError("relocations ", table.name, " have no addends");
    if (Result<void> done = relocateSection(image, table); !done)
      return done;
  }
  return {};
}

Result<void> ObjectLoader::protect(char *image) const {
  if (mprotect(image, codeBytes, PROT_READ | PROT_EXEC) != 0 ||
      (imageBytes > codeBytes && mprotect(image + codeBytes, imageBytes - codeBytes, PROT_READ) != 0))
    return runtimeError("cannot protect the pages of a kernel: error ", errno);
  // Where fetching of instructions does not see what was stored; on x86 it does, and this is nothing.
  __builtin___clear_cache(image, image + codeBytes);
  return {};
}

Result<void *> ObjectLoader::findEntry(char *image, const std::string &name) const {
  for (const Elf64_Sym &symbol : symbols) {
    if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL || stringAt(symbolNames, symbol.st_name) != std::string_view(name))
      continue;
    Result<uint64_t> offset = addressOf(symbol, name);
    if (!offset)
      return offset.takeError();
    if (*offset >= codeBytes || symbol.st_value >= sections[symbol.st_shndx].header.sh_size)
      return runtimeError("entry \"", name, "\" is not in the code");
    return static_cast<void *>(image + *offset);
  }
  return runtimeError("the object does not define the entry \"", name, "\"");
}

} // namespace

Result<LoadedObject> LoadedObject::load(std::string_view object, std::span<const std::string> entries,
                                        uint16_t machine) {
  ObjectLoader loader(object, machine);
  for (auto step : {&ObjectLoader::readSections, &ObjectLoader::layOut, &ObjectLoader::readSymbols})
    if (Result<void> done = (loader.*step)(); !done)
      return done.takeError();
  void *pages = mmap(nullptr, loader.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED)
    return Error{Status::OutOfMemory, concat("cannot map ", loader.size(), " bytes for a kernel")};
  LoadedObject loaded(pages, loader.size());
  char *image = static_cast<char *>(pages);
  loader.copyTo(image);
  if (Result<void> done = loader.relocate(image); !done)
    return done.takeError();
  for (const std::string &name : entries) {
    Result<void *> address = loader.findEntry(image, name);
    if (!address)
      return address.takeError();
    loaded.entryAddresses.push_back(*address);
  }
  if (Result<void> done = loader.protect(image); !done)
    return done.takeError();
  return loaded;
}

LoadedObject::LoadedObject(LoadedObject &&other) noexcept
    : image(std::exchange(other.image, nullptr)), imageBytes(other.imageBytes),
      entryAddresses(std::move(other.entryAddresses)) {}

LoadedObject &LoadedObject::operator=(LoadedObject &&other) noexcept {
  std::swap(image, other.image);
  std::swap(imageBytes, other.imageBytes);
  std::swap(entryAddresses, other.entryAddresses);
  return *this;
}

LoadedObject::~LoadedObject() {
  if (image)
    munmap(image, imageBytes);
}

} // namespace quern
