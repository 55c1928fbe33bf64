//===- Execution.h - A problem run by the C API on guarded buffers --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Shared by the programs of test/faults. Each step is one call of the C API and returns its status, so that a program
// can add a fault between any two steps. Uses only the public headers and guarded buffers.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_FAULTS_EXECUTION_H
#define QUERN_TEST_FAULTS_EXECUTION_H

#include "GuardedBuffer.h"
#include "quern/quern.h"
#include "quern/quern_text.h"

#include <string>
#include <vector>

namespace quern::faults {

/// Prints "FAILED: " and the message, and exits with status 1.
[[noreturn]] void fail(const std::string &message);
/// Prints "skipped: " and the reason, and exits with status 77, which the runner counts as skipped.
[[noreturn]] void skip(const std::string &reason);
/// Fails with the last message of this thread unless `status` is success. `what` names the call.
void require(quern_status_t status, const std::string &what);
/// Fails unless `holds`.
void require(bool holds, const std::string &message);

/// The CPU's engine with a stream in order.
struct Cpu {
  Cpu();
  ~Cpu();
  Cpu(const Cpu &) = delete;
  Cpu &operator=(const Cpu &) = delete;
  quern_engine_t engine = nullptr;
  quern_stream_t stream = nullptr;
};

/// A problem of one line: its descriptor, its primitive, and a guarded buffer for each argument. The steps are called
/// in the order of their declarations. The engine and the stream must outlive it.
class Execution {
public:
  Execution() = default;
  ~Execution();
  Execution(const Execution &) = delete;
  Execution &operator=(const Execution &) = delete;

  quern_status_t describe(quern_engine_t onEngine, const std::string &line);
  /// Copies a descriptor instead.
  quern_status_t copy(quern_engine_t onEngine, const_quern_primitive_desc_t existing);
  quern_status_t create();
  /// Allocates buffers with exactly the bytes of each argument. Returns quern_unimplemented if sizes are known only at
  /// execution, and quern_out_of_memory if an argument has more than `most` bytes.
  quern_status_t bind(const Placement &placement = {}, int64_t most = int64_t(1) << 26);
  /// Writes small f32 numbers drawn from the seed into inputs; outputs are filled with 0xFF.
  void fill(uint64_t seed = 1);
  /// Executes and waits.
  quern_status_t run(quern_stream_t stream);
  /// Runs all steps above. Fails the program if one of them fails.
  void all(const Cpu &cpu, const std::string &line, const Placement &placement = {});

  quern_primitive_desc_t descriptor() const { return desc; }
  quern_primitive_t handle() const { return primitive; }
  /// The arguments that run() passes.
  std::vector<quern_exec_arg_t> given() const;
  /// Returns the bytes of all outputs.
  std::string outputs() const;
  /// Returns the bytes of the largest tensor; usable before the primitive is created.
  int64_t largestArgument() const;
  /// Returns the argument and the byte at this address; empty if it is not within a page of a buffer.
  std::string placeOf(const char *address) const;
  /// Returns true if the bytes next to each buffer, up to its page, are unchanged.
  bool guardsIntact() const;

private:
  struct Argument {
    quern_exec_arg_t passed;
    bool isOutput;
    GuardedBuffer buffer;
  };
  quern_engine_t engine = nullptr;
  quern_primitive_desc_t desc = nullptr;
  quern_primitive_t primitive = nullptr;
  std::vector<Argument> arguments;
};

} // namespace quern::faults

#endif // QUERN_TEST_FAULTS_EXECUTION_H
