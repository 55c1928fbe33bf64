//===- QuernContestant.cpp - Quern itself ---------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Quern through its public C interface, as a user would call it.
//
//===----------------------------------------------------------------------===//
#include "Api.h"
#include "Contestant.h"

#include <cstring>
#include <optional>

namespace quern::bench {

namespace {

class Quern : public Contestant {
public:
  explicit Quern(int threads) : threads(threads), engine(createEngine()), stream(createStream(engine)) {
    check(quern_set_num_threads(threads));
  }

  void prepare(const Problem &problem) override {
    kernel.reset();
    kernel.emplace(engine, problem.line);
    bytes = problem.bytesOf(problem.dst);
    fillTensor(dataOf(kernel->src), problem.bytesOf(problem.src), problem.src.type);
  }

  void run(int64_t calls) override {
    for (int64_t call = 0; call < calls; ++call)
      kernel->run(stream);
    check(quern_stream_wait(stream.get()));
  }

  std::string result(int count) override {
    check(quern_set_num_threads(count));
    std::memset(dataOf(kernel->dst), 0xff, static_cast<size_t>(bytes));
    run(1);
    check(quern_set_num_threads(threads));
    return {dataOf(kernel->dst), static_cast<size_t>(bytes)};
  }

private:
  int threads;
  Engine engine;
  Stream stream;
  std::optional<Kernel> kernel;
  int64_t bytes = 0;
};

} // namespace

std::unique_ptr<Contestant> createQuern(int threads) { return std::make_unique<Quern>(threads); }

} // namespace quern::bench
