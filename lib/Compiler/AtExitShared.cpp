//===- AtExitShared.cpp - Destructors after the last call -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Part of libquern-compiler if LLVM and MLIR are shared libraries, instead of AtExit.cpp. Exit handlers run in reverse
// order, so the handler that waits for compiler calls must be registered after every destructor of LLVM and MLIR, which
// register many during the first compilations. It is therefore registered again after each: this file replaces
// __cxa_atexit() in the relocation tables of these libraries by its own function.
//
//===----------------------------------------------------------------------===//
#include "Compiler/Calls.h"

#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace quern {
namespace {

constexpr const char *librariesWithDestructors[] = {"/libLLVM", "/libMLIR", "/libquern-compiler"};

/// The C library's function that registers destructors. This library's relocation table no longer refers to it.
constinit int (*registerDestructor)(void (*destroy)(void *), void *object, void *library) = nullptr;

void stayLast() {
  (void)registerDestructor([](void *) { BridgeCall::end(); }, nullptr, nullptr);
}

int registerAndStayLast(void (*destroy)(void *), void *object, void *library) {
  const int failed = registerDestructor(destroy, object, library);
  stayLast();
  return failed;
}

/// Writes registerAndStayLast() to a slot of a relocation table. The loader may have made its page read-only.
void enter(void **slot) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)), start = reinterpret_cast<uintptr_t>(slot) & -page;
  if (mprotect(reinterpret_cast<void *>(start), page, PROT_READ | PROT_WRITE) == 0)
    *slot = reinterpret_cast<void *>(registerAndStayLast);
}

/// Calls enter() for the slots of one relocation table.
void enterAll(ElfW(Addr) base, const ElfW(Rela) * table, size_t bytes, const ElfW(Sym) * symbols, const char *names) {
  for (size_t i = 0; i < bytes / sizeof(*table); ++i) {
    const auto symbol = table[i].r_info >> 32U;
    if (symbol && std::strcmp(names + symbols[symbol].st_name, "__cxa_atexit") == 0)
      enter(reinterpret_cast<void **>(base + table[i].r_offset));
  }
}

int visit(dl_phdr_info *library, size_t, void *) {
  bool isWanted = false;
  for (const char *name : librariesWithDestructors)
    isWanted = isWanted || std::strstr(library->dlpi_name, name);
  const ElfW(Dyn) *entry = nullptr;
  for (int i = 0; isWanted && i < library->dlpi_phnum; ++i)
    if (library->dlpi_phdr[i].p_type == PT_DYNAMIC)
      entry = reinterpret_cast<const ElfW(Dyn) *>(library->dlpi_addr + library->dlpi_phdr[i].p_vaddr);
  ElfW(Addr) values[DT_NUM] = {};
  for (; entry && entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag > 0 && entry->d_tag < DT_NUM)
      values[entry->d_tag] = entry->d_un.d_val;
  const auto *symbols = reinterpret_cast<const ElfW(Sym) *>(values[DT_SYMTAB]);
  const auto *names = reinterpret_cast<const char *>(values[DT_STRTAB]);
  const auto tableAt = [&](int tag) { return reinterpret_cast<const ElfW(Rela) *>(values[tag]); };
  enterAll(library->dlpi_addr, tableAt(DT_RELA), values[DT_RELASZ], symbols, names);
  enterAll(library->dlpi_addr, tableAt(DT_JMPREL), values[DT_PLTRELSZ], symbols, names);
  return 0;
}

[[gnu::constructor]] void onLoad() {
  registerDestructor = reinterpret_cast<decltype(registerDestructor)>(dlsym(RTLD_DEFAULT, "__cxa_atexit"));
  (void)dl_iterate_phdr(visit, nullptr);
  stayLast(); // runs before the destructors that have been registered so far
}

} // namespace
} // namespace quern
