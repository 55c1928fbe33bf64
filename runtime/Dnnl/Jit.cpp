//===- Jit.cpp - Kernels for disassemblers and profilers ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// With dumping on, each kernel that enters the process is written to the working directory as an object
// file, dnnl_dump_cpu_<primitive>.<number>.o. The profiling flags ask for a perf map (/tmp/perf-<pid>.map)
// and for a jitdump file (<dir>/.debug/jit/dnnl.XXXXXX/jit-<pid>.dump), the two forms by which `perf` names
// code that was made at run time.
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

/// The end of the mapping that holds an address; the address itself if none does.
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

/// The functions of a primitive, numbered in the order in which they are first called. Where one ends is not known: at
/// the next one or with the code.
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

/// What was asked for. Each member is guarded by the mutex.
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
    } catch (...) { // no memory: the file has a kernel less
    }
  }

  /// With the mutex held.
  bool isWanted() const { return isDumping || (flags & (perfMap | jitDump)); }
};

// Created when the library is loaded, since a fork could find another thread creating it. Never destroyed, since
// threads may still run at exit.
Observer &observerOfProcess = []() -> Observer & {
  (void)pthread_atfork([] { Observer::process().mutex.lock(); }, [] { Observer::process().mutex.unlock(); },
                       [] { Observer::process().mutex.unlock(); });
  return *new Observer;
}();

Observer &Observer::process() { return observerOfProcess; }

/// Changes what is asked for and listens if anything is. The listener is set without the mutex, which it takes itself.
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

/// Bits that ask for other profilers are accepted and do nothing.
QUERN_API quern_status_t dnnl_set_jit_profiling_flags(unsigned flags) noexcept {
  readEnvironment();
  return change([&](Observer &observer) { observer.flags = flags; });
}

/// Null: JITDUMPDIR, else HOME. It is looked at when the first kernel after this is made.
QUERN_API quern_status_t dnnl_set_jit_profiling_jitdumpdir(const char *directory) noexcept {
  readEnvironment();
  return change([&](Observer &observer) { observer.directory = directory ? directory : jitDumpDirectory(); });
}

} // extern "C"
