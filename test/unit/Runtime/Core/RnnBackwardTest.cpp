//===- RnnBackwardTest.cpp - Refused executions of RNN backward -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the runtime's checks of an execution: every argument is given, gradients overlap no other argument, and the
// workspace is of this problem. The fake compiler's kernel writes one element of the last output; after a refusal no
// byte has changed.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Rnn/Workspace.h"
#include "Runtime/TestSupport.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>

namespace quern {
namespace {

const std::string tensors =
    "cell=lstm direction=left2right src_layer=f32:4x2x8:abc src_iter=f32:1x1x2x8:abcd src_iter_c=f32:1x1x2x8:abcd "
    "weights_layer=f32:1x1x8x4x8:abcde weights_iter=f32:1x1x8x4x8:abcde bias=f32:1x1x4x8:abcd "
    "dst_layer=f32:4x2x8:abc dst_iter=f32:1x1x2x8:abcd dst_iter_c=f32:1x1x2x8:abcd ";
const std::string gradients =
    "diff_src_layer=f32:4x2x8:abc diff_src_iter=f32:1x1x2x8:abcd diff_src_iter_c=f32:1x1x2x8:abcd "
    "diff_weights_layer=f32:1x1x8x4x8:abcde diff_weights_iter=f32:1x1x8x4x8:abcde diff_bias=f32:1x1x4x8:abcd "
    "diff_dst_layer=f32:4x2x8:abc diff_dst_iter=f32:1x1x2x8:abcd diff_dst_iter_c=f32:1x1x2x8:abcd";
constexpr int inputs[] = {1, 2, 3, 33, 34, 41, 17, 18, 19, 145, 146, 147, 64},
              outputs[] = {129, 130, 131, 161, 162, 169};

class RnnBackwardExecution : public testing::Test {
protected:
  struct Argument {
    int index;
    memory::desc desc;
    std::vector<char> bytes;
  };

  RnnBackwardExecution() {
    for (const auto &list : {std::span<const int>(inputs), std::span<const int>(outputs)})
      for (int index : list) {
        const memory::desc md = desc.query_md(query::exec_arg_md, index);
        EXPECT_FALSE(md.is_zero()) << index;
        arguments.push_back({index, md, std::vector<char>(md.get_size(), 0x55)});
      }
    writeHeader(headerOf("rnn fwd_t " + tensors));
  }

  /// Returns the header that forward of `line` writes to its workspace.
  static rnn::WorkspaceHeader headerOf(const std::string &line) {
    const PrimitiveDesc parsed = *PrimitiveDesc::parse(line);
    return rnn::workspaceHeaderOf(*std::get<Boxed<RnnDesc>>(parsed.op));
  }
  void writeHeader(const rnn::WorkspaceHeader &header) {
    std::memcpy(of(QUERN_ARG_WORKSPACE).bytes.data(), &header, sizeof(header));
  }
  Argument &of(int index) { return *std::ranges::find(arguments, index, &Argument::index); }

  /// Executes without argument `absent`, and with `moved` at byte `at` of the memory of `other`.
  quern_status_t execute(int absent = 0, int moved = 0, int other = 0, size_t at = 0) {
    std::unordered_map<int, memory> given;
    for (Argument &one : arguments)
      if (one.index != absent)
        given.emplace(one.index,
                      memory(one.desc, device, one.index == moved ? of(other).bytes.data() + at : one.bytes.data()));
    return test::statusOf([&] { kernel.execute(order, given); });
  }
  /// Returns the message of a refused execution and checks that no byte has changed.
  std::string refusal(int absent = 0, int moved = 0, int other = 0, size_t at = 0) {
    std::vector<std::vector<char>> before;
    for (const Argument &one : arguments)
      before.push_back(one.bytes);
    EXPECT_EQ(execute(absent, moved, other, at), quern_invalid_arguments);
    std::string message = quern_get_last_error_message();
    for (size_t i = 0; i < arguments.size(); ++i)
      EXPECT_EQ(arguments[i].bytes, before[i]) << arguments[i].index;
    return message;
  }

  engine device{engine::kind::cpu, 0};
  stream order{device};
  primitive_desc desc{device, "rnn bwd " + tensors + gradients};
  primitive kernel{desc};
  std::vector<Argument> arguments;
};

TEST_F(RnnBackwardExecution, RunsWithTheWorkspaceOfItsForward) {
  EXPECT_EQ(execute(), quern_success) << quern_get_last_error_message();
}

TEST_F(RnnBackwardExecution, RefusesMissingArguments) {
  for (const Argument &one : arguments) {
    const std::string message = refusal(one.index);
    EXPECT_EQ(message.find("argument " + std::to_string(one.index) + " ("), 0u) << message;
    EXPECT_NE(message.find(" is missing (rnn C29)"), std::string::npos) << message;
  }
}

// A gradient must not overlap any other argument, not even exactly.
TEST_F(RnnBackwardExecution, RefusesGradientsOnOtherArguments) {
  for (int output : outputs)
    for (const Argument &other : arguments)
      for (size_t at : {size_t(0), other.bytes.size() / 2})
        if (other.index != output && other.bytes.size() >= at + of(output).bytes.size()) {
          const std::string message = refusal(0, output, other.index, at);
          EXPECT_NE(message.find("(rnn C30)"), std::string::npos) << message;
        }
}

// C50: an empty workspace, or one of another version, shape, cell or stack.
TEST_F(RnnBackwardExecution, RefusesWorkspacesOfOtherProblems) {
  const auto changed = [&](std::string_view from, std::string_view to) {
    std::string line = "rnn fwd_t " + tensors;
    for (size_t at = line.find(from); at != std::string::npos; at = line.find(from, at + to.size()))
      line.replace(at, from.size(), to);
    return headerOf(line);
  };
  rnn::WorkspaceHeader older = headerOf("rnn fwd_t " + tensors);
  --older.version;
  rnn::WorkspaceHeader zeros;
  std::memset(static_cast<void *>(&zeros), 0, sizeof(zeros));
  for (const rnn::WorkspaceHeader &header :
       {changed("4x2x8", "2x4x8"), changed("lstm", "lbr_gru"), changed("left2right", "right2left"),
        changed("src_layer=f32", "src_layer=bf16")}) {
    writeHeader(header);
    EXPECT_EQ(refusal(), "argument 64 (workspace) was written by a forward execution of another problem (rnn C50)");
  }
  for (const rnn::WorkspaceHeader &header : {older, zeros}) {
    writeHeader(header);
    EXPECT_EQ(refusal(), "argument 64 (workspace) was not written by a forward execution of this library; execute "
                         "forward_training with the same memory first (rnn C50)");
  }
  writeHeader(changed("abcde", "abdec")); // layouts do not matter
  EXPECT_EQ(execute(), quern_success);
}

} // namespace
} // namespace quern
