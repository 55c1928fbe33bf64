// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the instruction sets that a process may be limited to, each in a separate process: the status of the setter,
// the effective level, that it cannot be changed once it is in use, and a softmax.
//
// REQUIRES: onednn-3.13, avx2
// UNSUPPORTED: emulated
// RUN: %both --tolerance=1e-5 %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "values.hpp"

#include "oneapi/dnnl/dnnl_debug.h"

#include <cstdlib>
#include <spawn.h>
#include <sys/wait.h>

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

extern char **environ;

static void show(const char *name, dnnl_status_t status) { std::printf("%s: %s\n", name, dnnl_status2str(status)); }

static int work(dnnl_cpu_isa_t isa) {
  show("prefer ymm", dnnl_set_cpu_isa_hints(dnnl_cpu_isa_prefer_ymm));
  show("once only", dnnl_set_cpu_isa_hints(dnnl_cpu_isa_no_hints));
  show(dnnl_cpu_isa2str(isa), dnnl_set_max_cpu_isa(isa));
  if (isa == dnnl_cpu_isa_avx2)
    show("once only", dnnl_set_max_cpu_isa(dnnl_cpu_isa_sse41));
  engine eng(engine::kind::cpu, 0);
  stream strm(eng);
  const memory::desc rows({3, 37}, type::f32, tag::ab);
  memory data = makeMemory(eng, rows, 1);
  softmax_forward::primitive_desc desc(eng, prop_kind::forward_inference, algorithm::softmax_accurate, rows, rows, 1);
  softmax_forward(desc).execute(strm, {{DNNL_ARG_SRC, data}, {DNNL_ARG_DST, data}});
  strm.wait();
  print("softmax", read<float>(data));
  std::printf("effective %s\n", dnnl_cpu_isa2str(dnnl_get_effective_cpu_isa()));
  show("too late", dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx2));
  std::printf("hints %s\n", dnnl_cpu_isa_hints2str(dnnl_get_cpu_isa_hints()));
  return 0;
}

static void run(char *program, int isa) {
  char number[16];
  std::snprintf(number, sizeof(number), "%d", isa);
  char *arguments[] = {program, number, nullptr};
  pid_t child = 0;
  int status = -1;
  std::fflush(stdout);
  if (posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments, environ) == 0)
    waitpid(child, &status, 0);
  std::printf("status %d\n", status);
}

int main(int count, char **arguments) {
  if (count > 1)
    return work(static_cast<dnnl_cpu_isa_t>(std::atoi(arguments[1])));
  for (int isa : {int(dnnl_cpu_isa_default), int(dnnl_cpu_isa_sse41), int(dnnl_cpu_isa_avx2),
                  int(dnnl_cpu_isa_avx512_core), 0x7777})
    run(arguments[0], isa);
  return 0;
}
