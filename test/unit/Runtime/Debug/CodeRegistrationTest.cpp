//===- CodeRegistrationTest.cpp - Registering kernels with debuggers ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the debugger's list as a debugger reads it: sections that are mapped have their addresses; the list is
// consistent while threads load and release kernels, and in children of forks. test/Debug/perf.test tests perf's files.
//
//===----------------------------------------------------------------------===//
#include "Debug/CodeRegistration.h"

#include "Debug/Gdb.h"
#include "Debug/JitDump.h"
#include "Debug/Wanted.h"
#include "Elf/ElfObject.h"
#include "Elf/Loader.h"
#include "Runtime/TestArtifacts.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

// NOLINTBEGIN(readability-identifier-naming, bugprone-reserved-identifier): the debugger's names
extern "C" {
struct jit_code_entry {
  jit_code_entry *next_entry, *prev_entry;
  const char *symfile_addr;
  uint64_t symfile_size;
};
extern struct {
  uint32_t version, action_flag;
  jit_code_entry *relevant_entry, *first_entry;
} __jit_debug_descriptor;
}
// NOLINTEND(readability-identifier-naming, bugprone-reserved-identifier)

namespace quern {
namespace {

const std::vector<std::string> entries = {"quern_test_scale", "quern_test_scratch"};

/// Returns the number of objects that a debugger sees; -1 if their links or headers are wrong.
int countObjects() {
  int count = 0;
  const jit_code_entry *last = nullptr;
  for (const jit_code_entry *entry = __jit_debug_descriptor.first_entry; entry;
       last = entry, entry = entry->next_entry) {
    ElfObject object({entry->symfile_addr, entry->symfile_size});
    if (entry->prev_entry != last || !object.readSections() || !object.readSymbols())
      return -1;
    ++count;
  }
  return count;
}

class CodeRegistrationTest : public testing::Test {
protected:
  void SetUp() override {
    setenv("QUERN_DEBUG", "gdb", 1);
    if (!debugWanted().forGdb)
      GTEST_SKIP() << "another test of this process has already read QUERN_DEBUG";
    ASSERT_EQ(countObjects(), 0);
  }
  void TearDown() override { unsetenv("QUERN_DEBUG"); }

  /// A loaded object that is registered with the debugger.
  struct Loaded {
    LoadedObject code;
    std::shared_ptr<CodeRegistration> registration;
  };
  Loaded load() const {
    Result<LoadedObject> loaded = LoadedObject::load(debug.object, entries);
    if (!loaded)
      throw std::runtime_error(loaded.error().message);
    auto registration = CodeRegistration::ofLoaded(debug, loaded->sections());
    return {std::move(*loaded), std::move(registration)};
  }

  const DebugObject debug{"0123", test::readTestObject(), ""};
};

TEST_F(CodeRegistrationTest, ObjectsHaveTheAddressesOfTheirSections) {
  const Loaded loaded = load();
  ASSERT_EQ(countObjects(), 1);
  const jit_code_entry &entry = *__jit_debug_descriptor.first_entry;
  ElfObject object({entry.symfile_addr, entry.symfile_size});
  ASSERT_TRUE(object.readSections() && object.readSymbols());
  size_t found = 0;
  for (const Elf64_Sym &symbol : object.symbols())
    for (size_t i = 0; i < entries.size(); ++i)
      if (object.nameOf(symbol) == std::string_view(entries[i])) {
        const Elf64_Shdr &header = object.sections()[symbol.st_shndx].header;
        EXPECT_EQ(header.sh_addr + symbol.st_value, reinterpret_cast<uint64_t>(loaded.code.addresses()[i]));
        EXPECT_TRUE(header.sh_flags & SHF_ALLOC);
        ++found;
      }
  EXPECT_EQ(found, entries.size());
  for (const ElfObject::Section &section : object.sections()) // sections that are not mapped have no address
    EXPECT_EQ(section.header.sh_addr != 0, (section.header.sh_flags & SHF_ALLOC) != 0) << section.name;
}

TEST_F(CodeRegistrationTest, ObjectsAreReleasedInAnyOrder) {
  std::vector<std::optional<Loaded>> loaded;
  for (int i = 0; i < 5; ++i)
    loaded.emplace_back(load());
  EXPECT_EQ(countObjects(), 5);
  int left = 5;
  for (const size_t gone : {2u, 0u, 4u, 1u, 3u}) {
    loaded[gone].reset();
    EXPECT_EQ(countObjects(), --left);
  }
}

TEST_F(CodeRegistrationTest, ThreadsLoadAndRelease) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([this] {
      for (int round = 0; round < 200; ++round) {
        const Loaded first = load(), second = load();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(countObjects(), 0);
}

TEST_F(CodeRegistrationTest, ForksWhileThreadsLoad) {
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "ThreadSanitizer does not support forks of processes with threads";
#endif
  const Loaded kept = load();
  std::atomic<bool> ends{false};
  std::thread other([&] {
    while (!ends)
      load();
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20); // a lock that no thread of the child holds would block it
      const int before = countObjects();
      const Loaded loaded = load();
      _exit(before >= 1 && countObjects() == before + 1 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "child " << i << ": " << status;
  }
  ends = true;
  other.join();
  EXPECT_EQ(countObjects(), 1);
}

TEST(PlaceSectionsTest, BytesThatAreNoObjectStay) {
  const std::string whole = test::readTestObject();
  for (size_t size = 0; size < whole.size(); size += 61) {
    std::string cut = whole.substr(0, size);
    const void *places[] = {whole.data()};
    placeSections(cut, places);
    EXPECT_EQ(cut, whole.substr(0, size)) << size;
  }
}

TEST(JitDumpTest, ChildOfAForkBeginsItsOwn) {
  const std::string directory = testing::TempDir() + "quern-jitdump-" + std::to_string(getpid());
  std::filesystem::create_directory(directory);
  const auto files = [&] {
    const auto all = std::filesystem::recursive_directory_iterator(directory);
    return std::count_if(begin(all), end(all), [](const auto &entry) { return entry.is_regular_file(); });
  };
  const char code[] = "\xc3";
  const ProfiledCode function{reinterpret_cast<uint64_t>(code), 1, "kernel"};
  JitDump dump;
  dump.open(directory, "quern");
  dump.write(function);
  EXPECT_EQ(files(), 1);
  const pid_t child = fork();
  if (child == 0) {
    dump.open(directory, "quern");
    dump.write(function);
    _exit(files() == 2 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  dump.open(directory, "quern"); // is already open
  EXPECT_EQ(files(), 2);
  std::filesystem::remove_all(directory);
}

} // namespace
} // namespace quern
