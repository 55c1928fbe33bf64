//===- WorkingDirectory.cpp - A library that is loaded by a relative path -===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Opens libquern by a path relative to the working directory and changes to a folder that has libraries and a program
// with the same names. Checks that none of those run: for a compiled kernel, for a compiler process, and for a variable
// with a relative path, which must be refused.
//
// FAULTS: working-directory-library: library
// FAULTS: working-directory-process: process
// FAULTS: working-directory-variable: variable
//
//===----------------------------------------------------------------------===//
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace fs = std::filesystem;

static int failed(const char *what) {
  std::printf("FAILED: %s\n", what);
  return 1;
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "";
  const char *path = std::getenv("QUERN_LIBRARY");
  const fs::path start = fs::current_path(), other = start / "other";
  fs::create_directories(other / "lib");
  for (const fs::path &folder : {other, other / "lib"})
    for (const char *name : {"libquern-compiler.so.0", "libquern-remote.so.0", "quern-compiler-process"}) {
      std::ofstream(folder / name) << "#!/bin/sh\ntouch " << (start / "foreign").string() << "\n";
      fs::permissions(folder / name, fs::perms::owner_all);
    }
  fs::create_directory_symlink(fs::path(path).parent_path(), start / "lib");
  if (!std::strcmp(mode, "process"))
    setenv("QUERN_COMPILER", "process", 1);
  if (!std::strcmp(mode, "variable"))
    setenv("QUERN_COMPILER_LIBRARY", "lib/libquern-compiler.so.0", 1);

  void *library = dlopen("lib/libquern.so.0", RTLD_NOW);
  if (!library || chdir(other.c_str()) != 0)
    return failed(library ? "chdir" : dlerror());
  const auto call = [&](const char *name) { return dlsym(library, name); };
  void *engine, *desc, *primitive;
  int status = reinterpret_cast<int (*)(void **, int, size_t)>(call("quern_engine_create"))(&engine, 1, 0);
  if (!status)
    status = reinterpret_cast<int (*)(void **, void *, const char *)>(call("quern_primitive_desc_create_from_text"))(
        &desc, engine, "softmax fwd_i src=f32:8x23:ab dst=f32:8x23:ab axis=1");
  if (!status)
    status = reinterpret_cast<int (*)(void **, void *)>(call("quern_primitive_create"))(&primitive, desc);
  const char *message = reinterpret_cast<const char *(*)()>(call("quern_get_last_error_message"))();
  if (fs::exists(start / "foreign"))
    return failed("a program of the working directory ran");
  if (!std::strcmp(mode, "variable"))
    return status == 2 && std::strstr(message, "absolute path") ? 0 : failed(message);
  return status ? failed(message) : 0;
}
