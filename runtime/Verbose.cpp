//===- Verbose.cpp - Lines on standard output, when asked for -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each line is one write, so that lines of several threads do not mix.
//
//===----------------------------------------------------------------------===//
#include "Verbose.h"

#include "Primitive.h"

#include <cstdio>
#include <cstdlib>

namespace quern {
namespace {

void printLine(const char *event, const std::string &detail, const VerifiedProblem &verified, const std::string &text, int64_t ns) {
  char time[32];
  std::snprintf(time, sizeof(time), "%.6g", static_cast<double>(ns) * 1e-6);
  const std::string line =
      concat("quern,", event, ",", detail, ",", nameOf(verified.desc.kind()), ",", verified.implementation, ",", text, ",", time, "\n");
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

const char *nameOfOrigin(quern_origin_t origin) {
  constexpr const char *names[] = {"compiled", "disk", "memory", "blob", "none"};
  return names[origin];
}

} // namespace

int detail::readVerbose() {
  const char *text = std::getenv("QUERN_VERBOSE");
  int level = text && text[0] >= '0' && text[0] <= '2' && !text[1] ? text[0] - '0' : 0;
  int unread = -1;
  verbose.compare_exchange_strong(unread, level, std::memory_order_relaxed);
  return verbose.load(std::memory_order_relaxed);
}

void printCreated(const Primitive &primitive) {
  const quern_primitive_info_t info = primitive.info();
  printLine("create", nameOfOrigin(info.origin), primitive.problem().verified(), primitive.problem().text(), info.create_ns);
}

void printCompiled(const VerifiedProblem &problem, const std::string &stages, int64_t ns) {
  printLine("compile", stages, problem, problem.desc.text(), ns);
}

void printExecuted(const Primitive &primitive, int64_t ns) {
  printLine("exec", "cpu", primitive.problem().verified(), primitive.problem().text(), ns);
}

} // namespace quern
