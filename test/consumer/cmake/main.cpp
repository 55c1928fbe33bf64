//===- main.cpp - A C++ program that uses an installed Quern --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Computes a log-softmax with the C++ API, then calls the same kernel as a plain function, as a program with its own
// code generator does, and compares the results. It also copies a part of a tensor into another layout.
//
//===----------------------------------------------------------------------===//
#include "quern/quern.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int64_t rows = 16, columns = 501;

std::vector<float> callDirectly(const quern::primitive &kernel, std::vector<float> &x) {
  std::vector<float> y(x.size());
  std::vector<void *> buffers;
  for (int argument : kernel.launch_arguments())
    buffers.push_back(argument == QUERN_ARG_SRC ? x.data() : y.data());
  auto allocate = [](size_t bytes) { return bytes ? std::aligned_alloc(64, (bytes + 63) / 64 * 64) : nullptr; };
  const auto memory = kernel.get_launch_memory();
  void *scratch = allocate(memory.scratch_bytes), *shared = allocate(memory.shared_bytes);
  kernel.visit_launch({buffers.data(), nullptr, shared}, [&](const quern_launch_call_t &call) {
    quern_kernel_args_t args = call.args;
    args.scratch = scratch;
    call.function(&args, 0, call.iterations);
  });
  std::free(scratch);
  std::free(shared);
  return y;
}

/// Transposes the upper half of the columns from a user buffer into memory that the library allocates, and checks it.
bool movesAPart(const quern::engine &cpu, quern::stream &queue) {
  using namespace quern;
  std::vector<float> x(rows * columns);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(i);
  constexpr int64_t half = columns / 2;
  memory::desc whole({rows, columns}, memory::data_type::f32, "ab"), turned({half, rows}, memory::data_type::f32, "ab");
  memory part(whole.submemory_desc({rows, half}, {0, columns - half}).permute_axes({1, 0}), cpu, x.data()),
      dense(turned, cpu);
  reorder(part, dense).execute(queue, part, dense);
  queue.wait();
  float *y = dense.map_data<float>();
  bool right = true;
  for (int64_t column = 0; column < half; ++column)
    for (int64_t row = 0; row < rows; ++row)
      right &= y[column * rows + row] == x[static_cast<size_t>(row * columns + columns - half + column)];
  dense.unmap_data(y);
  return right;
}

int run() {
  using namespace quern;
  engine cpu(engine::kind::cpu, 0);
  stream queue(cpu);
  memory::desc logits({rows, columns}, memory::data_type::f32, "ab");
  softmax_forward::primitive_desc problem(cpu, prop_kind::forward_inference, algorithm::softmax_log, logits, logits,
                                          /*axis=*/1);
  softmax_forward softmax(problem);
  std::vector<float> x(rows * columns, 1.0f), y(x.size());
  memory src(logits, cpu, x.data()), dst(logits, cpu, y.data());
  softmax.execute(queue, {{QUERN_ARG_SRC, src}, {QUERN_ARG_DST, dst}});
  queue.wait();
  bool right =
      std::abs(y[0] + std::log(double(columns))) < 1e-5 && y == callDirectly(softmax, x) && movesAPart(cpu, queue);
  std::puts(right ? "right" : "wrong");
  return right ? 0 : 1;
}

} // namespace

int main() {
  try {
    return run();
  } catch (const quern::error &failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}
