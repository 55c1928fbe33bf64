//===- Bounds.cpp - Handwritten loops as bounds ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Cycles are measured over two hundred iterations after the first hundred, which fill the queues.
//
//===----------------------------------------------------------------------===//
#include "Model/Bounds.h"

#include "Problems/Problem.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace quern::bench {

namespace {

std::string trimmed(const std::string &text) {
  const size_t begin = text.find_first_not_of(' '), end = text.find_last_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

std::string textOf(const std::string &file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Returns the level and the levels that it includes, the largest first. SVE vectors of 128 bits are computed in NEON
/// registers.
std::vector<std::string> levelsBelow(const std::string &target) {
  const std::string level = target.substr(0, target.find(':'));
  if (level.starts_with("sve") && !target.ends_with("vl=128"))
    return {level, "sve"};
  std::vector<std::string> levels = {level};
  if (level.ends_with("_bf16"))
    levels.push_back("neon_bf16");
  if (level != "neon")
    levels.push_back("neon_dotprod");
  levels.push_back("neon");
  return levels;
}

double bytesOfVector(const std::string &target) {
  const size_t length = target.find("vl=");
  constexpr double neon = 16;
  return length == std::string::npos ? neon : std::stod(target.substr(length + 3)) / 8;
}

/// Returns the number after `key`; nothing if there is none.
std::optional<double> numberBehind(const std::string &text, const std::string &key) {
  const size_t place = text.find(key);
  return place == std::string::npos ? std::nullopt : std::optional(std::stod(text.substr(place + key.size())));
}

std::optional<double> totalCycles(const std::string &command) {
  FILE *pipe = ::popen(command.c_str(), "r");
  if (!pipe)
    throw std::runtime_error("cannot run " + command);
  std::string text;
  char piece[4096];
  while (const size_t size = std::fread(piece, 1, sizeof(piece), pipe))
    text.append(piece, size);
  const int status = ::pclose(pipe);
  constexpr int notFound = 127 << 8;
  if (status == notFound)
    throw std::runtime_error("llvm-mca is missing: " + command);
  return status == 0 ? numberBehind(text, "Total Cycles:") : std::nullopt;
}

} // namespace

std::vector<BoundedLoop> Bounds::loops() const {
  std::vector<BoundedLoop> loops;
  for (const std::string &line : readProblemFile(folder + "/loops.desc")) {
    const size_t first = line.find('|'), second = line.find('|', first + 1);
    if (second == std::string::npos)
      throw std::runtime_error("loops.desc: not NAME | STEP | PROBLEM: " + line);
    loops.push_back({trimmed(line.substr(0, first)), trimmed(line.substr(first + 1, second - first - 1)),
                     trimmed(line.substr(second + 1))});
  }
  return loops;
}

std::string Bounds::fileFor(const std::string &name, const std::string &target) const {
  for (const std::string &level : levelsBelow(target))
    if (std::string file = folder + "/" + level + "/" + name + ".s"; std::filesystem::exists(file))
      return file;
  return "";
}

std::optional<double> Bounds::cyclesOf(const std::string &file, const std::string &processor) const {
  constexpr int before = 100, iterations = 200;
  const std::string command =
      mca + " -mtriple=aarch64 -noalias -instruction-info=0 -resource-pressure=0 -mcpu=" + processor + " ";
  const auto cycles = [&](int count) {
    return totalCycles(command + "-iterations=" + std::to_string(count) + " '" + file + "' 2>/dev/null");
  };
  const std::optional<double> all = cycles(before + iterations), begin = cycles(before);
  return all && begin ? std::optional((*all - *begin) / iterations) : std::nullopt;
}

std::optional<double> Bounds::cyclesPerUnit(const std::string &name, const std::string &target,
                                            const std::string &processor) const {
  const std::string file = fileFor(name, target);
  if (file.empty())
    return std::nullopt;
  const std::string text = textOf(file);
  const double vector = bytesOfVector(target);
  std::optional<double> units = numberBehind(text, "reads:");
  if (!units)
    units = numberBehind(text, "multiplies:"); // flops of the loop in registers of 128 bits
  if (!units)
    throw std::runtime_error(file + " has neither reads: nor multiplies:");
  const bool isOfFlops = text.find("multiplies:") != std::string::npos;
  const std::optional<double> cycles = cyclesOf(file, processor);
  constexpr double granule = 16;
  return cycles ? std::optional(*cycles / (*units * (isOfFlops ? vector / granule : vector))) : std::nullopt;
}

} // namespace quern::bench
