//===- OneDnnContestant.cpp - The genuine oneDNN --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Its buffers are like those of the other contestants (Contestant.h), even with its SYCL build, which accepts host
// memory.
//
//===----------------------------------------------------------------------===//
#include "Contestant.h"

#include "OneDnn.h"
#include "OneDnnFunction.h"

#include <stdexcept>

namespace quern::bench {

namespace {

template <typename T> T orThrow(Result<T> &&result) {
  if (!result)
    throw std::runtime_error(result.error().message);
  if constexpr (!std::is_void_v<T>)
    return std::move(*result);
}

class OneDnnContestant : public Contestant {
public:
  explicit OneDnnContestant(const std::string &path) : library(orThrow(OneDnn::open(path))) {}

  std::string prepare(const BenchProblem &problem) override {
    primitive.reset();
    function = OneDnnFunction::create(*library, problem.equivalent);
    if (function)
      return function->implementation();
    if (!problem.module.file.empty() && problem.equivalent.empty())
      throw std::runtime_error("no primitive for it");
    primitive = orThrow(library->create(
        problem.module.file.empty() ? problem.verified : BenchProblem::parse(problem.equivalent).verified));
    orThrow(primitive->allocate([](const ArgumentInfo &argument, char *data) { fillArgument(data, argument); }));
    return primitive->implementation();
  }

  void run(int64_t calls) override { function ? function->execute(calls) : orThrow(primitive->execute(calls)); }

private:
  std::unique_ptr<OneDnn> library;
  std::unique_ptr<OneDnnPrimitive> primitive;
  std::unique_ptr<OneDnnFunction> function; ///< used instead of a primitive
};

} // namespace

std::unique_ptr<Contestant> createOneDnn(const std::string &libraryPath) {
  return std::make_unique<OneDnnContestant>(libraryPath);
}

} // namespace quern::bench
