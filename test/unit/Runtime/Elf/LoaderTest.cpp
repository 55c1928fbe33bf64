//===- LoaderTest.cpp - The ELF loader with good and hostile objects ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests that the test kernels run, and that hostile objects of both machines are loaded or refused: truncations at
// every length, single mutated bytes, and constructed faults. Sanitizer builds check that the loader accesses no memory
// outside the object.
//
//===----------------------------------------------------------------------===//
#include "Elf/Loader.h"
#include "Runtime/TestArtifacts.h"

#include "quern/kernel_abi.h"

#include <gtest/gtest.h>

#include <cstring>
#include <elf.h>
#include <random>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace quern {
namespace {

constexpr uint64_t unknownType = 250;
const std::vector<std::string> entries = {"quern_test_scale", "quern_test_scratch"};

/// The sections of an object, for changes in place.
struct Editor {
  explicit Editor(std::string &object) : object(object) {
    std::memcpy(&header, object.data(), sizeof(header));
    sections.resize(header.e_shnum);
    std::memcpy(sections.data(), object.data() + header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr));
  }
  void write() {
    std::memcpy(object.data(), &header, sizeof(header));
    std::memcpy(object.data() + header.e_shoff, sections.data(), sections.size() * sizeof(Elf64_Shdr));
  }
  Elf64_Shdr &find(uint32_t type, uint64_t flags) {
    for (Elf64_Shdr &section : sections)
      if (section.sh_type == type && (section.sh_flags & flags) == flags && section.sh_size > 0)
        return section;
    throw std::runtime_error("no such section");
  }
  /// Returns the first relocation of the code.
  Elf64_Rela &relocation() {
    for (Elf64_Shdr &section : sections)
      if (section.sh_type == SHT_RELA && (sections[section.sh_info].sh_flags & SHF_EXECINSTR))
        return *reinterpret_cast<Elf64_Rela *>(object.data() + section.sh_offset);
    throw std::runtime_error("no relocation");
  }
  std::string &object;
  Elf64_Ehdr header;
  std::vector<Elf64_Shdr> sections;
};

void setType(Elf64_Rela &relocation, uint64_t type) {
  relocation.r_info = ELF64_R_INFO(ELF64_R_SYM(relocation.r_info), type);
}

/// An object of `machine` that is loaded or refused, but not run.
struct ReadObject {
  std::string bytes;
  uint16_t machine;
  std::string_view name;
};

std::vector<ReadObject> objects() {
  constexpr bool isX86 = hostElfMachine == EM_X86_64;
  std::vector<ReadObject> both = {{test::readTestObject(), hostElfMachine, isX86 ? "x86-64" : "AArch64"}};
  if (std::string foreign = test::readForeignTestObject(); !foreign.empty())
    both.push_back({foreign, isX86 ? uint16_t(EM_AARCH64) : uint16_t(EM_X86_64), isX86 ? "AArch64" : "x86-64"});
  return both;
}

std::string messageOf(const std::string &object, uint16_t machine) {
  Result<LoadedObject> loaded = LoadedObject::load(object, entries, machine);
  return loaded ? "loaded" : loaded.error().message;
}

#if defined(__clang__)
__attribute__((no_sanitize("function"))) // generated code has no type metadata
#endif
void call(void *address, const quern_kernel_args_t &arguments, int64_t begin, int64_t end) {
  reinterpret_cast<quern_kernel_fn>(address)(&arguments, begin, end);
}

TEST(Loader, RunsKernels) {
  Result<LoadedObject> loaded = LoadedObject::load(test::readTestObject(), entries);
  ASSERT_TRUE(loaded) << loaded.error().message;
  float src[40], dst[40];
  for (int i = 0; i < 40; ++i)
    src[i] = static_cast<float>(i), dst[i] = 0;
  void *buffers[] = {src, dst};
  const quern_kernel_args_t arguments{buffers, nullptr};
  call(loaded->addresses()[0], arguments, 3, 37);
  for (int i = 0; i < 40; ++i)
    EXPECT_EQ(dst[i], i < 3 || i >= 37 ? 0.0f : static_cast<float>((2 + i % 4) * i)) << i;
}

/// Runs like services with MemoryDenyWriteExecute=yes.
TEST(Loader, RunsKernelsWherePagesMustNotBecomeExecutable) {
  constexpr int setMdwe = 65, refuseExecGain = 1; // PR_SET_MDWE and its argument, since Linux 6.3
  constexpr int lacksTheCall = 77;
  const pid_t child = fork();
  if (child == 0) {
    if (prctl(setMdwe, refuseExecGain, 0, 0, 0) != 0)
      _exit(lacksTheCall);
    Result<LoadedObject> loaded = LoadedObject::load(test::readTestObject(), entries);
    if (!loaded)
      _exit(1);
    float src[40], dst[40];
    for (int i = 0; i < 40; ++i)
      src[i] = static_cast<float>(i), dst[i] = 0;
    void *buffers[] = {src, dst};
    const quern_kernel_args_t arguments{buffers, nullptr};
    call(loaded->addresses()[0], arguments, 3, 37);
    _exit(dst[36] == 2 * 36 ? 0 : 2);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == lacksTheCall)
    GTEST_SKIP() << "the kernel does not have PR_SET_MDWE";
  EXPECT_EQ(status, 0);
}

/// A lack of memory does not mean that the object is bad, so a cache must not remove its file.
TEST(Loader, AShortageOfMemoryHasItsOwnStatus) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "the sanitizer needs unlimited address space";
#endif
#endif
  const pid_t child = fork();
  if (child == 0) {
    const rlimit nothing{0, 0};
    setrlimit(RLIMIT_AS, &nothing);
    Result<LoadedObject> loaded = LoadedObject::load(test::readTestObject(), entries);
    _exit(!loaded && loaded.error().status == Status::OutOfMemory ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Loader, RefusesMissingEntry) {
  const std::vector<std::string> absent = {"no_such_entry"};
  Result<LoadedObject> loaded = LoadedObject::load(test::readTestObject(), absent);
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().message.find("no_such_entry"), std::string::npos);
}

TEST(Loader, RefusesFaults) {
  struct Fault {
    const char *name, *message;
    void (*apply)(Editor &);
  };
  const Fault faults[] = {
      {"magic", "not an ELF file", [](Editor &e) { e.header.e_ident[0] = 'X'; }},
      {"machine", "not a relocatable ", [](Editor &e) { e.header.e_machine = EM_RISCV; }},
      {"kind", "not a relocatable ", [](Editor &e) { e.header.e_type = ET_DYN; }},
      {"no names", "no section names", [](Editor &e) { e.header.e_shstrndx = 0xffff; }},
      {"writable", "is writable", [](Editor &e) { e.find(SHT_PROGBITS, SHF_EXECINSTR).sh_flags |= SHF_WRITE; }},
      {"thread-local", "thread-local", [](Editor &e) { e.find(SHT_PROGBITS, SHF_EXECINSTR).sh_flags |= SHF_TLS; }},
      {"alignment", "alignment", [](Editor &e) { e.find(SHT_PROGBITS, SHF_EXECINSTR).sh_addralign = 48; }},
      {"outside", "lies outside the object", [](Editor &e) { e.find(SHT_PROGBITS, SHF_EXECINSTR).sh_size = ~0ull; }},
      {"offset", "lies outside the object",
       [](Editor &e) { e.find(SHT_PROGBITS, SHF_EXECINSTR).sh_offset = ~0ull - 8; }},
      {"no code", "no code", [](Editor &e) { e.find(SHT_PROGBITS, SHF_EXECINSTR).sh_flags = SHF_ALLOC; }},
      {"symbols", "symbol table is malformed", [](Editor &e) { e.find(SHT_SYMTAB, 0).sh_entsize = 1; }},
      {"strings", "symbol table is malformed", [](Editor &e) { e.find(SHT_SYMTAB, 0).sh_link = 9999; }},
      {"relocation type", "has type", [](Editor &e) { setType(e.relocation(), unknownType); }},
      {"relocation place", "relocation lies outside", [](Editor &e) { e.relocation().r_offset = ~0ull - 3; }},
      {"relocation symbol", "names symbol", [](Editor &e) { e.relocation().r_info |= 0x7fffffffull << 32; }},
      {"relocation range", "out of range", [](Editor &e) { e.relocation().r_addend = INT64_MAX / 2; }},
      {"undefined", "does not define", [](Editor &e) { e.relocation().r_info &= 0xffffffffull; }},
  };
  for (const ReadObject &good : objects()) {
    EXPECT_EQ(messageOf(good.bytes, good.machine), "loaded") << good.name;
    for (const Fault &fault : faults) {
      std::string object = good.bytes;
      Editor editor(object);
      fault.apply(editor);
      editor.write();
      const std::string message = messageOf(object, good.machine);
      EXPECT_NE(message.find(fault.message), std::string::npos) << good.name << ", " << fault.name << ": " << message;
    }
  }
}

TEST(Loader, RefusesObjectsOfAnotherMachine) {
  for (const ReadObject &object : objects())
    if (object.machine != hostElfMachine) {
      EXPECT_NE(messageOf(object.bytes, hostElfMachine).find("not a relocatable"), std::string::npos);
    }
}

TEST(Loader, SurvivesTruncation) {
  // Copies have exactly that size, so that a sanitizer detects reads past the end.
  for (const ReadObject &object : objects())
    for (size_t size = 0; size < object.bytes.size(); ++size)
      EXPECT_FALSE(LoadedObject::load(std::string(object.bytes.data(), size), entries, object.machine))
          << object.name << ": " << size;
}

TEST(Loader, SurvivesMutation) {
  for (const ReadObject &good : objects()) {
    std::mt19937_64 random(7);
    size_t refused = 0;
    for (int round = 0; round < 20000; ++round) {
      std::string object = good.bytes;
      for (uint64_t changes = 1 + random() % 4; changes > 0; --changes)
        object[random() % object.size()] = static_cast<char>(random());
      refused += LoadedObject::load(object, entries, good.machine) ? 0 : 1;
    }
    EXPECT_GT(refused, 0u) << good.name;
  }
}

} // namespace
} // namespace quern
