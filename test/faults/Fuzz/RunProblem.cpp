//===- RunProblem.cpp - A problem run at both ends of guarded memory ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "RunProblem.h"

#include "Cases.h"
#include "ProblemData.h"

#include <algorithm>
#include <cstdlib>
#include <unistd.h>

namespace quern::fuzz {
namespace {

constexpr int64_t maxBytes = int64_t(4) << 20; ///< maximum bytes of all tensors of an executed problem
constexpr double maxWork = 1 << 19;            ///< maximum number of products or functions of the reference

double bytesOf(const ParsedProblem &problem) {
  double bytes = 0;
  for (const ArgumentInfo &info : problem.verified.arguments)
    bytes += static_cast<double>(std::max<int64_t>(info.desc.bytes(), 0));
  return bytes;
}

/// Estimates the number of operations of the reference.
double workOf(const PrimitiveDesc &desc, double bytes) {
  if (const auto *gemm = std::get_if<GemmDesc>(&desc.op))
    return static_cast<double>(gemm->dst.elements()) * static_cast<double>(gemm->src.dims[1]);
  if (const auto *rnn = std::get_if<Boxed<RnnDesc>>(&desc.op)) {
    const RnnDesc &op = **rnn;
    const auto steps = static_cast<double>(op.srcLayer.dims[0] * op.srcLayer.dims[1]);
    const double backward = isForward(op.prop) ? 1 : 4;
    return steps * backward * static_cast<double>(op.weightsLayer.elements() + op.weightsIter.elements());
  }
  return bytes * static_cast<double>(desc.attr.postOps.size() + 1);
}

/// Fails if the status is not one of a refusal.
void refuse(Input &input, const Error &error) {
  const bool isRefusal = error.status == Status::Unimplemented || error.status == Status::InvalidArguments;
  require(isRefusal, concat(toString(error.status), ": ", error.message));
  input.count(Refused);
}

DataOptions drawOptions(Random &random) {
  DataOptions options;
  drawData(random, options);
  return options;
}

/// Acts like a kernel with a fault, for the input with a planted fault.
void plantFault(Input &input, const ParsedProblem &problem, ProblemData &data) {
  const ArgumentInfo &argument = problem.verified.arguments.front();
  char *bytes = static_cast<char *>(data.buffer(argument.index));
  switch (input.plant) {
  case Plant::Read:
    input.note(std::string(1, *static_cast<volatile char *>(bytes + argument.desc.bytes())));
    break;
  case Plant::Result:
    for (const ArgumentInfo &output : problem.verified.arguments)
      if (output.isOutput && output.desc.bytes() > 0)
        *static_cast<char *>(data.buffer(output.index)) ^= 1;
    break;
  case Plant::Hang:
    pause();
    break;
  case Plant::Exit:
    _exit(3);
  case Plant::None:
    break;
  }
}

/// Executes on buffers guarded at `side` and returns the bytes of all outputs.
std::string execute(Input &input, const ParsedProblem &problem, Kernel &kernel, ProblemData &data, GuardedSide side) {
  input.note(concat("executes, guarded at the ", nameOf(side)));
  data.moveTo(side);
  Result<void> done = kernel.bind(data.buffers());
  data.refill();
  if (done)
    done = checked(quern_set_num_threads(static_cast<int>(input.random.between(1, 3))));
  if (done)
    done = kernel.execute();
  require(bool(done), done ? "" : concat(toString(done.error().status), ": ", done.error().message));
  if (side == GuardedSide::End)
    plantFault(input, problem, data);
  const std::string stray = data.strayWrites();
  require(stray.empty(), stray);
  return data.outputBytes();
}

void executeAndCompare(Input &input, const DrawnLine &drawn, const ParsedProblem &problem, Kernel &kernel) {
  DataOptions options = drawOptions(input.random);
  Result<ProblemData> data = ProblemData::create(problem, options);
  if (!data)
    return refuse(input, data.error());
  Result<void> done = data->addScratchpad(kernel);
  require(bool(done), done ? "" : done.error().message);
  const bool isJudged = drawn.hasUsualNumbers && workOf(problem.desc(), bytesOf(problem)) <= maxWork;
  if (isJudged) {
    input.note(concat("quern run '", drawn.line, "' --check --data=", nameOf(options.fill), " --seed=", options.seed));
    done = data->computeExpected();
    require(bool(done), done ? "" : done.error().message);
  }
  const std::string atEnd = execute(input, problem, kernel, *data, GuardedSide::End);
  if (isJudged) {
    const ReferenceOutput *judged = nullptr;
    const Verdict verdict = data->judgeOutputs(&judged);
    require(verdict.isRight, verdict.isRight ? "" : verdict.describe(judged->desc));
    input.count(Judged);
    input.pass();
  }
  const std::string atBeginning = execute(input, problem, kernel, *data, GuardedSide::Beginning);
  require(atEnd == atBeginning, "results differ between buffers that end and buffers that begin at a page");
  input.count(Executed);
  input.pass();
}

} // namespace

void runProblem(Input &input, const DrawnLine &drawn) {
  const bool isOpen = drawn.line.find('?') != std::string::npos;
  Result<std::string> sized = isOpen ? withSizes(drawn.line, drawn.sizes) : Result<std::string>(drawn.line);
  Result<ParsedProblem> problem =
      sized ? readProblem(*sized, input.device.target()) : Result<ParsedProblem>(sized.takeError());
  if (!problem)
    return refuse(input, problem.error());
  const double bytes = bytesOf(*problem);
  if (bytes > static_cast<double>(maxBytes) && !input.random.oneIn(8))
    return input.count(Refused);
  input.note("creates");
  Result<Kernel> kernel = Kernel::create(input.device, drawn.line);
  if (!kernel)
    return refuse(input, kernel.error());
  input.count(Created);
  if (bytes <= static_cast<double>(maxBytes))
    executeAndCompare(input, drawn, *problem, *kernel);
}

} // namespace quern::fuzz
