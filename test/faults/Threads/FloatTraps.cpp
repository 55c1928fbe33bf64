//===- FloatTraps.cpp - Callers with floating-point traps -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Checks that the compiler is loaded and runs in the default floating-point environment, on the caller's thread and on
// another one, and that the caller's environment is unchanged afterwards.
//
// FAULTS: float-traps-large: large
// FAULTS: float-traps-small: small
//
//===----------------------------------------------------------------------===//
#include "Execution.h"

#include "quern/quern_cache.h"

#include <cfenv>
#include <cstring>
#include <pthread.h>

using namespace quern::faults;

namespace {

const char *const line = "softmax fwd_i alg=log src=f32:37x53:ab dst=f32:37x53:ab axis=1";

void *work(void *) {
  const Cpu cpu;
  std::string expected, blobs[2];
  for (int round = 0; round < 2; ++round) {
    Execution execution;
    require(execution.describe(cpu.engine, line), "describe");
    if (round == 0) { // the compiler is loaded here
      feenableexcept(FE_ALL_EXCEPT);
      std::fesetround(FE_TOWARDZERO);
    }
    std::fenv_t before, after;
    std::fegetenv(&before);
    const quern_status_t status = execution.create();
    std::fegetenv(&after);
    const int traps = fegetexcept(), rounding = std::fegetround();
    std::fesetenv(FE_DFL_ENV);
    require(status, "create");
    if (round == 0) {
      require(traps == FE_ALL_EXCEPT && rounding == FE_TOWARDZERO, "another environment after the call");
      require(std::memcmp(&before, &after, sizeof(before)) == 0, "other flags after the call");
      require(quern_set_primitive_cache_capacity(0), "capacity"); // the second kernel is compiled again
    }
    size_t size = 0;
    require(quern_primitive_get_cache_blob(execution.handle(), &size, nullptr), "blob");
    blobs[round].resize(size);
    require(quern_primitive_get_cache_blob(execution.handle(), &size, reinterpret_cast<uint8_t *>(blobs[round].data())),
            "blob");
  }
  require(blobs[0] == blobs[1], "another kernel");
  return nullptr;
}

} // namespace

int main(int, char **argv) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  require(quern_set_disk_cache(""), "no disk cache");
  pthread_attr_setstacksize(&attributes, argv[1] && std::strcmp(argv[1], "small") == 0 ? 64 << 10 : 8 << 20);
  pthread_t thread;
  require(pthread_create(&thread, &attributes, work, nullptr) == 0, "pthread_create");
  pthread_join(thread, nullptr);
}
