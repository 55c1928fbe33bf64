//===- Comparison.h - Contestants measured side by side -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every contestant has a process of its own on the same CPUs, and they take turns several times, so that a drift of the
// machine meets all of them. Whose turn it is not is stopped: some runtimes spin while they wait. Ratios are only ever
// taken between numbers of one comparison.
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

struct Measurement {
  std::vector<double> ns; ///< of each sample, in order; empty if refused
  std::string refusal;    ///< why, where `ns` is empty
  std::string kernel;     ///< what the implementation calls what it ran

  bool done() const { return !ns.empty(); }
  double minimum() const;
  double median() const;
  /// oneDNN's reference code: right, and never meant to be fast.
  bool isReference() const { return kernel.starts_with("ref") || kernel.starts_with("simple"); }
};

struct Row {
  Problem problem;
  std::map<std::string, Measurement> results; ///< by contestant
  bool sameBits = true;                       ///< Quern's result for every number of threads tried
};

struct Settings {
  int threads = 1;
  bool onDevice = false;          ///< Quern runs on the first Level Zero device, and devices tell their time
  int runs = 40;                  ///< samples of each contestant and problem
  std::vector<int> cpus;          ///< as many as threads
  std::vector<std::string> peers; ///< of peerNames; and baselineName, if `baseline` is given
  std::string peersFolder;        ///< where tools/peers.sh put them
  std::string driversFolder;      ///< of the Python drivers
  std::string levelZeroDriver;    ///< of the tests, over OpenCL
  std::string baseline;           ///< quern-bench of another build of Quern; empty: none
};

/// Beside a function in MLIR: what Quern has as a primitive for the same.
inline constexpr const char *primitiveName = "primitive";
/// The kernel of the problem's family: every size is open.
inline constexpr const char *familyName = "family";
/// These, and what tools/peers.sh can install.
inline const std::vector<std::string> peerNames = {"onednn-3.13", "onednn-3.2",   "onnxruntime", "jax",     "torch",
                                                   "iree",        "intel-opencl", primitiveName, familyName};
/// Names of the contestant that is always there, and of the one that is unless it is a device that is measured.
inline constexpr const char *quernName = "quern", *copyName = "copy";
inline constexpr const char *openClName = "intel-opencl";
/// Another build of Quern.
inline constexpr const char *baselineName = "baseline";

/// How the process of a contestant is started.
struct Start {
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;
};
Start startOf(const std::string &name, const Settings &settings);
/// The times of a reply to `run`. Throws std::runtime_error with the reason that it holds instead.
std::vector<double> parseTimes(const std::string &reply);

class Comparison {
public:
  /// Starts the processes. Throws std::runtime_error naming a peer that does not start.
  explicit Comparison(const Settings &settings);
  ~Comparison();
  Row measure(const Problem &problem);

private:
  /// Asks one contestant while the others are stopped.
  std::string ask(const std::string &name, const std::string &request);
  Measurement prepare(const std::string &name, const Problem &problem);
  /// Quern's result with several numbers of threads; a device has as many as it has.
  bool sameBits();

  Settings settings;
  std::vector<std::string> order;
  std::map<std::string, std::unique_ptr<Child>> children;
};

} // namespace quern::bench

#endif // QUERN_BENCH_COMPARISON_H
