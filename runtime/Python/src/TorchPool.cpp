//===- TorchPool.cpp - PyTorch's threads ----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "TorchPool.h"

#include "CompiledKernel.h"

#include "quern/quern_threadpool.h"
#include "quern/quern_threadpool_iface.hpp"

#include <dlfcn.h>

namespace quern::python {
namespace {

// Signatures of torch/csrc/stable/c/shim.h; 0 is success.
using ParallelFunction = void (*)(int64_t begin, int64_t end, void *context);
using ParallelFor = int32_t (*)(int64_t begin, int64_t end, int64_t grain, ParallelFunction function, void *context);
using GetNumThreads = int32_t (*)(uint32_t *count);

struct Closures {
  const std::function<void(int, int)> *function;
  int count;
};

void runRange(int64_t begin, int64_t end, void *context) {
  const auto *closures = static_cast<const Closures *>(context);
  for (int64_t item = begin; item < end; ++item)
    (*closures->function)(static_cast<int>(item), closures->count);
}

class TorchPool final : public threadpool_interop::threadpool_iface {
public:
  TorchPool(ParallelFor parallelFor, GetNumThreads getNumThreads)
      : parallelFor(parallelFor), getNumThreads(getNumThreads) {}

  int get_num_threads() const override {
    uint32_t count = 1;
    return getNumThreads(&count) == 0 && count > 0 ? static_cast<int>(count) : 1;
  }
  /// Inside a parallel region of PyTorch, its parallel_for runs only on the calling thread.
  bool get_in_parallel() const override { return false; }
  uint64_t get_flags() const override { return 0; }
  void wait() override {}
  void parallel_for(int n, const std::function<void(int, int)> &fn) override {
    Closures closures{&fn, n};
    // It fails only if a closure throws, and none does.
    if (n <= 1 || parallelFor(0, n, 1, runRange, &closures) != 0)
      runRange(0, n, &closures);
  }

private:
  ParallelFor parallelFor;
  GetNumThreads getNumThreads;
};

quern_stream_t makeStream() {
  void *library = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
  if (!library)
    return cpuStream();
  const auto parallelFor = reinterpret_cast<ParallelFor>(dlsym(library, "torch_parallel_for"));
  const auto getNumThreads = reinterpret_cast<GetNumThreads>(dlsym(library, "torch_get_num_threads"));
  if (!parallelFor || !getNumThreads)
    return cpuStream();
  // Never destroyed, like the engine.
  auto *pool = new TorchPool(parallelFor, getNumThreads);
  quern_stream_t stream = nullptr;
  check(quern_threadpool_interop_stream_create(&stream, cpuEngine(), pool));
  return stream;
}

} // namespace

quern_stream_t torchStream() {
  static quern_stream_t stream = makeStream();
  return stream;
}

} // namespace quern::python
