//===- Sampler.h - Samples of a thread, 10,000 per second -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TOOL_SAMPLER_H
#define QUERN_TOOL_SAMPLER_H

#include "Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace quern {

/// Samples the calling thread by perf_event_open: by CPU cycles, or by the thread's clock if the system provides no
/// cycle counter.
class Sampler {
public:
  /// Creates a sampler of the calling thread. Fails with `unimplemented` and a reason if the system forbids sampling.
  static Result<Sampler> open();
  Sampler(Sampler &&other) noexcept;
  Sampler &operator=(Sampler &&) = delete;
  ~Sampler();

  /// Returns "cycles" or "cpu-clock".
  const std::string &event() const { return name; }
  void start();
  void stop();
  /// Appends the instruction addresses sampled since the last call. Must be called before about 10,000 samples
  /// accumulate.
  void take(std::vector<uint64_t> &addresses);

private:
  Sampler(int file, void *ring, const char *name) : file(file), ring(ring), name(name) {}
  int file;
  void *ring;
  std::string name;
};

} // namespace quern

#endif // QUERN_TOOL_SAMPLER_H
