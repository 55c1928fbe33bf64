//===- Overheads.cpp - What is paid beside the kernel's own time ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each measurement checks by the library's own word (quern_primitive_get_info) that what it timed is what it names.
//
//===----------------------------------------------------------------------===//
#include "Overheads.h"

#include "Api.h"
#include "Child.h"
#include "CodeSize.h"
#include "Problems/ProblemKind.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <optional>
#include <unistd.h>

namespace quern::bench {

namespace {

constexpr const char *firstProblem = "softmax fwd_i alg=accurate src=f32:256x1000:ab dst=f32:256x1000:ab axis=1";
constexpr const char *tinyProblem = "softmax fwd_i alg=accurate src=f32:1x16:ab dst=f32:1x16:ab axis=1";
constexpr int processRuns = 31;

using Samples = std::vector<double>;

double elapsedNs(const std::function<void()> &action) {
  auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

/// Nanoseconds a call, each sample the mean of a thousand.
Samples timeCalls(const std::function<void()> &action) {
  constexpr int count = 1000;
  Samples samples;
  for (int sample = 0; sample < 51; ++sample)
    samples.push_back(elapsedNs([&] {
                        for (int call = 0; call < count; ++call)
                          action();
                      }) /
                      count);
  return samples;
}

Overhead summarize(const std::string &name, const std::string &unit, Samples ns, double bound) {
  double scale = unit == "ms" ? 1e6 : unit == "µs" ? 1e3 : 1;
  std::sort(ns.begin(), ns.end());
  return {name, unit, ns.front() / scale, ns[ns.size() / 2] / scale, ns.back() / scale, bound};
}

void requireOrigin(const Primitive &primitive, quern_origin_t origin) {
  quern_primitive_info_t info;
  check(quern_primitive_get_info(primitive.get(), &info));
  if (info.origin != origin)
    throw std::runtime_error("a kernel came from elsewhere than was to be measured: origin " +
                             std::to_string(info.origin));
}

/// A folder that goes with the object.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "quern-bench-XXXXXX").string();
    if (!mkdtemp(pattern.data()))
      throw std::runtime_error("cannot make a temporary folder like " + pattern);
    path = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string path;
};

/// Evicts everything.
void clearMemoryCache() {
  int capacity = 0;
  check(quern_get_primitive_cache_capacity(&capacity));
  check(quern_set_primitive_cache_capacity(0));
  check(quern_set_primitive_cache_capacity(capacity));
}

Samples timeCreation(const PrimitiveDesc &desc, quern_origin_t origin, int count) {
  Samples samples;
  for (int run = 0; run < count; ++run) {
    clearMemoryCache();
    Primitive primitive;
    samples.push_back(elapsedNs([&] { primitive = createPrimitive(desc); }));
    requireOrigin(primitive, origin);
  }
  return samples;
}

/// What was measured of one problem.
struct Compilation {
  Problem problem;
  Bounds bounds;
  Overhead coldCompile;
  double codeKib;
  std::optional<Overhead> call;
};

/// Of a call on one thread, the kernel included.
Samples timeWholeCalls(const Engine &engine, const Problem &problem) {
  check(quern_set_num_threads(1));
  Stream stream = createStream(engine);
  Kernel kernel(engine, problem);
  kernel.fill(engine, problem);
  return timeCalls([&] { kernel.run(stream); });
}

/// The compiler has compiled something before.
Compilation measureCompilation(const Engine &engine, const Problem &problem) {
  PrimitiveDesc desc = createPrimitiveDesc(engine, problem.line);
  Samples samples = timeCreation(desc, quern_origin_compiled, 7);
  Primitive primitive = createPrimitive(desc);
  quern_primitive_info_t info;
  check(quern_primitive_get_info(primitive.get(), &info));
  Bounds bounds = problem.kind().bounds(problem, info.plan ? info.plan : "");
  Compilation found{problem, bounds, summarize("cold compile, " + problem.title(), "ms", samples, bounds.compileMs),
                    static_cast<double>(codeBytesOf(problem.line)) / 1024, std::nullopt};
  if (bounds.executeNs > 0)
    found.call = summarize("execute, kernel included, " + problem.title(), "ns", timeWholeCalls(engine, problem),
                           bounds.executeNs);
  return found;
}

std::vector<Compilation> measureCompilations(const Engine &engine, const std::vector<std::string> &lines) {
  check(quern_set_disk_cache(nullptr));
  createPrimitive(createPrimitiveDesc(engine, tinyProblem));
  std::vector<Compilation> found;
  for (const std::string &line : lines)
    if (Problem problem = Problem::parse(line); !problem.verified.isNoop)
      found.push_back(measureCompilation(engine, problem));
  return found;
}

/// Rows over all problems of one primitive; those of compilation are made of the problems' medians.
std::vector<Overhead> summarizeKind(const ProblemKind &kind, const std::vector<Compilation> &compilations) {
  Samples compileNs, codeKib, callNs;
  Bounds bounds;
  for (const Compilation &one : compilations) {
    if (&one.problem.kind() != &kind)
      continue;
    compileNs.push_back(one.coldCompile.median * 1e6);
    codeKib.push_back(one.codeKib);
    if (one.call)
      callNs.push_back(one.call->median);
    bounds.codeKib = one.bounds.codeKib;
    bounds.compileMs = std::max(bounds.compileMs, one.bounds.compileMs);
    bounds.executeNs = std::max(bounds.executeNs, one.bounds.executeNs);
  }
  std::vector<Overhead> rows;
  if (!compileNs.empty()) {
    rows.push_back(
        summarize(kind.name() + ": cold compile, compiler warm, over the problems", "ms", compileNs, bounds.compileMs));
    rows.push_back(summarize(kind.name() + ": code and constants, over the problems", "KiB", codeKib, bounds.codeKib));
  }
  if (!callNs.empty())
    rows.push_back(
        summarize(kind.name() + ": execute, kernel included, over the tiny problems", "ns", callNs, bounds.executeNs));
  return rows;
}

Samples timeDiskHits(const Engine &engine, const TemporaryFolder &folder) {
  check(quern_set_disk_cache(folder.path.c_str()));
  PrimitiveDesc desc = createPrimitiveDesc(engine, firstProblem);
  clearMemoryCache();
  createPrimitive(desc);
  Samples samples = timeCreation(desc, quern_origin_disk, 101);
  check(quern_set_disk_cache(nullptr));
  return samples;
}

Samples timeMemoryHits(const Engine &engine) {
  PrimitiveDesc desc = createPrimitiveDesc(engine, firstProblem);
  Primitive keep = createPrimitive(desc);
  requireOrigin(createPrimitive(desc), quern_origin_memory);
  return timeCalls([&] { createPrimitive(desc); });
}

/// From memory descriptors to a primitive: verification included.
Samples timeDescriptorAndMemoryHits(const Engine &engine) {
  PrimitiveDesc desc = createPrimitiveDesc(engine, firstProblem);
  Primitive keep = createPrimitive(desc);
  const_quern_memory_desc_t md = quern_primitive_desc_query_md(desc.get(), quern_query_src_md, 0);
  return timeCalls([&] {
    quern_primitive_desc_t again;
    check(quern_softmax_forward_primitive_desc_create(&again, engine.get(), quern_forward_inference,
                                                      quern_softmax_accurate, md, md, 1, nullptr));
    createPrimitive(PrimitiveDesc(again));
  });
}

/// From the bytes of a function in MLIR to a primitive; a comment makes them as many.
Samples timeFunctionHits(const Engine &engine, size_t bytes) {
  std::string module = "func.func @f(%x: tensor<1x16xf32>) -> tensor<1x16xf32> {\n"
                       "  %e = tensor.empty() : tensor<1x16xf32>\n"
                       "  %y = linalg.exp ins(%x : tensor<1x16xf32>) outs(%e : tensor<1x16xf32>) -> tensor<1x16xf32>\n"
                       "  return %y : tensor<1x16xf32>\n}\n//";
  module.resize(std::max(module.size(), bytes), '-');
  const auto make = [&] {
    quern_primitive_desc_t desc;
    check(quern_primitive_desc_create_from_mlir(&desc, engine.get(), module.data(), module.size(), nullptr, nullptr));
    return createPrimitive(PrimitiveDesc(desc));
  };
  Primitive keep = make();
  requireOrigin(make(), quern_origin_memory);
  return timeCalls([&] { make(); });
}

/// quern_primitive_execute() less the same kernel called as a function.
Samples timeExecution(const Engine &engine) {
  check(quern_set_num_threads(1));
  Stream stream = createStream(engine);
  Kernel kernel(engine, Problem::parse(tinyProblem));
  void *buffers[2];
  for (int i = 0; i < 2; ++i)
    buffers[i] = dataOf(kernel.memories[i]);
  const quern_launch_data_t data = {buffers, nullptr, nullptr};
  size_t scratchBytes = 0, sharedBytes = 0;
  check(quern_primitive_get_launch_memory(kernel.primitive.get(), &data, &scratchBytes, &sharedBytes));
  std::vector<quern_launch_call_t> calls;
  const auto keep = [](void *list, const quern_launch_call_t *call) {
    static_cast<std::vector<quern_launch_call_t> *>(list)->push_back(*call);
    return quern_success;
  };
  check(quern_primitive_visit_launch(kernel.primitive.get(), &data, keep, &calls));
  if (calls.size() != 1 || calls[0].args.buffers != buffers || scratchBytes || sharedBytes)
    throw std::runtime_error("the tiny problem was expected to be one call on its arguments, without scratch");
  Samples direct = timeCalls([&] { calls[0].function(&calls[0].args, 0, calls[0].iterations); });
  Samples executed = timeCalls([&] { kernel.run(stream); });
  double kernelNs = *std::min_element(direct.begin(), direct.end());
  for (double &sample : executed)
    sample -= kernelNs;
  return executed;
}

Samples timeProcesses(const std::string &what, const std::string &cacheFolder, int cpu, int count) {
  Samples samples;
  for (int run = 0; run < count; ++run) {
    std::unique_ptr<Child> child; // its end is not part of the time
    std::string reply;
    samples.push_back(elapsedNs([&] {
      child = std::make_unique<Child>(
          std::vector<std::string>{"/proc/self/exe", "--serve=" + what}, std::vector<int>{cpu},
          std::map<std::string, std::string>{{"QUERN_CACHE_DIR", cacheFolder}, {"QUERN_NUM_THREADS", "1"}});
      reply = child->readLine();
    }));
    if (reply != "ok")
      throw std::runtime_error(reply);
  }
  return samples;
}

} // namespace

std::vector<Overhead> measureOverheads(const std::vector<std::string> &lines, int cpu) {
  Affinity pinned({cpu});
  TemporaryFolder folder;
  Engine engine = createEngine();
  std::vector<Compilation> compilations = measureCompilations(engine, lines);
  std::vector<Overhead> found;
  for (const ProblemKind *kind : {softmaxKind(), reorderKind(), rnnKind()}) {
    std::vector<Overhead> rows = summarizeKind(*kind, compilations);
    found.insert(found.end(), rows.begin(), rows.end());
  }
  found.push_back(summarize("disk hit", "µs", timeDiskHits(engine, folder), 100));
  found.push_back(summarize("memory hit, descriptor at hand", "µs", timeMemoryHits(engine), 1));
  found.push_back(summarize("memory hit, verification and key included", "µs", timeDescriptorAndMemoryHits(engine), 0));
  found.push_back(summarize("memory hit of a function in MLIR, 0.3 KiB", "µs", timeFunctionHits(engine, 0), 1));
  found.push_back(summarize("memory hit of a function in MLIR, 64 KiB", "µs", timeFunctionHits(engine, 65536), 33));
  found.push_back(summarize("execute, beyond the kernel", "ns", timeExecution(engine), 150));
  found.push_back(summarize("process start to first result, nothing cached", "ms",
                            timeProcesses("first-result", "off", cpu, processRuns), 60));
  found.push_back(summarize("process start to first result, disk cache warm", "ms",
                            timeProcesses("first-result", folder.path, cpu, processRuns), 8));
  found.push_back(
      summarize("process start, nothing computed", "ms", timeProcesses("nothing", "off", cpu, processRuns), 0));
  for (const Compilation &one : compilations) {
    if (one.call)
      found.push_back(*one.call);
    found.push_back(one.coldCompile);
  }
  return found;
}

std::string describeOverheads(const std::vector<Overhead> &overheads) {
  std::string text = "| overhead | minimum | median | maximum | bound |\n|---|---|---|---|---|\n";
  for (const Overhead &overhead : overheads) {
    char line[256];
    const char *unit = overhead.unit.c_str();
    std::snprintf(line, sizeof(line), "| %s | %.2f %s | %.2f %s | %.2f %s |", overhead.name.c_str(), overhead.minimum,
                  unit, overhead.median, unit, overhead.maximum, unit);
    text += line;
    std::snprintf(line, sizeof(line), " %g %s |\n", overhead.bound, unit);
    text += overhead.bound > 0 ? line : " – |\n";
  }
  return text;
}

int serveFirstResult() {
  try {
    Engine engine = createEngine();
    Stream stream = createStream(engine);
    Kernel(engine, Problem::parse(firstProblem)).run(stream);
    std::puts("ok");
  } catch (const std::exception &error) {
    std::puts(error.what());
  }
  std::fflush(stdout);
  return 0;
}

int serveNothing() {
  std::puts("ok");
  std::fflush(stdout);
  return 0;
}

} // namespace quern::bench
