//===- ExecutablePages.cpp - Pages must not become executable -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// ExecutablePages mdwe|filter|nothing LINKER: forbids executable pages like PR_SET_MDWE, like the filter of systemd's
// MemoryDenyWriteExecute=yes, or completely; then compiles a kernel and loads it from the disk. Checks that the kernels
// run, or that a status states the reason; that no file is lost; and that nothing is printed.
//
// FAULTS: executable-pages-mdwe limit=60: mdwe
// FAULTS: executable-pages-mdwe-loader limit=60: QUERN_LINKER=loader mdwe
// FAULTS: executable-pages-mdwe-orc limit=60: QUERN_LINKER=orc mdwe
// FAULTS: executable-pages-filter limit=60: filter
// FAULTS: executable-pages-nothing limit=60: nothing
//
//===----------------------------------------------------------------------===//
#include "Execution.h"

#include "quern/quern_cache.h"

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace quern::faults;

static const char *const line = "softmax fwd_i src=f32:37x53:ab dst=f32:37x53:ab axis=1";
static constexpr int setMdwe = 65, refuseExecGain = 1; // PR_SET_MDWE and its argument, since Linux 6.3

/// Makes mprotect() with PROT_EXEC fail, and with `isEvery` also such mmap() calls.
static void filter(bool isEvery) {
  constexpr auto number = offsetof(seccomp_data, nr), protection = offsetof(seccomp_data, args) + 2 * sizeof(uint64_t);
  const unsigned other = isEvery ? SYS_mmap : SYS_mprotect;
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number),
                        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 1, 0),
                        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, other, 0, 3),
                        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, protection),
                        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{std::size(code), code};
  require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0,
          "no filter can be set");
}

static std::string outputsOf(const Cpu &cpu, quern_status_t &status) {
  Execution execution;
  require(execution.describe(cpu.engine, line), "describe");
  status = execution.create();
  if (status != quern_success)
    return quern_get_last_error_message();
  require(execution.bind(), "bind");
  execution.fill();
  require(execution.run(cpu.stream), "run");
  return execution.outputs();
}

static size_t filesInCache() {
  size_t count = 0;
  for (const auto &entry : std::filesystem::directory_iterator(std::getenv("QUERN_CACHE_DIR")))
    count += entry.path().extension() == ".qk";
  return count;
}

int main(int argc, char **argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const Cpu cpu;
  quern_status_t status;
  const std::string expected = outputsOf(cpu, status); // loads the compiler, whose own pages are executable
  require(status == quern_success && filesInCache() == 1, "the first kernel: " + expected);

  const int printed = open("printed", O_RDWR | O_CREAT | O_TRUNC, 0600), before = dup(STDERR_FILENO);
  dup2(printed, STDERR_FILENO);
  if (mode == "mdwe" && prctl(setMdwe, refuseExecGain, 0, 0, 0) != 0)
    skip("the kernel does not have PR_SET_MDWE");
  if (mode != "mdwe")
    filter(/*isEvery=*/mode == "nothing");
  for (const char *round : {"from the disk", "compiled"}) {
    require(quern_set_primitive_cache_capacity_bytes(0), "capacity");
    if (round[0] == 'c')
      require(quern_set_disk_cache(""), "no disk");
    const std::string found = outputsOf(cpu, status);
    if (mode == "nothing")
      require(status == quern_unimplemented && found.find("executable pages") != std::string::npos,
              std::string(round) + ": " + quern_status_name(status) + ": " + found);
    else
      require(status == quern_success && found == expected, std::string(round) + ": " + found);
  }
  dup2(before, STDERR_FILENO);
  struct stat info;
  fstat(printed, &info);
  require(info.st_size == 0, "the library printed something");
  require(filesInCache() == 1, "the file of the cache is gone");
}
