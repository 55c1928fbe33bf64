//===- Contestant.cpp - Serving side of the protocol, and test data -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Times are measured here, in the contestant's process, in the same way for each.
//
//===----------------------------------------------------------------------===//
#include "Contestant.h"

#include "Reference/Elements.h"
#include "quern/quern_query.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <random>
#include <sstream>
#include <stdexcept>

namespace quern::bench {

namespace {

using Clock = std::chrono::steady_clock;

/// Time after which the scheduler has assigned each thread a separate CPU and the caches hold this contestant's data.
constexpr std::chrono::milliseconds warmUp{20};

std::string timeRuns(Contestant &contestant, int samples, int64_t calls) {
  Clock::time_point warm = Clock::now() + warmUp;
  do {
    contestant.run(calls);
  } while (Clock::now() < warm);
  std::ostringstream out;
  out << "ns";
  for (int sample = 0; sample < samples; ++sample) {
    const double elapsed = contestant.time(calls);
    out << ' ' << elapsed / static_cast<double>(calls);
  }
  return out.str();
}

/// FNV-1a. Hashes are only compared for equality.
std::string hashOf(const std::string &bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char byte : bytes)
    hash = (hash ^ byte) * 0x100000001b3;
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

std::string answer(Contestant &contestant, const std::string &request) {
  std::istringstream in(request);
  std::string verb;
  in >> verb;
  if (verb == "problem") {
    std::string kernel = contestant.prepare(BenchProblem::decode(request));
    contestant.run(1);
    return "ok " + kernel;
  }
  if (verb == "call") {
    std::string name;
    std::getline(in >> std::ws, name);
    contestant.prepareCall(name);
    return "ok";
  }
  if (verb == "run") {
    int samples = 1;
    int64_t calls = 1;
    in >> samples >> calls;
    return timeRuns(contestant, samples, calls);
  }
  if (verb == "bits") {
    int threads = 1;
    in >> threads;
    return "bits " + hashOf(contestant.result(threads));
  }
  return "no unknown request";
}

} // namespace

double Contestant::time(int64_t calls) {
  Clock::time_point start = Clock::now();
  run(calls);
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

int serve(Contestant &contestant) {
  for (std::string request; std::getline(std::cin, request) && request != "quit";) {
    std::string reply;
    try {
      reply = answer(contestant, request);
    } catch (const std::exception &error) {
      reply = std::string("no ") + error.what();
    }
    std::cout << reply << std::endl;
  }
  return 0;
}

GuardedBuffer makeBuffer(int64_t bytes) {
  GuardedBuffer buffer(bytes, {GuardedSide::End, 64});
  buffer.fillAll(0);
  return buffer;
}

/// Returns the standard deviation of an argument's random values. Floating-point weights of RNNs are divided by the
/// square root of the number of inputs, so that sums of products do not grow with that number. Larger sums would
/// saturate all gates and make states so small that multiplications take about a hundred cycles.
static double deviationOf(const ArgumentInfo &argument) {
  DataType type = argument.desc.dataType;
  if (bitsOf(type) == 8 && !isFloating(type))
    return 30;
  const bool isWeights = argument.name.starts_with("weights_") && argument.desc.ndims >= 4 && argument.desc.dims[2] > 0;
  return isWeights ? 1 / std::sqrt(static_cast<double>(argument.desc.dims[2])) : 2;
}

void fillArgument(char *data, const ArgumentInfo &argument) {
  // A period of 64 Ki values is cheap to generate and longer than any row for which it would matter.
  constexpr int64_t periodLength = 65536;
  DataType type = argument.desc.dataType;
  std::minstd_rand generator(1);
  std::normal_distribution<double> normal(0, deviationOf(argument));
  std::uniform_real_distribution<double> probability(0.001, 0.01), nearOne(0.5, 2);
  bool isResult = argument.index == QUERN_ARG_DST, isScale = argument.name.starts_with("scales.");
  std::vector<char> period(static_cast<size_t>(periodLength * bitsOf(type) / 8));
  for (int64_t i = 0; i < periodLength; ++i)
    storeElement(type, period.data(), i,
                 isResult  ? probability(generator)
                 : isScale ? nearOne(generator)
                           : normal(generator));
  int64_t bytes = argument.desc.bytes(), periodBytes = static_cast<int64_t>(period.size());
  for (int64_t at = 0; at < bytes; at += periodBytes)
    std::memcpy(data + at, period.data(), static_cast<size_t>(std::min(periodBytes, bytes - at)));
}

} // namespace quern::bench
