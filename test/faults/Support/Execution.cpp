//===- Execution.cpp - A problem run by the C API on guarded buffers ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Execution.h"

#include "quern/quern_launch.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace quern::faults {

void fail(const std::string &message) {
  std::printf("FAILED: %s\n", message.c_str());
  std::exit(1);
}

void skip(const std::string &reason) {
  std::printf("skipped: %s\n", reason.c_str());
  std::exit(77);
}

void require(quern_status_t status, const std::string &what) {
  if (status != quern_success)
    fail(what + ": " + quern_status_name(status) + ": " + quern_get_last_error_message());
}

void require(bool holds, const std::string &message) {
  if (!holds)
    fail(message);
}

Cpu::Cpu() {
  require(quern_engine_create(&engine, quern_cpu, 0), "quern_engine_create");
  require(quern_stream_create(&stream, engine, quern_stream_in_order), "quern_stream_create");
}

Cpu::~Cpu() {
  quern_stream_destroy(stream);
  quern_engine_destroy(engine);
}

Execution::~Execution() {
  for (const Argument &argument : arguments)
    quern_memory_destroy(argument.passed.memory);
  quern_primitive_destroy(primitive);
  quern_primitive_desc_destroy(desc);
}

quern_status_t Execution::describe(quern_engine_t onEngine, const std::string &line) {
  engine = onEngine;
  return quern_primitive_desc_create_from_text(&desc, engine, line.c_str());
}

quern_status_t Execution::copy(quern_engine_t onEngine, const_quern_primitive_desc_t existing) {
  engine = onEngine;
  return quern_primitive_desc_clone(&desc, existing);
}

quern_status_t Execution::create() { return quern_primitive_create(&primitive, desc); }

quern_status_t Execution::bind(const Placement &placement, int64_t most) {
  int count = 0, sizes = 0;
  quern_status_t status = quern_primitive_get_launch_counts(primitive, &count, &sizes, nullptr);
  if (status == quern_success && sizes > 0)
    return quern_unimplemented;
  for (int i = 0; status == quern_success && i < count; ++i) {
    int number = 0, isOutput = 0;
    int64_t touched = 0;
    status = quern_primitive_get_launch_argument(primitive, i, &number, &isOutput, &touched);
    if (status != quern_success)
      break;
    const_quern_memory_desc_t layout = quern_primitive_desc_query_md(desc, quern_query_exec_arg_md, number);
    const auto bytes = static_cast<int64_t>(quern_memory_desc_get_size(layout));
    if (bytes > most)
      return quern_out_of_memory;
    GuardedBuffer buffer(bytes, placement);
    quern_memory_t memory = nullptr;
    status = quern_memory_create(&memory, layout, engine, bytes ? buffer.data() : nullptr);
    if (status == quern_success)
      arguments.push_back({{number, memory}, isOutput != 0, std::move(buffer)});
  }
  return status;
}

void Execution::fill(uint64_t seed) {
  for (Argument &argument : arguments) {
    argument.buffer.fillAll(0xff);
    if (argument.isOutput)
      continue;
    for (int64_t at = 0; at + 4 <= argument.buffer.size(); at += 4) {
      seed = seed * 6364136223846793005U + 1442695040888963407U;
      const float value = (static_cast<float>(seed >> 33U & 0x7ffU) - 1023.0F) / 300.0F;
      std::memcpy(argument.buffer.data() + at, &value, sizeof(value));
    }
  }
}

std::vector<quern_exec_arg_t> Execution::given() const {
  std::vector<quern_exec_arg_t> all;
  all.reserve(arguments.size());
  for (const Argument &argument : arguments)
    all.push_back(argument.passed);
  return all;
}

quern_status_t Execution::run(quern_stream_t stream) {
  const std::vector<quern_exec_arg_t> all = given();
  const quern_status_t status = quern_primitive_execute(primitive, stream, static_cast<int>(all.size()), all.data());
  return status == quern_success ? quern_stream_wait(stream) : status;
}

void Execution::all(const Cpu &cpu, const std::string &line, const Placement &placement) {
  require(describe(cpu.engine, line), "describing " + line);
  require(create(), "creating " + line);
  require(bind(placement), "binding " + line);
  fill();
  require(run(cpu.stream), "executing " + line);
}

std::string Execution::outputs() const {
  std::string bytes;
  for (const Argument &argument : arguments)
    if (argument.isOutput)
      bytes.append(argument.buffer.data(), static_cast<size_t>(argument.buffer.size()));
  return bytes;
}

int64_t Execution::largestArgument() const {
  int64_t most = 0;
  for (int number = 0; number < QUERN_ARG_MULTIPLE_SRC + 64; ++number)
    if (const_quern_memory_desc_t layout = quern_primitive_desc_query_md(desc, quern_query_exec_arg_md, number))
      most = std::max(most, static_cast<int64_t>(quern_memory_desc_get_size(layout)));
  return most;
}

std::string Execution::placeOf(const char *address) const {
  constexpr ptrdiff_t page = 4096;
  for (const Argument &argument : arguments)
    if (const ptrdiff_t byte = address - argument.buffer.data(); byte >= -page && byte < argument.buffer.size() + page)
      return "byte " + std::to_string(byte) + " of argument " + std::to_string(argument.passed.arg) + ", which has " +
             std::to_string(argument.buffer.size());
  return "";
}

bool Execution::guardsIntact() const {
  for (const Argument &argument : arguments)
    if (!argument.buffer.guardsIntact())
      return false;
  return true;
}

} // namespace quern::faults
