//===- Overheads.cpp - Costs in addition to the kernel's time -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Measurements of creations check with quern_primitive_get_info() that the kernel has the origin that the row names.
//
//===----------------------------------------------------------------------===//
#include "Overheads.h"

#include "Api.h"
#include "Cache/Pack.h"
#include "Child.h"
#include "CodeSize.h"
#include "Family/Family.h"
#include "FamilyPack.h"
#include "Problems/ProblemKind.h"
#include "Processes.h"
#include "TemporaryFolder.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <optional>
#include <unistd.h>

namespace quern::bench {

namespace {

constexpr const char *tinyProblem = "softmax fwd_i alg=accurate src=f32:1x16:ab dst=f32:1x16:ab axis=1";

/// Returns nanoseconds per call; each sample is the mean of a thousand calls.
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
    throw std::runtime_error("the origin of a kernel is not the measured one: " + std::to_string(info.origin));
}

/// Evicts all kernels from the memory cache.
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

/// Measurements of one problem.
struct Compilation {
  BenchProblem problem;
  PromisedBounds bounds;
  Overhead coldCompile;
  double codeKib;
  std::optional<Overhead> call;
};

/// Times calls on one thread, including the kernel.
Samples timeWholeCalls(const Engine &engine, const BenchProblem &problem) {
  check(quern_set_num_threads(1));
  Stream stream = createStream(engine);
  BoundKernel kernel(engine, problem);
  kernel.fill(engine, problem);
  return timeCalls([&] { kernel.run(stream); });
}

/// Measures the compilation of a problem, the size of its code, and an execution. The compiler must be warm.
Compilation measureCompilation(const Engine &engine, const BenchProblem &problem) {
  PrimitiveDesc desc = createPrimitiveDesc(engine, problem.verified.desc.text());
  Samples samples = timeCreation(desc, quern_origin_compiled, 7);
  Primitive primitive = createPrimitive(desc);
  quern_primitive_info_t info;
  check(quern_primitive_get_info(primitive.get(), &info));
  PromisedBounds bounds = problem.kind().bounds(problem, info.plan ? info.plan : "");
  Compilation found{problem, bounds, summarize("cold compile, " + problem.title(), "ms", samples, bounds.compileMs),
                    static_cast<double>(codeBytesOf(problem.verified.desc.text())) / 1024, std::nullopt};
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
    if (BenchProblem problem = BenchProblem::parse(line); !problem.verified.isNoop)
      found.push_back(measureCompilation(engine, problem));
  return found;
}

/// Returns the rows that summarize all problems of one primitive, from their medians and code sizes.
std::vector<Overhead> summarizeKind(const ProblemKind &kind, const std::vector<Compilation> &compilations) {
  Samples compileNs, codeKib, callNs;
  PromisedBounds bounds;
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

/// Returns the kernel of a problem for a machine with this one's instruction set and other caches.
std::string artifactForOtherCaches(const char *line) {
  return compileFor(line, std::string(Target::host().name()) + ":l1=31,l2=1000,l3=30000");
}

/// Returns a pack with this artifact, and 3,000 unused ones for each of three targets: its own, this machine's and a
/// smaller one.
std::string makeFullPack(const std::string &wanted) {
  Result<Artifact> artifact = Artifact::parse(wanted);
  if (!artifact)
    throw std::runtime_error(artifact.error().message);
  std::vector<std::string> artifacts = {wanted};
  for (const std::string &target : {artifact->target, Target::host().text(), Target().text()})
    for (int i = 0; i < 3000; ++i) {
      artifact->target = target;
      artifact->keyBytes = target + std::to_string(i);
      artifact->code = "x";
      artifacts.push_back(artifact->serialize());
    }
  Result<std::string> pack = writePack({artifacts.begin(), artifacts.end()});
  if (!pack)
    throw std::runtime_error(pack.error().message);
  return *pack;
}

/// Returns the times to create a primitive from a kernel in a pack, and their excess over the median time to create it
/// from the same bytes as a blob, without a search. The kernel is found for the second of the searched targets.
std::pair<Samples, Samples> timePackHits(const Engine &engine) {
  const PrimitiveDesc desc = createPrimitiveDesc(engine, firstProblem);
  const std::string blob = artifactForOtherCaches(firstProblem), pack = makeFullPack(blob);
  check(quern_add_pack_data(pack.data(), pack.size()));
  Samples hits = timeCreation(desc, quern_origin_pack, 301), blobs;
  for (int run = 0; run < 301; ++run) {
    quern_primitive_t made = nullptr;
    clearMemoryCache();
    blobs.push_back(elapsedNs([&] {
      check(quern_primitive_create_from_cache_blob(&made, desc.get(), blob.size(),
                                                   reinterpret_cast<const uint8_t *>(blob.data())));
    }));
    check(quern_primitive_destroy(made));
  }
  check(quern_remove_pack_data(pack.data()));
  std::sort(blobs.begin(), blobs.end());
  Samples beyond = hits;
  for (double &sample : beyond)
    sample -= blobs[blobs.size() / 2];
  return {hits, beyond};
}

/// Times descriptor, primitive and first execution for new shapes, with the family's kernel in a pack and with the
/// specialization thread running.
Samples timeNewShapes(const Engine &engine) {
  const auto lineOf = [](int rows, int columns) {
    const std::string tensor = "=f32:" + std::to_string(rows) + "x" + std::to_string(columns) + ":ab ";
    return "softmax fwd_i src" + tensor + "dst" + tensor + "axis=1";
  };
  const Target &host = Target::host();
  const std::optional<Family> family = familyOf(BenchProblem::parse(lineOf(8, 100)).verified, host);
  if (!family)
    throw std::runtime_error("a softmax along rows has no family");
  const std::string artifact = compileFor(family->problem.desc.text(), host.text());
  const Result<std::string> pack = writePack({artifact});
  if (!pack)
    throw std::runtime_error(pack.error().message);
  check(quern_add_pack_data(pack->data(), pack->size()));
  check(quern_set_num_threads(1));
  const Stream stream = createStream(engine);
  Samples samples;
  std::vector<float> data(16 * 1024);
  for (int i = 0; i < 1000; ++i) {
    const std::string line = lineOf(1 + i % 16, 20 + i);
    Primitive primitive;
    samples.push_back(elapsedNs([&] {
      const PrimitiveDesc desc = createPrimitiveDesc(engine, line);
      primitive = createPrimitive(desc);
      const_quern_memory_desc_t md = quern_primitive_desc_query_md(desc.get(), quern_query_src_md, 0);
      quern_memory_t memory = nullptr;
      check(quern_memory_create(&memory, md, engine.get(), data.data()));
      const Memory owner(memory);
      const quern_exec_arg_t arguments[] = {{QUERN_ARG_SRC, memory}, {QUERN_ARG_DST, memory}};
      check(quern_primitive_execute(primitive.get(), stream.get(), 2, arguments));
    }));
    requireOrigin(primitive, quern_origin_family);
  }
  check(quern_remove_pack_data(pack->data()));
  return samples;
}

Samples timeMemoryHits(const Engine &engine) {
  PrimitiveDesc desc = createPrimitiveDesc(engine, firstProblem);
  Primitive keep = createPrimitive(desc);
  requireOrigin(createPrimitive(desc), quern_origin_memory);
  return timeCalls([&] { createPrimitive(desc); });
}

/// Times creation from memory descriptors to a primitive, including verification.
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

/// Times creation of a primitive from the text of a function in MLIR; a comment pads the text to `bytes`.
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

/// Times quern_primitive_execute() minus a direct call of the same kernel.
Samples timeExecution(const Engine &engine, std::optional<quern_origin_t> origin = std::nullopt) {
  check(quern_set_num_threads(1));
  Stream stream = createStream(engine);
  BoundKernel kernel(engine, BenchProblem::parse(tinyProblem));
  if (origin)
    requireOrigin(kernel.primitive, *origin);
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

/// Like timeExecution(), for a primitive that started with the kernel of its family.
Samples timePromotedExecution(const Engine &engine) {
  const Result<std::unique_ptr<FamilyPack>> pack =
      FamilyPack::of(BenchProblem::parse(tinyProblem).verified, Target::host());
  if (!pack || !*pack)
    throw std::runtime_error("the tiny problem has no family");
  clearMemoryCache();
  return timeExecution(engine, quern_origin_family);
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
  const auto [packHits, beyondBlobs] = timePackHits(engine);
  found.push_back(summarize("pack hit", "µs", packHits, 100));
  found.push_back(summarize("pack hit, beyond a cache blob", "µs", beyondBlobs, 0));
  found.push_back(
      summarize("new shape of a family: descriptor, primitive, first execution", "µs", timeNewShapes(engine), 40));
  found.push_back(summarize("memory hit, descriptor at hand", "µs", timeMemoryHits(engine), 1));
  found.push_back(summarize("memory hit, verification and key included", "µs", timeDescriptorAndMemoryHits(engine), 0));
  found.push_back(summarize("memory hit of a function in MLIR, 0.3 KiB", "µs", timeFunctionHits(engine, 0), 1));
  found.push_back(summarize("memory hit of a function in MLIR, 64 KiB", "µs", timeFunctionHits(engine, 65536), 33));
  found.push_back(summarize("execute, beyond the kernel", "ns", timeExecution(engine), 150));
  found.push_back(
      summarize("execute, beyond the kernel, specialized after its family's", "ns", timePromotedExecution(engine), 60));
  const ProcessStarts starts = measureProcessStarts(folder.path, cpu);
  found.push_back(summarize("process start to first result, nothing cached", "ms", starts.uncached, 30));
  found.push_back(summarize("process start to first result, disk cache warm", "ms", starts.onDisk, 8));
  found.push_back(summarize("process start to first result, installed families alone", "ms", starts.families, 4));
  found.push_back(summarize("process start, nothing computed", "ms", starts.nothing, 0));
  found.push_back(summarize("private memory of families beyond a kernel on disk", "KiB", starts.familiesKib, 2048));
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

} // namespace quern::bench
