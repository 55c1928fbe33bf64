//===- Loader.cpp - Mapping ELF objects without LLVM ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Reads and checks the section table, assigns addresses to the sections (code first, constants on later pages), copies
// them, applies the relocations and sets the protection. The image has at most 64 MiB, so that 32-bit displacements
// inside it do not overflow. They are checked nevertheless, because addends are arbitrary.
//
//===----------------------------------------------------------------------===//
#include "Elf/Loader.h"

#include "Elf/ElfObject.h"
#include "Elf/Relocations.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace quern {
namespace {

constexpr uint64_t notLoaded = ~0ull;
constexpr uint64_t leadBytes = 64;

/// Returns the error for pages that the system refused. It is never `runtime_error`, because the object may be valid.
Error pagesRefused(const char *call, int reason) {
  const bool isShortage = reason == ENOMEM || reason == EAGAIN || reason == EMFILE || reason == ENFILE ||
                          reason == ENOSPC || reason == EINTR;
  return {isShortage ? Status::OutOfMemory : Status::Unimplemented,
          concat("the system refuses executable pages for a kernel: ", call, ": ", std::strerror(reason))};
}

int createFileInMemory() {
#ifndef MFD_EXEC
  constexpr unsigned MFD_EXEC = 0x10; // since Linux 6.3
#endif
  const int file = memfd_create("quern-kernel", MFD_CLOEXEC | MFD_EXEC);
  return file < 0 && errno == EINVAL ? memfd_create("quern-kernel", MFD_CLOEXEC) : file;
}

bool writeAll(int file, const char *bytes, size_t size) {
  while (size > 0) {
    const ssize_t count = write(file, bytes, size);
    if (count < 0 && errno != EINTR)
      return false;
    bytes += std::max<ssize_t>(count, 0), size -= static_cast<size_t>(std::max<ssize_t>(count, 0));
  }
  return true;
}

uint64_t alignUp(uint64_t value, uint64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

class ObjectLoader {
public:
  ObjectLoader(std::string_view bytes, uint16_t machine)
      : object(bytes, machine), relocations(*relocationsOf(machine)) {}

  Result<void> readSections() {
    Result<void> read = object.readSections();
    offsets.resize(object.sections().size(), notLoaded);
    return read;
  }
  Result<void> layOut();
  Result<void> readSymbols() { return object.readSymbols(); }
  void copyTo(char *image) const;
  Result<void> relocate(char *image) const;
  Result<void> protect(char *image) const;
  Result<void> mapFromFile(char *image, int refusal) const;
  Result<void *> findEntry(char *image, const std::string &name) const;
  uint64_t size() const { return imageBytes; }
  std::vector<const void *> sectionAddresses(const char *image) const;

private:
  using Section = ElfObject::Section;

  Result<void> place(bool code);
  Result<uint64_t> addressOf(const Elf64_Sym &symbol, std::string_view name) const;
  Result<void> relocateSection(char *image, const Section &table) const;

  ElfObject object;
  std::vector<uint64_t> offsets; ///< offset of each section in the image
  const Relocations &relocations;
  // The image does not start with a function, because tools read the bytes before a function.
  uint64_t codeBytes = 0, imageBytes = leadBytes;
};

/// Assigns an offset after the previous sections to every section of one kind.
Result<void> ObjectLoader::place(bool code) {
  for (size_t i = 0; i < offsets.size(); ++i) {
    const Section &section = object.sections()[i];
    const Elf64_Shdr &header = section.header;
    const bool isCode = header.sh_flags & SHF_EXECINSTR;
    const bool isSkipped =
        header.sh_type == SHT_NOTE || section.name == ".eh_frame" || section.name.starts_with(".note");
    if (!(header.sh_flags & SHF_ALLOC) || header.sh_size == 0 || isSkipped || isCode != code)
      continue;
    if (header.sh_type != SHT_PROGBITS)
      return runtimeError("section ", section.name, " has type ", header.sh_type,
                          "; only code and constants are loaded");
    // No page is writable at run time; .data.rel.ro is marked writable only for its relocations.
    if ((header.sh_flags & SHF_WRITE) && (isCode || !section.name.starts_with(".data.rel.ro")))
      return runtimeError("section ", section.name, " is writable");
    if (header.sh_flags & (SHF_TLS | SHF_COMPRESSED))
      return runtimeError("section ", section.name, " is thread-local or compressed");
    if (header.sh_addralign > 4096 || (header.sh_addralign & (header.sh_addralign - 1)))
      return runtimeError("section ", section.name, " requires an alignment of ", header.sh_addralign,
                          "; the limit is 4096");
    offsets[i] = alignUp(imageBytes, std::max<uint64_t>(header.sh_addralign, 64));
    if (header.sh_size > LoadedObject::maxImageBytes || offsets[i] > LoadedObject::maxImageBytes - header.sh_size)
      return runtimeError("the object's image exceeds ", LoadedObject::maxImageBytes, " bytes");
    imageBytes = offsets[i] + header.sh_size;
  }
  return {};
}

Result<void> ObjectLoader::layOut() {
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  QUERN_RETURN_IF_ERROR(place(/*code=*/true));
  if (imageBytes == leadBytes)
    return runtimeError("the object has no code");
  codeBytes = imageBytes = alignUp(imageBytes, page);
  QUERN_RETURN_IF_ERROR(place(/*code=*/false));
  imageBytes = alignUp(imageBytes, page);
  return {};
}

void ObjectLoader::copyTo(char *image) const {
  for (size_t i = 0; i < offsets.size(); ++i) {
    if (offsets[i] == notLoaded)
      continue;
    const std::string_view contents = object.contents(object.sections()[i]);
    std::memcpy(image + offsets[i], contents.data(), contents.size());
  }
}

std::vector<const void *> ObjectLoader::sectionAddresses(const char *image) const {
  std::vector<const void *> addresses;
  for (const uint64_t offset : offsets)
    addresses.push_back(offset == notLoaded ? nullptr : image + offset);
  return addresses;
}

/// Returns the symbol's offset in the image.
Result<uint64_t> ObjectLoader::addressOf(const Elf64_Sym &symbol, std::string_view name) const {
  if (symbol.st_shndx == SHN_UNDEF)
    return runtimeError("the object refers to \"", name, "\", which it does not define");
  if (symbol.st_shndx >= offsets.size() || offsets[symbol.st_shndx] == notLoaded)
    return runtimeError("symbol \"", name, "\" is not in a loaded section");
  const Section &section = object.sections()[symbol.st_shndx];
  if (symbol.st_value > section.header.sh_size)
    return runtimeError("symbol \"", name, "\" lies outside section ", section.name);
  return offsets[symbol.st_shndx] + symbol.st_value;
}

Result<void> ObjectLoader::relocateSection(char *image, const Section &table) const {
  const Section &section = object.sections()[table.header.sh_info];
  if (table.header.sh_entsize != sizeof(Elf64_Rela) || table.header.sh_size % sizeof(Elf64_Rela))
    return runtimeError("the relocations of ", section.name, " are malformed");
  for (uint64_t offset = 0; offset < table.header.sh_size; offset += sizeof(Elf64_Rela)) {
    const Elf64_Rela relocation = *object.at<Elf64_Rela>(table.header.sh_offset + offset);
    const uint64_t type = ELF64_R_TYPE(relocation.r_info), symbol = ELF64_R_SYM(relocation.r_info);
    const uint64_t width = relocations.width(type);
    if (width == 0)
      continue;
    if (section.header.sh_size < width || relocation.r_offset > section.header.sh_size - width)
      return runtimeError("a relocation lies outside section ", section.name);
    if (symbol >= object.symbols().size())
      return runtimeError("a relocation of ", section.name, " names symbol ", symbol, " of ", object.symbols().size());
    const std::string_view name = object.nameOf(object.symbols()[symbol]).value_or("?");
    QUERN_ASSIGN_OR_RETURN(uint64_t target, addressOf(object.symbols()[symbol], name));
    char *place = image + offsets[table.header.sh_info] + relocation.r_offset;
    const uint64_t value = reinterpret_cast<uint64_t>(image) + target + static_cast<uint64_t>(relocation.r_addend);
    if (!relocations.apply(place, type, value))
      return runtimeError("a relocation of ", section.name, " against \"", name, "\" has type ", type,
                          " or is out of range");
  }
  return {};
}

Result<void> ObjectLoader::relocate(char *image) const {
  for (const Section &table : object.sections()) {
    if (table.header.sh_type != SHT_RELA && table.header.sh_type != SHT_REL)
      continue;
    if (table.header.sh_info >= offsets.size())
      return runtimeError("relocations ", table.name, " are for section ", table.header.sh_info, " of ",
                          offsets.size());
    if (offsets[table.header.sh_info] == notLoaded)
      continue;
    if (table.header.sh_type == SHT_REL)
      return runtimeError("relocations ", table.name, " have no addends");
    QUERN_RETURN_IF_ERROR(relocateSection(image, table));
  }
  return {};
}

Result<void> ObjectLoader::protect(char *image) const {
  if (mprotect(image, codeBytes, PROT_READ | PROT_EXEC) != 0) {
    QUERN_RETURN_IF_ERROR(errno == ENOMEM ? pagesRefused("mprotect", errno) : mapFromFile(image, errno));
  } else if (imageBytes > codeBytes && mprotect(image + codeBytes, imageBytes - codeBytes, PROT_READ) != 0) {
    return pagesRefused("mprotect", errno);
  }
  // Required on machines whose instruction fetch does not see stores; no-op on x86.
  __builtin___clear_cache(image, image + codeBytes);
  return {};
}

/// Replaces the image by mappings of a file in memory, for processes in which writable pages must not become executable
/// (PR_SET_MDWE, systemd's MemoryDenyWriteExecute=yes, SELinux). `refusal` is the error of mprotect().
Result<void> ObjectLoader::mapFromFile(char *image, int refusal) const {
  const int file = createFileInMemory();
  if (file < 0)
    return pagesRefused(refusal == EACCES || refusal == EPERM ? "mprotect and memfd_create" : "mprotect", errno);
  const char *failed = nullptr;
  if (!writeAll(file, image, imageBytes))
    failed = "write";
  else if (mmap(image, codeBytes, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, 0) == MAP_FAILED ||
           (imageBytes > codeBytes && mmap(image + codeBytes, imageBytes - codeBytes, PROT_READ,
                                           MAP_PRIVATE | MAP_FIXED, file, static_cast<off_t>(codeBytes)) == MAP_FAILED))
    failed = "mprotect and mmap of a file in memory";
  const int reason = errno;
  close(file);
  return failed ? Result<void>(pagesRefused(failed, reason)) : Result<void>();
}

Result<void *> ObjectLoader::findEntry(char *image, const std::string &name) const {
  for (const Elf64_Sym &symbol : object.symbols()) {
    if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL || object.nameOf(symbol) != std::string_view(name))
      continue;
    QUERN_ASSIGN_OR_RETURN(uint64_t offset, addressOf(symbol, name));
    if (offset >= codeBytes || symbol.st_value >= object.sections()[symbol.st_shndx].header.sh_size)
      return runtimeError("entry \"", name, "\" is not in the code");
    return static_cast<void *>(image + offset);
  }
  return runtimeError("the object does not define the entry \"", name, "\"");
}

} // namespace

Result<LoadedObject> LoadedObject::load(std::string_view object, std::span<const std::string> entries,
                                        uint16_t machine) {
  ObjectLoader loader(object, machine);
  for (auto step : {&ObjectLoader::readSections, &ObjectLoader::layOut, &ObjectLoader::readSymbols})
    QUERN_RETURN_IF_ERROR((loader.*step)());
  void *pages = mmap(nullptr, loader.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED)
    return pagesRefused("mmap", errno);
  LoadedObject loaded(pages, loader.size());
  char *image = static_cast<char *>(pages);
  loader.copyTo(image);
  QUERN_RETURN_IF_ERROR(loader.relocate(image));
  for (const std::string &name : entries) {
    QUERN_ASSIGN_OR_RETURN(void *address, loader.findEntry(image, name));
    loaded.entryAddresses.push_back(address);
  }
  QUERN_RETURN_IF_ERROR(loader.protect(image));
  loaded.sectionAddresses = loader.sectionAddresses(image);
  return loaded;
}

LoadedObject::LoadedObject(LoadedObject &&other) noexcept
    : image(std::exchange(other.image, nullptr)), imageBytes(other.imageBytes),
      entryAddresses(std::move(other.entryAddresses)), sectionAddresses(std::move(other.sectionAddresses)) {}

LoadedObject &LoadedObject::operator=(LoadedObject &&other) noexcept {
  std::swap(image, other.image);
  std::swap(imageBytes, other.imageBytes);
  std::swap(entryAddresses, other.entryAddresses);
  std::swap(sectionAddresses, other.sectionAddresses);
  return *this;
}

LoadedObject::~LoadedObject() {
  if (image)
    munmap(image, imageBytes);
}

} // namespace quern
