//===- Sandbox.cpp - Limits of the compiler process -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Compilation/Sandbox.h"

#include <cerrno>
#include <cstddef>
#include <iterator>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace quern {
namespace {

#if defined(__x86_64__)
constexpr uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t architecture = AUDIT_ARCH_AARCH64;
#endif

constexpr int allowed[] = {
    // memory
    SYS_brk, SYS_munmap, SYS_mremap, SYS_madvise, SYS_getrandom,
    // descriptors of the process
    SYS_read, SYS_write, SYS_writev, SYS_sendto, SYS_recvfrom, SYS_ppoll, SYS_close, SYS_fstat, SYS_lseek,
#ifdef SYS_poll
    SYS_poll,
#endif
    // threads and time
    SYS_futex, SYS_set_robust_list, SYS_rseq, SYS_gettid, SYS_getpid, SYS_sched_yield, SYS_sched_getaffinity,
    SYS_clock_gettime, SYS_clock_nanosleep, SYS_nanosleep, SYS_getrusage, SYS_restart_syscall, SYS_sysinfo, SYS_uname,
    // signals and exit
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack, SYS_exit, SYS_exit_group};

/// Builds a seccomp filter, which the kernel runs for each system call.
class Filter {
public:
  Filter() {
    load(offsetof(seccomp_data, arch));
    unless(BPF_JEQ, architecture, SECCOMP_RET_KILL_PROCESS);
    load(offsetof(seccomp_data, nr));
#ifdef __x86_64__
    when(BPF_JGE, 0x40000000, SECCOMP_RET_KILL_PROCESS); // numbers of the x32 interface
#endif
  }
  void allow(int number) { when(BPF_JEQ, static_cast<uint32_t>(number), SECCOMP_RET_ALLOW); }
  void fail(int number, int error) {
    when(BPF_JEQ, static_cast<uint32_t>(number), SECCOMP_RET_ERRNO | static_cast<uint32_t>(error));
  }
  /// Allows a call if one of the bits is set in the lower half of an argument or, without `isSet`, if none is.
  void allowIfBits(int number, int argument, uint32_t bits, bool isSet) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(number), 0, 4);
    load(lowerHalfOf(argument));
    add(BPF_JMP | BPF_JSET | BPF_K, bits, isSet ? 0 : 1, isSet ? 1 : 0);
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM, 0, 0);
  }
  /// Allows a call if the lower half of an argument is `value`.
  void allowIfEqual(int number, int argument, uint32_t value) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(number), 0, 4);
    load(lowerHalfOf(argument));
    add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM, 0, 0);
  }
  bool install() {
    add(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM, 0, 0);
    const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
  }

private:
  static uint32_t lowerHalfOf(int argument) {
    return static_cast<uint32_t>(offsetof(seccomp_data, args) + static_cast<size_t>(argument) * sizeof(uint64_t));
  }
  void add(int operation, uint32_t value, int ifTrue, int ifFalse) {
    code.push_back(
        {static_cast<uint16_t>(operation), static_cast<uint8_t>(ifTrue), static_cast<uint8_t>(ifFalse), value});
  }
  void load(size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset), 0, 0); }
  void when(int condition, uint32_t value, uint32_t verdict) {
    add(BPF_JMP | condition | BPF_K, value, 0, 1);
    add(BPF_RET | BPF_K, verdict, 0, 0);
  }
  void unless(int condition, uint32_t value, uint32_t verdict) {
    add(BPF_JMP | condition | BPF_K, value, 1, 0);
    add(BPF_RET | BPF_K, verdict, 0, 0);
  }

  std::vector<sock_filter> code;
};

void setLimit(__rlimit_resource_t resource, rlim_t value) {
  const rlimit limit{value, value};
  (void)setrlimit(resource, &limit);
}

} // namespace

void limitProcess(uint64_t memoryMib) {
  (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  (void)prctl(PR_SET_DUMPABLE, 0);
  setLimit(RLIMIT_CORE, 0);
  setLimit(RLIMIT_FSIZE, 0);
  setLimit(RLIMIT_NOFILE, 16);
  if (memoryMib > 0)
    setLimit(RLIMIT_AS, memoryMib << 20);
}

void limitProcessorTime(uint64_t seconds) {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  rlimit limit{};
  (void)getrlimit(RLIMIT_CPU, &limit);
  limit.rlim_cur = static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1) + seconds;
  (void)setrlimit(RLIMIT_CPU, &limit);
}

bool forbidSystemCalls() {
  Filter filter;
  for (const int number : allowed)
    filter.allow(number);
  filter.fail(SYS_clone3, ENOSYS); // its flags are in memory; glibc then falls back to clone()
  filter.allowIfBits(SYS_clone, 0, CLONE_THREAD, /*isSet=*/true);
  filter.allowIfBits(SYS_mmap, 2, PROT_EXEC, /*isSet=*/false);
  filter.allowIfBits(SYS_mprotect, 2, PROT_EXEC, /*isSet=*/false);
  filter.allowIfEqual(SYS_tgkill, 0, static_cast<uint32_t>(getpid()));
  filter.allowIfEqual(SYS_prlimit64, 1, RLIMIT_CPU);
  return filter.install();
}

} // namespace quern
