//===- Privileges.cpp - Programs with more rights than the user -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Gives a copy of this program a capability and runs it as another user, so that AT_SECURE is set. Checks that the
// library ignores the environment then: otherwise the user would choose the compiler of the program's machine code, the
// folder of kernels, and the output.
//
// FAULTS: privileges limit=60:
//
//===----------------------------------------------------------------------===//
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <linux/capability.h>
#include <string>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace fs = std::filesystem;

constexpr int skipped = 77;

static int skip(const char *reason) {
  std::printf("skipped: %s\n", reason);
  return skipped;
}

static int failed(const std::string &what) {
  std::printf("FAILED: %s\n", what.c_str());
  return 1;
}

/// Runs with privileges; `path` is the path of libquern.
static int inner(const char *path) {
  if (!getauxval(AT_SECURE))
    return skip("this file system gives programs no capabilities");
  void *library = dlopen(path, RTLD_NOW);
  if (!library)
    return failed(dlerror());
  const auto call = [&](const char *name) { return dlsym(library, name); };
  void *engine, *desc, *primitive;
  int status = reinterpret_cast<int (*)(void **, int, size_t)>(call("quern_engine_create"))(&engine, 1, 0);
  if (!status)
    status = reinterpret_cast<int (*)(void **, void *, const char *)>(call("quern_primitive_desc_create_from_text"))(
        &desc, engine, "softmax fwd_i src=f32:8x23:ab dst=f32:8x23:ab axis=1");
  if (!status)
    status = reinterpret_cast<int (*)(void **, void *)>(call("quern_primitive_create"))(&primitive, desc);
  const char *message = reinterpret_cast<const char *(*)()>(call("quern_get_last_error_message"))();
  return status ? failed(message) : 0;
}

static bool givePrivileges(const fs::path &program) {
  vfs_cap_data data{};
  data.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE;
  data.data[0].permitted = 1u << CAP_DAC_OVERRIDE;
  return setxattr(program.c_str(), "security.capability", &data, XATTR_CAPS_SZ_2, 0) == 0;
}

int main(int argc, char **argv) {
  if (argc > 1)
    return inner(argv[1]);
  if (geteuid() != 0)
    return skip("only root gives a program capabilities");
  const fs::path folder = fs::current_path(), program = folder / "privileged", output = folder / "output-of-child";
  fs::copy_file("/proc/self/exe", program);
  chmod(folder.c_str(), 0777);
  chmod(program.c_str(), 0755);
  if (!givePrivileges(program))
    return skip("this file system gives programs no capabilities");
  const char *library = std::getenv("QUERN_LIBRARY");
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    if (!freopen(output.c_str(), "w", stdout) || setgid(65534) != 0 || setuid(65534) != 0)
      _exit(2);
    setenv("QUERN_VERBOSE", "2", 1);
    setenv("QUERN_CACHE_DIR", (folder / "stored").c_str(), 1);
    for (const char *name : {"QUERN_COMPILER", "QUERN_LINKER", "QUERN_TIERS", "QUERN_COMPILER_LIBRARY",
                             "QUERN_COMPILER_PROCESS", "QUERN_COMPILER_MIB", "QUERN_PACKS", "QUERN_REMOTE_CACHE"})
      setenv(name, "nonsense", 1);
    execl(program.c_str(), program.c_str(), library, static_cast<char *>(nullptr));
    _exit(errno == EACCES ? skipped : 2);
  }
  int status = -1;
  waitpid(child, &status, 0);
  std::ifstream file(output);
  const std::string printed((std::istreambuf_iterator<char>(file)), {});
  std::fputs(printed.c_str(), stdout);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return WIFEXITED(status) && WEXITSTATUS(status) == skipped ? skip("another user cannot run or load it here") : 1;
  if (!printed.empty() || fs::exists(folder / "stored"))
    return failed("the environment was not ignored");
  return 0;
}
