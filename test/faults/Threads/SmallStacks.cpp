//===- SmallStacks.cpp - Threads with small stacks ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Checks that threads with stacks of 64 KiB can do everything: describe, create (compiled, from disk, from a pack),
// execute, explain and destroy. Measures the stack of an execution by filling the stack with a pattern before.
//
//   SmallStacks all         all of this for the problems below
//   SmallStacks limits      the same where no further thread can be created: a status instead of a compilation
//
// FAULTS: stack-all limit=120: all
// FAULTS: stack-limits: limits
//
//===----------------------------------------------------------------------===//
#include "NoThreads.h"

#include "quern/quern_cache.h"
#include "quern/quern_compile.h"
#include "quern/quern_info.h"
#include "quern/quern_mlir.h"
#include "quern/quern_pack.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <pthread.h>
#include <sys/mman.h>

using namespace quern::faults;

namespace {

constexpr size_t smallStack = 64 << 10, page = 4096;
constexpr unsigned char paint = 0x5a;

/// Runs a thread on memory between two inaccessible pages; returns the bytes of stack that were written below its
/// entry.
size_t onSmallStack(const std::function<void()> &work) {
  auto *memory =
      static_cast<unsigned char *>(mmap(nullptr, smallStack + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  require(memory != MAP_FAILED && mprotect(memory + page, smallStack, PROT_READ | PROT_WRITE) == 0, "mmap");
  unsigned char *const stack = memory + page;
  std::memset(stack, paint, smallStack);
  struct Job {
    const std::function<void()> &work;
    unsigned char *frame;
  } job{work, nullptr};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  require(pthread_attr_setstack(&attributes, stack, smallStack) == 0, "pthread_attr_setstack");
  pthread_t thread;
  const auto entry = [](void *context) -> void * {
    auto *given = static_cast<Job *>(context);
    given->frame = static_cast<unsigned char *>(__builtin_frame_address(0));
    given->work();
    return nullptr;
  };
  require(pthread_create(&thread, &attributes, entry, &job) == 0, "pthread_create");
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  size_t untouched = 0;
  while (untouched < smallStack && stack[untouched] == paint)
    ++untouched;
  const size_t used = static_cast<size_t>(job.frame - stack) - untouched;
  munmap(memory, smallStack + 2 * page);
  return used;
}

std::string sources(int count, const char *end) {
  std::string text = "concat srcs=";
  for (int i = 0; i < count; ++i)
    text += i ? ",f32:16x16:ab" : "f32:16x16:ab";
  return text + " dst=f32:16x" + std::to_string(16 * count) + ":ab axis=1" + end;
}

std::string sumOf(int count) {
  std::string text = "sum srcs=", scales;
  for (int i = 0; i < count; ++i) {
    text += i ? ",f32:16x16:ab" : "f32:16x16:ab";
    scales += i ? ",1" : "1";
  }
  return text + " dst=f32:16x16:ab scales=" + scales;
}

std::string binaries(int count) {
  std::string text = "eltwise fwd_i alg=relu src=f32:16x16:ab dst=f32:16x16:ab attr.post_ops=";
  for (int i = 0; i < count; ++i)
    text += i ? ",binary(alg=add,src1=f32:16x16:ab)" : "binary(alg=add,src1=f32:16x16:ab)";
  return text;
}

constexpr size_t maxOfExecution = 8 << 10; ///< bytes of stack

std::vector<std::string> problems() {
  return {
      "softmax fwd_i src=f32:8x16:ab dst=f32:8x16:ab axis=1",
      "softmax fwd_i src=f32:2048x1000:ab dst=f32:2048x1000:ab axis=1",
      "softmax bwd_d dst=f32:9x65:ab diff_src=f32:9x65:ab diff_dst=f32:9x65:ab axis=1",
      "reorder src=f32:33x17:ab dst=bf16:33x17:ba",
      "reorder src=f32:512x512:ab dst=f32:512x512:ba",
      "reorder src=bf16:999x1001:ab dst=f32:999x1001:ba",
      "eltwise fwd_i alg=gelu_erf src=f32:100000:a dst=f32:100000:a",
      sources(2, ""),
      sources(128, ""),
      sumOf(128),
      binaries(32),
      "rnn fwd_i cell=lstm direction=left2right src_layer=f32:5x16x64:tnc weights_layer=f32:1x1x64x4x64:ldigo "
      "weights_iter=f32:1x1x64x4x64:ldigo bias=f32:1x1x4x64:ldgo dst_layer=f32:5x16x64:tnc",
  };
}

const char *const training =
    "rnn bwd cell=lstm direction=left2right src_layer=f32:5x4x32:tnc weights_layer=f32:1x1x32x4x32:any "
    "weights_iter=f32:1x1x32x4x32:any bias=f32:1x1x4x32:ldgo dst_layer=f32:5x4x32:tnc diff_src_layer=f32:5x4x32:tnc "
    "diff_weights_layer=f32:1x1x32x4x32:any diff_weights_iter=f32:1x1x32x4x32:any diff_bias=f32:1x1x4x32:ldgo "
    "diff_dst_layer=f32:5x4x32:tnc";

const char *const functionText = R"(
func.func @twice(%a: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %e = tensor.empty() : tensor<8x16xf32>
  %r = linalg.add ins(%a, %a : tensor<8x16xf32>, tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}
)";

quern_origin_t originOf(const Execution &execution) {
  quern_primitive_info_t info;
  require(quern_primitive_get_info(execution.handle(), &info), "info");
  return info.origin;
}

/// Creates and runs a problem on small stacks; returns the bytes of stack that the execution used.
size_t runOne(const std::string &line, quern_origin_t origin) {
  std::unique_ptr<Cpu> cpu;
  std::unique_ptr<Execution> execution;
  onSmallStack([&] {
    cpu = std::make_unique<Cpu>();
    execution = std::make_unique<Execution>();
    require(execution->describe(cpu->engine, line), line);
    require(execution->create(), line);
    require(originOf(*execution) == origin,
            "origin " + std::to_string(originOf(*execution)) + " instead of " + std::to_string(origin) + ": " + line);
    require(execution->bind(), line);
    execution->fill();
  });
  size_t used = 0;
  for (int i = 0; i < 2; ++i)
    used = std::max(used, onSmallStack([&] { require(execution->run(cpu->stream), line); }));
  onSmallStack([&] {
    execution.reset();
    cpu.reset();
  });
  return used;
}

/// Writes a pack with the kernel of `line` to the folder of the disk cache and returns its path.
std::string buildPack(const std::string &line) {
  const std::string folder = std::getenv("QUERN_CACHE_DIR");
  const std::string lines = folder + "/problem.desc", pack = folder + "/problem.qpk";
  std::ofstream(lines) << line << '\n';
  require(std::system(("QUERN_CACHE_DIR=off " + std::string(std::getenv("QUERN")) + " pack build " + lines + " -o " +
                       pack + " > /dev/null")
                          .c_str()) == 0,
          "pack build");
  return pack;
}

void checkAll() {
  int failed = 0, passed = 0;
  require(quern_set_primitive_cache_capacity(0), "capacity");
  for (const std::string &problem : problems()) {
    size_t used = runOne(problem, quern_origin_compiled);
    used = std::max(used, runOne(problem, quern_origin_disk));
    std::printf("%6zu bytes of stack: %.60s\n", used, problem.c_str());
    ++(used <= maxOfExecution ? passed : failed);
  }
  const std::string packed = "softmax fwd_i src=f32:8x24:ab dst=f32:8x24:ab axis=1", pack = buildPack(packed);
  onSmallStack([&] { require(quern_add_pack(pack.c_str()), pack); });
  runOne(packed, quern_origin_pack);
  onSmallStack([&] {
    const Cpu cpu;
    Execution backward;
    require(backward.describe(cpu.engine, training), "describe");
    require(backward.create(), "create");
    quern_primitive_desc_t function = nullptr;
    quern_primitive_t twice = nullptr;
    require(quern_primitive_desc_create_from_mlir(&function, cpu.engine, functionText, std::strlen(functionText),
                                                  nullptr, nullptr),
            "a function in MLIR");
    require(quern_primitive_create(&twice, function), "a function in MLIR");
    quern_primitive_destroy(twice);
    quern_primitive_desc_destroy(function);
    quern_blob_t blob = nullptr;
    require(quern_explain(problems()[0].c_str(), nullptr, &blob), "explain");
    quern_blob_destroy(blob);
    require(quern_compile(problems()[0].c_str(), nullptr, quern_form_asm, &blob), "compile");
    quern_blob_destroy(blob);
  });
  std::printf("%d passed, %d failed\n", passed + 1, failed);
  std::exit(failed ? 1 : 0);
}

/// A small thread that cannot create another one must get a status; a large one compiles.
void checkLimits() {
  const Cpu cpu;
  std::string message;
  quern_status_t status = quern_success;
  onSmallStack([&] {
    forbidThreads();
    Execution execution;
    require(execution.describe(cpu.engine, problems()[0]), "describe");
    status = execution.create();
    message = quern_get_last_error_message();
  });
  require(status == quern_runtime_error && message.find("KiB of stack") != std::string::npos,
          std::string(quern_status_name(status)) + ": " + message);
  Execution large;
  large.all(cpu, problems()[1]);
}

} // namespace

int main(int argc, char **argv) {
  require(argc == 2, "usage: SmallStacks all|limits");
  if (std::strcmp(argv[1], "all") == 0)
    checkAll();
  else
    checkLimits();
}
