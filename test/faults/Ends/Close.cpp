//===- Close.cpp - Unloading of the libraries -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Close LIBRARY: opens a library at run time, three times, executes a problem with it on the library's threads, and
// closes it while threads exist that have executed. Then these threads end, and finally the process.
//
// The rows of the table in docs/embedding.md:
//
// FAULTS: close-libquern short=2 full=340: libquern.so.0
// FAULTS: close-dropin short=2 full=340: quern-dnnl/libdnnl.so.3
//
//===----------------------------------------------------------------------===//
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <thread>
#include <unistd.h>

static void *library;

static void require(bool holds, const std::string &what) {
  if (holds)
    return;
  std::printf("FAILED: %s\n", what.c_str());
  std::exit(1);
}

/// A function of libquern, which the drop-in has loaded as well.
template <typename... Parameters> static int call(const char *name, Parameters... parameters) {
  auto *function = reinterpret_cast<int (*)(Parameters...)>(dlsym(library, name));
  require(function, name);
  return function(parameters...);
}

struct Argument {
  int index;
  void *memory;
};

static void openAndClose(const std::string &path) {
  library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  require(library, path);
  void *engine = nullptr, *stream = nullptr, *desc = nullptr, *primitive = nullptr, *src = nullptr, *dst = nullptr;
  require(call("quern_engine_create", &engine, 1, size_t(0)) == 0, "quern_engine_create");
  require(call("quern_stream_create", &stream, engine, 1U) == 0, "quern_stream_create");
  const char *line = "softmax fwd_i src=f32:2048x1000:ab dst=f32:2048x1000:ab axis=1";
  require(call("quern_primitive_desc_create_from_text", &desc, engine, line) == 0, line);
  require(call("quern_primitive_create", &primitive, desc) == 0, "quern_primitive_create");
  auto *queryMd = reinterpret_cast<void *(*)(void *, int, int)>(dlsym(library, "quern_primitive_desc_query_md"));
  auto *const allocate = reinterpret_cast<void *>(~size_t(0)); // QUERN_MEMORY_ALLOCATE
  for (auto [memory, argument] : {std::pair(&src, 1), std::pair(&dst, 17)})
    require(call("quern_memory_create", memory, queryMd(desc, 255, argument), engine, allocate) == 0,
            "quern_memory_create");
  const Argument arguments[] = {{1, src}, {17, dst}};
  std::atomic<bool> hasRun{false}, mayEnd{false};
  std::thread other([&] {
    require(call("quern_primitive_execute", primitive, stream, 2, arguments) == 0, "quern_primitive_execute");
    hasRun = true;
    while (!mayEnd)
      usleep(100);
  });
  require(call("quern_primitive_execute", primitive, stream, 2, arguments) == 0, "quern_primitive_execute");
  while (!hasRun)
    usleep(100);
  for (void *memory : {src, dst})
    call("quern_memory_destroy", memory);
  call("quern_primitive_destroy", primitive);
  call("quern_primitive_desc_destroy", desc);
  call("quern_stream_destroy", stream);
  call("quern_engine_destroy", engine);
  require(dlclose(library) == 0, "dlclose");
  mayEnd = true;
  other.join();
}

int main(int, char **arguments) {
  const std::string path = std::string(std::getenv("QUERN_BUILD")) + "/lib/" + arguments[1];
  for (int i = 0; i < 3; ++i)
    openAndClose(path);
  return 0;
}
