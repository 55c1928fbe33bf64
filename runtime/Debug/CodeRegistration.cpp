//===- CodeRegistration.cpp - Registering kernels with debuggers and profilers -===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One lock guards the debugger's list and the profilers' files, also around forks: a child keeps the list of its
// parent, whose code it has mapped, and creates new files.
//
//===----------------------------------------------------------------------===//
#include "Debug/CodeRegistration.h"

#include "Cache/Directory.h"
#include "Cache/Disk.h"
#include "Compilation/Compiler.h"
#include "Debug/Gdb.h"
#include "Debug/JitDump.h"
#include "Debug/Wanted.h"
#include "Elf/ElfObject.h"
#include "Events/Events.h"
#include "Support/Digest.h"
#include "Support/Forks.h"

#include "quern-compiler/Bridge.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <unistd.h>

namespace quern {
namespace {

struct Observers {
  ForkMutex mutex; ///< guards the member below and the debugger's list
  JitDump dump;

  static Observers &process() {
    return immortal([] { return new Observers; });
  }
};

/// Returns the folder for sources: QUERN_DUMP_DIR, else `debug` in the disk cache of the environment; "": none.
std::string sourceFolder() {
  if (const char *own = secure_getenv("QUERN_DUMP_DIR"); own && *own)
    return own;
  const std::string cache = DiskCache::defaultDirectory();
  return cache.empty() ? "" : cache + "/debug";
}

/// Returns true if the loaded sections of two objects are equal.
bool areSameWhenLoaded(std::string_view plain, std::string_view other) {
  ElfObject first(plain), second(other);
  if (!first.readSections() || !second.readSections())
    return false;
  const auto loaded = [](const ElfObject &object) {
    std::vector<std::pair<std::string_view, std::string_view>> parts;
    for (const ElfObject::Section &section : object.sections())
      if (section.header.sh_flags & SHF_ALLOC && section.header.sh_type == SHT_PROGBITS)
        parts.emplace_back(section.name, object.contents(section));
    std::sort(parts.begin(), parts.end());
    return parts;
  };
  return loaded(first) == loaded(second);
}

Result<void> writeSource(const std::string &folder, const std::string &name, std::string_view text) {
  QUERN_ASSIGN_OR_RETURN(std::shared_ptr<OpenDirectory> directory, OpenDirectory::open(folder, /*create=*/true));
  static std::atomic<uint64_t> counter{0};
  const std::string temporary = concat(".tmp-", name, "-", getpid(), "-", counter++);
  QUERN_RETURN_IF_ERROR(directory->writeNew(temporary, text));
  return directory->rename(temporary, name);
}

/// Compiles the problem of an artifact again, with a line table, and writes its source to `folder`. `debug` must have
/// its key and source.
Result<std::string> compileWithLines(const Artifact &artifact, const VerifiedProblem &problem,
                                     const std::string &folder, const DebugObject &debug) {
  QUERN_ASSIGN_OR_RETURN(Compiler compiler, Compiler::get());
  QUERN_ASSIGN_OR_RETURN(std::string object,
                         compiler.answer({CompilerRequest::Compile, problem.desc.canonicalBytes(), artifact.target,
                                          QUERN_COMPILER_DEBUG_OBJECT, debug.source}));
  if (!areSameWhenLoaded(artifact.code, object))
    return internalError("the code differs with a line table");
  ElfObject elf(object);
  QUERN_RETURN_IF_ERROR(elf.readSections());
  if (folder.empty())
    return object;
  if (Result<void> written = writeSource(folder, debug.key + ".mlir", elf.contentsOf(".quern.source")); !written)
    reportDebug(debug.key, written.error().message);
  return object;
}

template <typename T> T numberAt(std::string_view bytes, size_t place) {
  T value;
  std::memcpy(&value, bytes.data() + place, sizeof(value));
  return value;
}

/// Returns the rows of .quern.lines for a function of `bytes` bytes at offset `begin`, mapped at `address`.
std::vector<ProfiledCode::Line> linesOf(std::string_view table, uint64_t begin, uint64_t bytes, uint64_t address) {
  constexpr size_t rowBytes = sizeof(uint64_t) + sizeof(uint32_t);
  std::vector<ProfiledCode::Line> lines;
  for (size_t row = 0; row + rowBytes <= table.size(); row += rowBytes) {
    const auto place = numberAt<uint64_t>(table, row);
    const auto line = numberAt<uint32_t>(table, row + sizeof(uint64_t));
    if (line > 0 && place >= begin && place - begin < bytes)
      lines.push_back({address + (place - begin), line});
  }
  return lines;
}

/// Returns the functions of an object's mapped sections. Their names end with the kernel's key.
std::vector<ProfiledCode> functionsOf(const DebugObject &code, std::span<const void *const> sections) {
  std::vector<ProfiledCode> functions;
  ElfObject elf(code.object);
  if (!elf.readSections() || !elf.readSymbols())
    return functions;
  for (const Elf64_Sym &symbol : elf.symbols()) {
    const size_t section = symbol.st_shndx;
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || section >= sections.size() || !sections[section] ||
        section >= elf.sections().size())
      continue;
    const uint64_t size = elf.sections()[section].header.sh_size;
    if (symbol.st_value > size || symbol.st_size > size - symbol.st_value)
      continue;
    ProfiledCode &made = functions.emplace_back();
    made.address = reinterpret_cast<uint64_t>(sections[section]) + symbol.st_value;
    made.bytes = symbol.st_size;
    made.name = concat(elf.nameOf(symbol).value_or("kernel"), ".", code.key);
    made.source = code.source;
    if (elf.sections()[section].name == ".text")
      made.lines = linesOf(elf.contentsOf(".quern.lines"), symbol.st_value, symbol.st_size, made.address);
  }
  return functions;
}

/// Reports functions to perf, in its map and in a jitdump. Requires the lock.
void tellPerf(Observers &observers, const std::vector<ProfiledCode> &functions) {
  if (!debugWanted().forPerf)
    return;
  addToPerfMap(functions);
  observers.dump.open(jitDumpDirectory(), "quern");
  for (const ProfiledCode &function : functions)
    observers.dump.write(function);
}

} // namespace

const DebugWanted &debugWanted() {
  return immortal([] {
    auto *read = new DebugWanted;
    const char *variable = secure_getenv("QUERN_DEBUG");
    std::string_view rest = variable ? variable : "";
    while (!rest.empty()) {
      const std::string_view word = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(word.size() + 1, rest.size()));
      read->forGdb |= word == "gdb";
      read->forPerf |= word == "perf";
    }
    return read;
  });
}

std::optional<DebugObject> debugObjectOf(const Artifact &artifact, const VerifiedProblem &problem) {
  if (!debugWanted().any())
    return std::nullopt;
  const std::string folder = sourceFolder();
  DebugObject debug;
  debug.key = digestOf(artifact.keyBytes).hex();
  debug.source = (folder.empty() ? "" : folder + "/") + debug.key + ".mlir";
  Result<std::string> object = compileWithLines(artifact, problem, folder, debug);
  if (!object)
    reportDebug(debug.key, object.error().message);
  if (object)
    debug.object = std::move(*object);
  else
    debug.object = artifact.code;
  return debug;
}

std::shared_ptr<CodeRegistration> CodeRegistration::ofLoaded(const DebugObject &code,
                                                             std::span<const void *const> sections) {
  std::shared_ptr<CodeRegistration> made(new CodeRegistration());
  const std::vector<ProfiledCode> functions = functionsOf(code, sections);
  std::string placed = code.object;
  placeSections(placed, sections);
  Observers &observers = Observers::process();
  std::lock_guard lock(observers.mutex);
  tellPerf(observers, functions);
  if (debugWanted().forGdb)
    made->registered = registerWithGdb(std::move(placed));
  return made;
}

std::shared_ptr<CodeRegistration> CodeRegistration::ofLinked(const DebugObject &code,
                                                             const std::vector<std::string> &names,
                                                             std::span<void *const> entries) {
  ElfObject elf(code.object);
  std::vector<const void *> sections;
  if (elf.readSections() && elf.readSymbols())
    sections.resize(elf.sections().size()); // computed below from the entries
  for (const Elf64_Sym &symbol : elf.symbols())
    for (size_t i = 0; i < names.size() && i < entries.size(); ++i)
      if (symbol.st_shndx < sections.size() && elf.nameOf(symbol) == std::string_view(names[i]))
        sections[symbol.st_shndx] = static_cast<const char *>(entries[i]) - symbol.st_value;
  return ofLoaded(code, sections);
}

CodeRegistration::~CodeRegistration() {
  if (!registered)
    return;
  std::lock_guard lock(Observers::process().mutex);
  unregisterFromGdb(registered);
}

} // namespace quern
