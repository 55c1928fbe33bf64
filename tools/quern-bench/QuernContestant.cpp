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

  std::string prepare(const Problem &problem) override {
    kernel.reset();
    kernel.emplace(engine, problem);
    kernel->fill(problem);
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

private:
  int threads;
  Engine engine;
  Stream stream;
  std::optional<Kernel> kernel;
  size_t output = 0; ///< position of the argument
  int64_t bytes = 0; ///< of it
};

} // namespace

std::unique_ptr<Contestant> createQuern(int threads) { return std::make_unique<Quern>(threads); }

} // namespace quern::bench
