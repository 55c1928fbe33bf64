//===- RnnBackwardKernelsTest.cpp - Equal results of RNN backward kernels -===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests that the gradients of every cell are the same bits on any number of threads, with both linkers, from the caches
// in memory and on disk, from a blob, and through the raw entries; and that a workspace of another problem is refused
// without changing a byte. The conformance program checks the numbers.
//
//===----------------------------------------------------------------------===//
#include "Runtime/TestSupport.h"

#include "Support/Error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <memory>
#include <span>

namespace quern {
namespace {

/// The bits of every tensor, by argument.
using Buffers = std::map<int, std::vector<uint32_t>>;

constexpr int inputs[] = {QUERN_ARG_SRC_LAYER,        QUERN_ARG_SRC_ITER,           QUERN_ARG_SRC_ITER_C,
                          QUERN_ARG_AUGRU_ATTENTION,  QUERN_ARG_WEIGHTS_LAYER,      QUERN_ARG_WEIGHTS_ITER,
                          QUERN_ARG_WEIGHTS_PEEPHOLE, QUERN_ARG_WEIGHTS_PROJECTION, QUERN_ARG_BIAS,
                          QUERN_ARG_DIFF_DST_LAYER,   QUERN_ARG_DIFF_DST_ITER,      QUERN_ARG_DIFF_DST_ITER_C};
constexpr int states[] = {QUERN_ARG_DST_LAYER, QUERN_ARG_DST_ITER, QUERN_ARG_DST_ITER_C, QUERN_ARG_WORKSPACE};
constexpr int gradients[] = {
    QUERN_ARG_DIFF_SRC_LAYER,        QUERN_ARG_DIFF_SRC_ITER,           QUERN_ARG_DIFF_SRC_ITER_C,
    QUERN_ARG_DIFF_AUGRU_ATTENTION,  QUERN_ARG_DIFF_WEIGHTS_LAYER,      QUERN_ARG_DIFF_WEIGHTS_ITER,
    QUERN_ARG_DIFF_WEIGHTS_PEEPHOLE, QUERN_ARG_DIFF_WEIGHTS_PROJECTION, QUERN_ARG_DIFF_BIAS};

/// One layer of a cell in plain layouts, which forward and backward share. With 70 steps and 5 sequences, gradients of
/// weights are sums of 350 terms.
struct LayerProblem {
  std::string cell;
  int gates, biases;
  bool isExtended = false; ///< true for an LSTM with peepholes and a projection
  int steps = 70;

  bool isLstm() const { return cell == "lstm"; }
  std::string start(const std::string &prop) const {
    return concat("rnn ", prop, " cell=", cell, cell == "rnn" ? " activation=tanh" : "", " direction=left2right");
  }
  std::vector<std::string> tensors() const {
    const int state = isExtended ? 24 : 40;
    std::vector<std::string> all = {concat("src_layer=f32:", steps, "x5x24:abc"),
                                    concat("src_iter=f32:1x1x5x", state, ":abcd"),
                                    concat("weights_layer=f32:1x1x24x", gates, "x40:abcde"),
                                    concat("weights_iter=f32:1x1x", state, "x", gates, "x40:abcde"),
                                    concat("bias=f32:1x1x", biases, "x40:abcd"),
                                    concat("dst_layer=f32:", steps, "x5x", state, ":abc"),
                                    concat("dst_iter=f32:1x1x5x", state, ":abcd")};
    if (isLstm())
      all.insert(all.end(), {"src_iter_c=f32:1x1x5x40:abcd", "dst_iter_c=f32:1x1x5x40:abcd"});
    if (isExtended)
      all.insert(all.end(), {"weights_peephole=f32:1x1x3x40:abcd", "weights_projection=f32:1x1x40x24:abcd"});
    if (cell.ends_with("augru"))
      all.push_back(concat("attention=f32:", steps, "x5x1:abc"));
    return all;
  }
  std::string forward() const {
    std::string line = start("fwd_t");
    for (const std::string &tensor : tensors())
      line += " " + tensor;
    return line;
  }
  std::string backward() const {
    std::string line = start("bwd");
    for (const std::string &tensor : tensors())
      line += " " + tensor + " diff_" + tensor;
    return line;
  }
};

const LayerProblem problems[] = {{"rnn", 1, 1},     {"lstm", 4, 4},  {"lstm", 4, 4, true}, {"gru", 3, 3},
                                 {"lbr_gru", 3, 4}, {"augru", 3, 3}, {"lbr_augru", 3, 4}};

class RnnBackwardKernels : public testing::Test {
protected:
  static memory::desc of(const primitive_desc &desc, int argument) {
    return desc.query_md(query::exec_arg_md, argument);
  }

  /// Returns every tensor of a problem: random inputs, the states and the workspace that forward computes, and
  /// gradients with values that are added to.
  Buffers make(const LayerProblem &problem) {
    const primitive_desc forward(device, problem.forward()), backward(device, problem.backward());
    Buffers buffers;
    uint32_t seed = 7;
    for (const auto &list :
         {std::span<const int>(inputs), std::span<const int>(states), std::span<const int>(gradients)})
      for (int argument : list)
        if (const memory::desc desc = of(backward, argument); !desc.is_zero())
          for (uint32_t &bits : buffers[argument] = std::vector<uint32_t>(desc.get_size() / sizeof(uint32_t))) {
            seed = seed * 1664525 + 1013904223;
            const float min = argument == QUERN_ARG_AUGRU_ATTENTION ? 0 : -0.5f;
            bits = std::bit_cast<uint32_t>(min + static_cast<float>(seed >> 8) / (1 << 24));
          }
    execute(primitive(forward), forward, buffers);
    return buffers;
  }
  quern_status_t execute(const primitive &kernel, const primitive_desc &desc, Buffers &buffers) {
    std::unordered_map<int, memory> arguments;
    for (auto &[argument, values] : buffers)
      if (const memory::desc tensor = of(desc, argument); !tensor.is_zero())
        arguments.emplace(argument, memory(tensor, device, values.data()));
    return test::statusOf([&] { kernel.execute(order, arguments); });
  }
  /// Returns the tensors after an execution, and checks that it changes the gradients and nothing else.
  Buffers run(const primitive &kernel, const LayerProblem &problem, const Buffers &before) {
    const primitive_desc desc(device, problem.backward());
    Buffers buffers = before;
    EXPECT_EQ(execute(kernel, desc, buffers), quern_success) << quern_get_last_error_message();
    for (const auto &[argument, values] : before) {
      const bool isGradient = std::ranges::find(gradients, argument) != std::end(gradients);
      EXPECT_EQ(buffers.at(argument) != values, isGradient) << problem.cell << ": argument " << argument;
    }
    return buffers;
  }
  Buffers run(const LayerProblem &problem, const Buffers &before) {
    return run(primitive(primitive_desc(device, problem.backward())), problem, before);
  }

  engine device{engine::kind::cpu, 0};
  stream order{device};
  test::TemporaryDirectory directory;
  test::ScopedCaches caches{directory.path};
};

TEST_F(RnnBackwardKernels, ThreadsDoNotChangeABit) {
  const int saved = get_num_threads();
  for (const LayerProblem &problem : problems) {
    const Buffers given = make(problem);
    set_num_threads(1);
    const Buffers one = run(problem, given);
    for (int threads : {2, 3, 7}) {
      set_num_threads(threads);
      EXPECT_EQ(run(problem, given), one) << problem.cell << " on " << threads;
    }
  }
  set_num_threads(saved);
}

TEST_F(RnnBackwardKernels, EveryOriginGivesTheSameResults) {
  for (const LayerProblem &problem : problems) {
    const Buffers given = make(problem);
    const primitive_desc desc(device, problem.backward());
    const primitive compiled(desc), found(desc);
    EXPECT_EQ(compiled.info().origin, quern_origin_compiled) << problem.cell;
    EXPECT_EQ(found.info().origin, quern_origin_memory) << problem.cell;
    test::ScopedCaches::emptyMemory();
    const primitive read(desc);
    EXPECT_EQ(read.info().origin, quern_origin_disk) << problem.cell;
    test::ScopedCaches::emptyMemory();
    quern_set_disk_cache(nullptr);
    const primitive blob(desc, compiled.get_cache_blob());
    EXPECT_EQ(blob.info().origin, quern_origin_blob) << problem.cell;
    quern_set_disk_cache(directory.path.c_str());

    const Buffers expected = run(compiled, problem, given);
    for (const primitive *other : {&found, &read, &blob})
      EXPECT_EQ(run(*other, problem, given), expected) << problem.cell;
  }
}

TEST_F(RnnBackwardKernels, BothLinkersGiveTheSameResults) {
  for (const LayerProblem &problem : problems) {
    const Buffers given = make(problem);
    Buffers results[2];
    const char *linkers[] = {"orc", "loader"};
    for (int i = 0; i < 2; ++i) {
      test::ScopedEnvironment linker("QUERN_LINKER", linkers[i]);
      test::ScopedCaches::emptyMemory();
      const primitive kernel(primitive_desc(device, problem.backward()));
      EXPECT_STREQ(kernel.info().linker, linkers[i]);
      results[i] = run(kernel, problem, given);
    }
    EXPECT_EQ(results[0], results[1]) << problem.cell;
  }
}

/// Calls the kernels like a program that has its own loop, one iteration after another.
TEST_F(RnnBackwardKernels, RawEntriesGiveTheSameResults) {
  const auto allocate = [](size_t bytes) {
    return std::unique_ptr<void, decltype(&std::free)>(std::aligned_alloc(64, (bytes + 64) / 64 * 64), &std::free);
  };
  for (const LayerProblem &problem : problems) {
    const Buffers given = make(problem);
    const primitive kernel(primitive_desc(device, problem.backward()));
    Buffers called = given;
    std::vector<void *> buffers;
    for (int argument : kernel.launch_arguments())
      buffers.push_back(called.at(argument).data());
    const auto bytes = kernel.get_launch_memory();
    const auto scratch = allocate(bytes.scratch_bytes), shared = allocate(bytes.shared_bytes);
    kernel.visit_launch({buffers.data(), nullptr, shared.get()}, [&](const quern_launch_call_t &call) {
      quern_kernel_args_t args = call.args;
      args.scratch = scratch.get();
      for (int64_t iteration = 0; iteration < call.iterations; ++iteration)
        call.function(&args, iteration, iteration + 1);
    });
    EXPECT_EQ(called, run(kernel, problem, given)) << problem.cell;
  }
}

TEST_F(RnnBackwardKernels, RefuseWorkspacesOfOthersAndWriteNothing) {
  for (const LayerProblem &other : problems) {
    LayerProblem longer = other;
    longer.steps = 400; // for every cell, its workspace is at least as large as that of each other cell
    const std::vector<uint32_t> from = make(longer).at(QUERN_ARG_WORKSPACE);
    for (const LayerProblem &problem : problems) {
      Buffers buffers = make(problem);
      auto &workspace = buffers.at(QUERN_ARG_WORKSPACE);
      ASSERT_GE(from.size(), workspace.size());
      std::copy_n(from.begin(), workspace.size(), workspace.begin());
      const Buffers before = buffers;
      const primitive_desc desc(device, problem.backward());
      EXPECT_EQ(execute(primitive(desc), desc, buffers), quern_invalid_arguments);
      const std::string message = quern_get_last_error_message();
      EXPECT_EQ(message.find("argument 64 (workspace) was written by a forward execution of another problem"), 0u)
          << message;
      EXPECT_NE(message.find("(rnn C50)"), std::string::npos) << message;
      EXPECT_TRUE(buffers == before) << problem.cell << " after " << other.cell;
    }
  }
}

} // namespace
} // namespace quern
