//===- Main.cpp - quern-fuzz ---------------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Fuzzes the text form or the C API on guarded memory.
//
//===----------------------------------------------------------------------===//
#include "Fuzzers.h"
#include "Options.h"

#include <map>

using namespace quern;

int main(int argc, char **argv) {
  fuzz::Options options;
  std::string fuzzer, plant = "none";
  const std::map<std::string, fuzz::Plant> plants = {{"none", fuzz::Plant::None},
                                                     {"read", fuzz::Plant::Read},
                                                     {"result", fuzz::Plant::Result},
                                                     {"hang", fuzz::Plant::Hang},
                                                     {"exit", fuzz::Plant::Exit}};
  CommandLine program("Runs random inputs for the library in child processes, with every buffer next to an "
                      "inaccessible page. The exit status is 1 if an input fails");
  program.option("fuzzer", fuzzer, "text: random problem lines; api: random calls of the C API")
      .choices({"text", "api"})
      .required();
  program.option("--seed", options.seed, "Seed of the random generator").showDefault();
  program.option("--first", options.first, "Number of the first input").notNegative().showDefault();
  program.option("--count", options.count, "Number of inputs; 0: as many as --seconds allow")
      .notNegative()
      .showDefault();
  program.option("--seconds", options.seconds, "Time after which no new input is started").notNegative().showDefault();
  program.option("--limit", options.limit, "Time limit of an input").positive().showDefault();
  program.option("--plant", plant, "Fault that is added to some inputs, to show that it is reported")
      .choices({"none", "read", "result", "hang", "exit"})
      .showDefault();
  if (const std::optional<int> status = program.parse(argc, argv))
    return *status;
  options.plant = plants.at(plant);
  return fuzz::run(fuzzer, options, fuzzer == "text" ? fuzz::fuzzText : fuzz::fuzzApi);
}
