//===- Gdb.cpp - Registering objects with debuggers -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Names, layout and semantics follow "JIT Compilation Interface" in gdb's manual. Debuggers look for the two symbols in
// every library, and LLVM defines them for other programs. They are protected, so that libquern uses its own, and
// versioned (exports.map), so that no other library uses those of libquern.
//
//===----------------------------------------------------------------------===//
#include "Debug/Gdb.h"

#include "Elf/ElfObject.h"

#include <cstring>

// NOLINTBEGIN(readability-identifier-naming, bugprone-reserved-identifier): the debugger's names
extern "C" {

struct jit_code_entry {
  jit_code_entry *next_entry, *prev_entry;
  const char *symfile_addr;
  uint64_t symfile_size;
};

struct jit_descriptor {
  uint32_t version, action_flag;
  jit_code_entry *relevant_entry, *first_entry;
};

enum : uint32_t { JIT_NOACTION, JIT_REGISTER_FN, JIT_UNREGISTER_FN };

__attribute__((visibility("protected"), used)) jit_descriptor __jit_debug_descriptor = {1, JIT_NOACTION, nullptr,
                                                                                        nullptr};

/// Debuggers set a breakpoint here.
__attribute__((visibility("protected"), noinline, used)) void __jit_debug_register_code() {
  asm volatile("" ::: "memory");
}

} // extern "C"

namespace quern {

class GdbObject {
public:
  std::string bytes;
  jit_code_entry entry{};
};

namespace {

void notifyDebugger(jit_code_entry &entry, uint32_t action) {
  __jit_debug_descriptor.relevant_entry = &entry;
  __jit_debug_descriptor.action_flag = action;
  __jit_debug_register_code();
  __jit_debug_descriptor.action_flag = JIT_NOACTION;
  __jit_debug_descriptor.relevant_entry = nullptr;
}

} // namespace

void placeSections(std::string &object, std::span<const void *const> sections) {
  ElfObject elf(object);
  if (!elf.readSections())
    return;
  for (size_t i = 0; i < elf.sections().size(); ++i) {
    Elf64_Shdr header = elf.sections()[i].header;
    const void *place = i < sections.size() ? sections[i] : nullptr;
    header.sh_addr = reinterpret_cast<uint64_t>(place);
    if (!place)
      header.sh_flags &= ~static_cast<uint64_t>(SHF_ALLOC);
    std::memcpy(object.data() + elf.headerPlace(i), &header, sizeof(header));
  }
}

GdbObject *registerWithGdb(std::string object) {
  auto *made = new GdbObject{std::move(object)};
  made->entry = {__jit_debug_descriptor.first_entry, nullptr, made->bytes.data(), made->bytes.size()};
  if (made->entry.next_entry)
    made->entry.next_entry->prev_entry = &made->entry;
  __jit_debug_descriptor.first_entry = &made->entry;
  notifyDebugger(made->entry, JIT_REGISTER_FN);
  return made;
}

void unregisterFromGdb(GdbObject *object) {
  jit_code_entry &entry = object->entry;
  (entry.prev_entry ? entry.prev_entry->next_entry : __jit_debug_descriptor.first_entry) = entry.next_entry;
  if (entry.next_entry)
    entry.next_entry->prev_entry = entry.prev_entry;
  notifyDebugger(entry, JIT_UNREGISTER_FN);
  delete object;
}

} // namespace quern
// NOLINTEND(readability-identifier-naming, bugprone-reserved-identifier)
