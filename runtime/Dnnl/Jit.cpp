//===- Jit.cpp - Kernels for disassemblers and profilers ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// If dumping is on, each kernel that the process loads is written to the working directory as an object file,
// dnnl_dump_cpu_<primitive>.<number>.o. The profiling flags enable a perf map (/tmp/perf-<pid>.map) and a jitdump file
// (<dir>/.debug/jit/dnnl.XXXXXX/jit-<pid>.dump), from which `perf` gets the names of code generated at run time.
//
//===----------------------------------------------------------------------===//
#include "Debug/JitDump.h"
#include "Dnnl/Dropin.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <pthread.h>
#include <string>
#include <vector>

using namespace quern::dropin;
using quern::addToPerfMap;
using quern::JitDump;
using quern::jitDumpDirectory;
using quern::ProfiledCode;

namespace {

constexpr unsigned perfMap = 2, jitDump = 4; ///< DNNL_JIT_PROFILE_LINUX_PERFMAP and …_JITDUMP

/// Returns the end of the mapping that contains an address; the address itself if there is none.
uint64_t endOfMapping(uint64_t address) {
  uint64_t end = address;
  if (FILE *maps = std::fopen("/proc/self/maps", "r")) {
    char line[512];
    uint64_t first = 0, last = 0;
    while (end == address && std::fgets(line, sizeof(line), maps))
      if (std::sscanf(line, "%" SCNx64 "-%" SCNx64, &first, &last) == 2 && first <= address && address < last)
        end = last;
    std::fclose(maps);
  }
  return end;
}

/// Returns the functions of a primitive, named by the order of their first calls. Their sizes are unknown; each is
/// assumed to extend to the next one or to the end of the code.
std::vector<ProfiledCode> codeOf(const_quern_primitive_t primitive, const std::string &name) {
  std::vector<ProfiledCode> code;
  int count = 0;
  quern_primitive_info_t info{};
  if (quern_primitive_get_launch_counts(primitive, nullptr, nullptr, &count) != quern_success ||
      quern_primitive_get_info(primitive, &info) != quern_success)
    return code;
  for (int i = 0; i < count; ++i) {
    quern_kernel_fn function = nullptr;
    if (quern_primitive_get_launch_function(primitive, i, &function) == quern_success)
      code.push_back({reinterpret_cast<uint64_t>(function), 0, name + ".kernel" + std::to_string(i)});
  }
  std::sort(code.begin(), code.end(),
            [](const ProfiledCode &a, const ProfiledCode &b) { return a.address < b.address; });
  for (size_t i = 0; i < code.size(); ++i) {
    const uint64_t mapped = endOfMapping(code[i].address);
    const uint64_t end =
        i + 1 < code.size() ? code[i + 1].address : code[0].address + static_cast<uint64_t>(info.code_bytes);
    code[i].bytes = std::min(end, mapped) - code[i].address;
  }
  return code;
}

/// Settings of dumping and profiling, and the open files. The mutex guards all members.
struct Observer {
  std::mutex mutex;
  bool isDumping = false;
  unsigned flags = 0;
  std::string directory;
  JitDump dump;
  int dumped = 0;

  static Observer &process();

  void writeObject(const std::string &name, const char *line) {
    quern_blob_t blob = nullptr;
    const void *data = nullptr;
    size_t size = 0;
    if (quern_compile(line, nullptr, quern_form_object, &blob) != quern_success)
      return;
    quern_blob_get_data(blob, &data, &size);
    if (FILE *file = std::fopen((name + "." + std::to_string(dumped++) + ".o").c_str(), "w")) {
      std::fwrite(data, 1, size, file);
      std::fclose(file);
    }
    quern_blob_destroy(blob);
  }

  void note(const quern_event_t &event) {
    quern_primitive_kind_t kind = quern_undefined_primitive;
    const char *line = "";
    quern_primitive_desc_query(event.primitive_desc, quern_query_primitive_kind, 0, &kind);
    quern_primitive_desc_get_text(event.primitive_desc, &line);
    const std::string name = std::string("dnnl_dump_cpu_") + dnnl_prim_kind2str(kind);
    std::lock_guard lock(mutex);
    if (isDumping)
      writeObject(name, line);
    if (!(flags & (perfMap | jitDump)))
      return;
    const std::vector<ProfiledCode> functions =
        codeOf(event.primitive, std::string("quern_") + dnnl_prim_kind2str(kind));
    if (flags & perfMap)
      addToPerfMap(functions);
    if (flags & jitDump) {
      dump.open(directory, "dnnl");
      for (const ProfiledCode &function : functions)
        dump.write(function);
    }
  }

  static void onEvent(void *, const quern_event_t *event) {
    try {
      if (event->origin != quern_origin_memory && event->origin != quern_origin_none)
        process().note(*event);
    } catch (...) { // out of memory: the file lacks this kernel
    }
  }

  /// Returns true if anything is enabled. The caller holds the mutex.
  bool isWanted() const { return isDumping || (flags & (perfMap | jitDump)); }
};

// Created when the library is loaded, because otherwise a fork could happen while another thread creates it. Never
// destroyed, because threads may still run at exit.
Observer &observerOfProcess = []() -> Observer & {
  (void)pthread_atfork([] { Observer::process().mutex.lock(); }, [] { Observer::process().mutex.unlock(); },
                       [] { Observer::process().mutex.unlock(); });
  return *new Observer;
}();

Observer &Observer::process() { return observerOfProcess; }

/// Changes the settings, and registers the listener if anything is enabled. quern_set_listener() is called without the
/// mutex, because it waits for running listeners, which lock the mutex.
template <typename Change> quern_status_t change(Change &&apply) noexcept {
  try {
    Observer &observer = Observer::process();
    bool isWanted = false;
    {
      std::lock_guard lock(observer.mutex);
      apply(observer);
      isWanted = observer.isWanted();
    }
    return quern_set_listener(Observer::onEvent, nullptr, isWanted ? quern_event_create : 0);
  } catch (...) {
    return quern_out_of_memory;
  }
}

} // namespace

void quern::dropin::configureJit(int dump, int profile) noexcept {
  change([&](Observer &observer) {
    observer.isDumping = dump != 0;
    observer.flags = static_cast<unsigned>(profile);
    observer.directory = jitDumpDirectory();
  });
}

extern "C" {

QUERN_API quern_status_t dnnl_set_jit_dump(int enable) noexcept {
  readEnvironment();
  return change([&](Observer &observer) { observer.isDumping = enable != 0; });
}

/// Bits of other profilers are accepted and ignored.
QUERN_API quern_status_t dnnl_set_jit_profiling_flags(unsigned flags) noexcept {
  readEnvironment();
  return change([&](Observer &observer) { observer.flags = flags; });
}

/// Sets the directory of the jitdump file, which is opened for the next kernel. Null: JITDUMPDIR, else HOME.
QUERN_API quern_status_t dnnl_set_jit_profiling_jitdumpdir(const char *directory) noexcept {
  readEnvironment();
  return change([&](Observer &observer) { observer.directory = directory ? directory : jitDumpDirectory(); });
}

} // extern "C"
