//===- QuernContestant.cpp - Quern itself ---------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Runs Quern through its public C interface, like a user.
//
//===----------------------------------------------------------------------===//
#include "Api.h"
#include "Contestant.h"
#include "FamilyPack.h"

#include <cstring>
#include <numeric>
#include <optional>

namespace quern::bench {

namespace {

class Quern : public Contestant {
public:
  explicit Quern(int threads) : threads(threads), engine(createEngine()), stream(createStream(engine)) {
    check(quern_set_num_threads(threads));
  }

  std::string prepare(const BenchProblem &problem) override {
    kernel.reset();
    kernel.emplace(engine, problem);
    kernel->fill(engine, problem);
    output = 0;
    while (!problem.verified.arguments[output].isOutput)
      ++output;
    bytes = problem.verified.arguments[output].desc.bytes();
    return problem.verified.implementation;
  }

  void run(int64_t calls) override {
    for (int64_t call = 0; call < calls; ++call)
      kernel->run(stream);
    check(quern_stream_wait(stream.get()));
  }

  std::string result(int count) override {
    char *data = dataOf(kernel->memories[output]);
    check(quern_set_num_threads(count));
    std::memset(data, 0xff, static_cast<size_t>(bytes));
    run(1);
    check(quern_set_num_threads(threads));
    return {data, static_cast<size_t>(bytes)};
  }

protected:
  std::optional<BoundKernel> kernel;

private:
  int threads;
  Engine engine;
  Stream stream;
  size_t output = 0; ///< position of the output argument
  int64_t bytes = 0; ///< size of the output
};

class QuernPrimitive : public Quern {
public:
  using Quern::Quern;
  std::string prepare(const BenchProblem &problem) override {
    if (!quern::PrimitiveDesc::parse(problem.equivalent)) // there is none, or only oneDNN has it
      throw std::runtime_error("no primitive for it");
    return Quern::prepare(BenchProblem::parse(problem.equivalent));
  }
};

/// The kernel of the problem's family, in which every size is open. Its process runs with QUERN_TIERS=family.
class QuernFamily : public Quern {
public:
  using Quern::Quern;
  std::string prepare(const BenchProblem &problem) override {
    family.reset();
    Result<std::unique_ptr<FamilyPack>> found = FamilyPack::of(problem.verified, Target::host());
    if (!found)
      throw std::runtime_error(found.error().message);
    if (!*found)
      throw std::runtime_error("it has no family");
    family = std::move(*found);
    const std::string implementation = Quern::prepare(problem);
    quern_primitive_info_t info = {};
    check(quern_primitive_get_info(kernel->primitive.get(), &info));
    if (!info.is_family)
      throw std::runtime_error("its family's kernel does not run");
    return implementation;
  }

private:
  std::unique_ptr<FamilyPack> family; ///< in use until the next problem is prepared
};

class QuernDevice : public Contestant {
public:
  QuernDevice()
      : engine(createEngine(quern_gpu)), stream(createStream(engine, quern_stream_in_order | quern_stream_profiling)) {}

  std::string prepare(const BenchProblem &problem) override {
    kernel.reset();
    kernel.emplace(engine, problem);
    kernel->fill(engine, problem);
    const char *implementation = nullptr;
    check(quern_primitive_desc_query(kernel->desc.get(), quern_query_impl_info_str, 0, &implementation));
    return implementation;
  }

  void run(int64_t calls) override {
    check(quern_reset_profiling(stream.get()));
    // The stream runs them in order. A wait for each would wake a driver thread before the next one.
    for (int64_t call = 0; call < calls; ++call)
      kernel->run(stream);
    check(quern_stream_wait(stream.get()));
  }

  double time(int64_t calls) override {
    run(calls);
    int count = static_cast<int>(calls);
    std::vector<uint64_t> times(static_cast<size_t>(calls));
    check(quern_query_profiling_data(stream.get(), quern_profiling_data_kind_time, &count, times.data()));
    return std::accumulate(times.begin(), times.end(), 0.0);
  }

private:
  Engine engine;
  Stream stream;
  std::optional<BoundKernel> kernel;
};

} // namespace

std::unique_ptr<Contestant> createQuern(int threads) { return std::make_unique<Quern>(threads); }
std::unique_ptr<Contestant> createQuernPrimitive(int threads) { return std::make_unique<QuernPrimitive>(threads); }
std::unique_ptr<Contestant> createQuernFamily(int threads) { return std::make_unique<QuernFamily>(threads); }
std::unique_ptr<Contestant> createQuernDevice() { return std::make_unique<QuernDevice>(); }

} // namespace quern::bench
