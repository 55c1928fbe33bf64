//===- Comparison.h - Comparison of contestants ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every contestant has a separate process on the same CPUs, and they alternate several times, so a drift of the machine
// affects all of them. The other processes are stopped in the meantime, because some runtimes spin while they wait.
// Ratios are only computed between numbers of one comparison.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_BENCH_COMPARISON_H
#define QUERN_BENCH_COMPARISON_H

#include "Problems/Problem.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace quern::bench {

class Child;

/// Number of times that contestants alternate.
inline constexpr int rounds = 5;

struct Measurement {
  std::vector<double> ns; ///< times of the samples, in order; empty if refused
  std::string refusal;    ///< reason if `ns` is empty
  std::string kernel;     ///< the implementation's name for the kernel that ran

  bool done() const { return !ns.empty(); }
  double minimum() const;
  double median() const;
  /// Returns true for oneDNN's reference code, which is correct and not optimized.
  bool isReference() const { return kernel.starts_with("ref") || kernel.starts_with("simple"); }
};

struct Row {
  BenchProblem problem;
  std::map<std::string, Measurement> results; ///< by contestant
  bool sameBits = true;                       ///< true if all tried numbers of threads give equal results
};

struct Settings {
  int threads = 1;
  bool onDevice = false;          ///< true if Quern runs on the first Level Zero device, and devices report their time
  int runs = 40;                  ///< samples for each contestant and problem
  std::vector<int> cpus;          ///< one per thread
  std::vector<std::string> peers; ///< names from peerNames; also baselineName if `baseline` is given
  std::string peersFolder;        ///< folder where tools/peers.sh installed them
  std::string driversFolder;      ///< folder of the Python drivers
  std::string levelZeroDriver;    ///< driver of the tests, which uses OpenCL
  std::string baseline;           ///< quern-bench of another build of Quern; empty: none
};

/// Contestant for functions in MLIR: the Quern primitive that computes the same.
inline constexpr const char *primitiveName = "primitive";
/// Contestant: the kernel of the problem's family, in which all sizes are open.
inline constexpr const char *familyName = "family";
/// These two, and the peers that tools/peers.sh can install.
inline const std::vector<std::string> peerNames = {"onednn-3.13", "onednn-3.2",   "onnxruntime", "jax",     "torch",
                                                   "iree",        "intel-opencl", primitiveName, familyName};
/// Names of the contestant that is always present, and of the copy, which is absent only if a device is measured.
inline constexpr const char *quernName = "quern", *copyName = "copy";
inline constexpr const char *openClName = "intel-opencl";
/// Contestant: another build of Quern.
inline constexpr const char *baselineName = "baseline";

/// Command and environment that start the process of a contestant.
struct Start {
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;
};
Start startOf(const std::string &name, const Settings &settings);
/// Returns the times in a reply to `run`. Throws std::runtime_error with the reason that the reply has instead.
std::vector<double> parseTimes(const std::string &reply);

class Comparison {
public:
  /// Starts the processes. Throws std::runtime_error with the name of a peer that does not start.
  explicit Comparison(const Settings &settings);
  ~Comparison();
  Row measure(const BenchProblem &problem);

private:
  /// Sends a request to one contestant while the others are stopped.
  std::string ask(const std::string &name, const std::string &request);
  Measurement prepare(const std::string &name, const BenchProblem &problem);
  /// Returns true if Quern's result does not depend on the number of threads. A device has only one configuration.
  bool sameBits();

  Settings settings;
  std::vector<std::string> order;
  std::map<std::string, std::unique_ptr<Child>> children;
};

} // namespace quern::bench

#endif // QUERN_BENCH_COMPARISON_H
