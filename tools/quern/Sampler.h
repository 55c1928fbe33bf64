//===- Sampler.h - Where a thread is, ten thousand times a second ---------===//
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

/// Samples the calling thread by perf_event_open: by the CPU's cycles, or by its clock where the system gives no
/// counter.
class Sampler {
public:
  /// `unimplemented`, and why, where the system does not allow it.
  static Result<Sampler> open();
  Sampler(Sampler &&other) noexcept;
  Sampler &operator=(Sampler &&) = delete;
  ~Sampler();

  /// "cycles" or "cpu-clock".
  const std::string &event() const { return name; }
  void start();
  void stop();
  /// Addresses of instructions since the last time. To be called before some ten thousand are there.
  void take(std::vector<uint64_t> &addresses);

private:
  Sampler(int file, void *ring, const char *name) : file(file), ring(ring), name(name) {}
  int file;
  void *ring;
  std::string name;
};

} // namespace quern

#endif // QUERN_TOOL_SAMPLER_H
