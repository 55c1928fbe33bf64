//===- RnnStatesTest.cpp - RNNs at guarded pages, in place, and empty -----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests every cell through the API: all tensors start or end at inaccessible pages; final states that overwrite the
// initial ones have the same bits as in separate buffers; nothing is written if a dim is 0.
//
//===----------------------------------------------------------------------===//
#include "GuardedBuffer.h"
#include "quern/quern.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>

namespace quern {
namespace {

constexpr int states[] = {QUERN_ARG_SRC_ITER, QUERN_ARG_SRC_ITER_C},
              results[] = {QUERN_ARG_DST_ITER, QUERN_ARG_DST_ITER_C};

/// A stack with 24 channels; a projection also has 24.
struct Stack {
  std::string prop = "fwd_i", cell = "lstm", direction = "left2right", type = "f32";
  int layers = 1, steps = 3, batch = 2;
  bool projects = false, peeps = false, packs = true, hasLengths = false, concatenates = false;

  bool isBytes() const { return type == "u8" || type == "s8"; }
  bool isLstm() const { return cell == "lstm"; }
  bool hasAttention() const { return cell.ends_with("augru"); }
  std::string line(const std::string &openSteps = "") const {
    const auto s = [](int number) { return std::to_string(number); };
    const bool isTwice = direction.starts_with("bi");
    const std::string one = isBytes() ? "s8" : type, floatType = isBytes() ? "f32" : type,
                      t = openSteps.empty() ? s(steps) : openSteps;
    const std::string gates = s(isLstm()        ? 4
                                : cell == "rnn" ? 1
                                                : 3),
                      biases = s(cell.starts_with("lbr") ? 4
                                 : isLstm()              ? 4
                                 : cell == "rnn"         ? 1
                                                         : 3);
    const std::string stack = s(layers) + "x" + s(isTwice ? 2 : 1) + "x", wide = concatenates ? "48" : "24";
    const std::string iter = stack + s(batch) + "x24:abcd ",
                      weights = stack + wide + "x" + gates + "x24:" + (packs ? "any " : "abcde ");
    std::string text =
        "rnn " + prop + " cell=" + cell + " direction=" + direction + (cell == "rnn" ? " activation=tanh" : "");
    text += (concatenates ? " flags=65536 src_layer=" : " src_layer=") + type + ":" + t + "x" + s(batch) + "x" + wide +
            ":abc ";
    text += "src_iter=" + type + ":" + iter + (isLstm() ? "src_iter_c=" + floatType + ":" + iter : "");
    text += hasAttention() ? "attention=" + floatType + ":" + t + "x" + s(batch) + "x1:abc " : "";
    text += hasLengths ? "seq_lengths=s32:" + s(batch) + ":a " : "";
    text += "weights_layer=" + one + ":" + weights;
    text += "weights_iter=" + one + ":" + stack + "24x" + gates + "x24:" + (packs ? "any " : "abcde ");
    text += peeps ? "weights_peephole=" + floatType + ":" + stack + "3x24:abcd " : "";
    text += projects ? "weights_projection=" + one + ":" + stack + "24x24:" + (packs ? "any " : "abcd ") : "";
    text += "bias=" + floatType + ":" + stack + biases + "x24:abcd ";
    text += "dst_layer=" + type + ":" + t + "x" + s(batch) + "x" + (direction == "bidirectional_concat" ? "48" : "24") +
            ":abc ";
    text += "dst_iter=" + type + ":" + iter + (isLstm() ? "dst_iter_c=" + floatType + ":" + iter : "");
    return text +
           (isBytes()
                ? (type == "u8" ? "attr.rnn.data_scale=100 attr.rnn.data_shift=128 " : "attr.rnn.data_scale=100 ") +
                      std::string("attr.rnn.weights_scales=200 ") + (projects ? "attr.rnn.projection_scales=200" : "")
                : "");
  }
};

/// Returns every cell with every type that it supports.
std::vector<Stack> everyCell() {
  std::vector<Stack> all;
  for (std::string type : {"f32", "bf16", "f16", "u8", "s8"})
    for (std::string cell : {"rnn", "lstm", "gru", "lbr_gru", "augru", "lbr_augru"}) {
      Stack one;
      one.cell = cell, one.type = type;
      if (!one.isBytes() || !one.hasAttention())
        all.push_back(one);
      if (cell == "lstm") {
        one.projects = true, one.peeps = !one.isBytes();
        all.push_back(one);
      }
    }
  return all;
}

class RnnStates : public testing::Test {
protected:
  using Buffers = std::map<int, GuardedBuffer>;

  static bool isInput(int argument) {
    return argument < QUERN_ARG_DST_LAYER || (argument > QUERN_ARG_DST_ITER_C && argument != QUERN_ARG_WORKSPACE);
  }
  /// Returns the tensors of a problem. Inputs are generated in logical order, so that two layouts of the same problem
  /// hold the same numbers.
  Buffers make(const primitive_desc &desc, GuardedSide side) {
    Buffers buffers;
    for (int argument : {QUERN_ARG_SRC_LAYER, QUERN_ARG_SRC_ITER, QUERN_ARG_SRC_ITER_C, QUERN_ARG_AUGRU_ATTENTION,
                         QUERN_ARG_DST_LAYER, QUERN_ARG_DST_ITER, QUERN_ARG_DST_ITER_C, QUERN_ARG_WEIGHTS_LAYER,
                         QUERN_ARG_WEIGHTS_ITER, QUERN_ARG_WEIGHTS_PEEPHOLE, QUERN_ARG_WEIGHTS_PROJECTION,
                         QUERN_ARG_BIAS, QUERN_ARG_WORKSPACE, QUERN_ARG_SEQ_LENGTHS})
      if (const memory::desc md = desc.query_md(query::exec_arg_md, argument); !md.is_zero()) {
        GuardedBuffer &buffer =
            buffers.emplace(argument, GuardedBuffer(static_cast<int64_t>(md.get_size()), {side})).first->second;
        if (isInput(argument))
          fill(md, argument, buffer);
      }
    return buffers;
  }
  void fill(const memory::desc &md, int argument, GuardedBuffer &buffer) {
    const bool isWeights = argument == QUERN_ARG_WEIGHTS_LAYER || argument == QUERN_ARG_WEIGHTS_ITER ||
                           argument == QUERN_ARG_WEIGHTS_PROJECTION;
    const memory::desc plain(md.get_dims(), md.get_data_type(),
                             std::string("abcde").substr(0, static_cast<size_t>(md.get_ndims())));
    std::mt19937 random(static_cast<uint32_t>(argument));
    std::vector<char> bytes(plain.get_size());
    const size_t size = quern_data_type_size(static_cast<quern_data_type_t>(md.get_data_type()));
    for (size_t i = 0; i + size <= bytes.size(); i += size) {
      const uint32_t bits = static_cast<uint32_t>(random());
      const float number = (static_cast<float>(bits % 1001) / 500 - 1) * (isWeights ? 0.2f : 1);
      const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
      // Magnitudes from 0.125 to 0.5 for bf16 and f16.
      const auto half = static_cast<uint16_t>(
          sign | (md.get_data_type() == memory::data_type::bf16 ? 0x3e00 + bits % 0x100 : 0x3000 + bits % 0x800));
      const int32_t length = static_cast<int32_t>(bits % 5);
      const void *value = size == 2                                      ? static_cast<const void *>(&half)
                          : md.get_data_type() == memory::data_type::s32 ? static_cast<const void *>(&length)
                                                                         : &number;
      if (size == 1)
        bytes[i] = static_cast<char>(md.get_data_type() == memory::data_type::u8 ? bits % 256 : bits % 51 - 25);
      else
        std::memcpy(&bytes[i], value, size);
    }
    if (plain == md)
      std::copy(bytes.begin(), bytes.end(), buffer.data()); // the tensor may be empty
    else {
      memory from(plain, device, bytes.data()), to(md, device, buffer.data());
      reorder(from, to).execute(order, from, to);
    }
  }
  /// Executes on these buffers; `moved` maps results to the states that they overwrite.
  void execute(const primitive &made, const primitive_desc &desc, Buffers &buffers,
               const std::map<int, int> &moved = {}) {
    std::unordered_map<int, memory> tensors;
    for (auto &[argument, buffer] : buffers) {
      const auto other = moved.find(argument);
      char *data = other == moved.end() ? buffer.data() : buffers.at(other->second).data();
      tensors.emplace(argument, memory(desc.query_md(query::exec_arg_md, argument), device, data));
    }
    made.execute(order, tensors);
  }
  static std::string bytesOf(const GuardedBuffer &buffer) {
    return {buffer.data(), static_cast<size_t>(buffer.size())};
  }
  static std::string primitiveOf(const Stack &stack) { return stack.line(); }
  void expectInPlace(const Stack &stack);

  engine device{engine::kind::cpu, 0};
  stream order{device};
};

TEST_F(RnnStates, StayBetweenInaccessiblePages) {
  for (Stack stack : everyCell())
    for (bool trains : {false, true}) {
      if (trains && stack.isBytes())
        continue;
      stack.prop = trains ? "fwd_t" : "fwd_i", stack.packs = !trains,
      stack.hasLengths = stack.cell == "lbr_gru" && !trains;
      const primitive_desc desc(device, stack.line());
      const primitive made(desc);
      std::map<int, std::string> first;
      for (GuardedSide side : {GuardedSide::End, GuardedSide::Beginning}) {
        Buffers buffers = make(desc, side), untouched = make(desc, side);
        execute(made, desc, buffers);
        for (const auto &[argument, buffer] : buffers) {
          EXPECT_TRUE(buffer.guardsIntact()) << stack.line() << ": argument " << argument;
          const std::string bytes = bytesOf(buffer), before = bytesOf(untouched.at(argument)),
                            what = stack.line() + ": " + std::to_string(argument);
          if (isInput(argument)) {
            EXPECT_EQ(bytes, before) << what;
          } else if (side == GuardedSide::End) {
            first[argument] = bytes;
            EXPECT_NE(bytes, before) << what;
          } else if (argument != QUERN_ARG_WORKSPACE) { // gaps between its sections may have any bytes
            EXPECT_EQ(bytes, first[argument]) << what;
          }
        }
      }
    }
}

/// Compares results that overwrite one or both initial states with results in separate buffers.
void RnnStates::expectInPlace(const Stack &stack) {
  const primitive_desc desc(device, stack.line());
  const primitive made(desc);
  Buffers separate = make(desc, GuardedSide::End);
  execute(made, desc, separate);
  for (int which : {1, 2, 3}) {
    std::map<int, int> moved;
    for (int i : {0, 1})
      if (which >> i & 1 && separate.contains(results[i]))
        moved[results[i]] = states[i];
    if (moved.empty())
      continue;
    Buffers inPlace = make(desc, GuardedSide::End);
    execute(made, desc, inPlace, moved);
    EXPECT_EQ(bytesOf(inPlace.at(QUERN_ARG_DST_LAYER)), bytesOf(separate.at(QUERN_ARG_DST_LAYER)))
        << stack.line() << " " << which;
    for (const auto &[result, state] : moved)
      EXPECT_EQ(bytesOf(inPlace.at(state)), bytesOf(separate.at(result)))
          << stack.line() << ": argument " << result << " on " << state;
  }
}

TEST_F(RnnStates, MayOverwriteTheInitialStates) {
  const std::pair<int, int> sizes[] = {{1, 1}, {5, 3}, {4, 20}}; // steps and sequences: plain, all inputs first, wide
  int round = 0;
  for (Stack stack : everyCell())
    for (std::string direction : {"left2right", "right2left", "bidirectional_sum", "bidirectional_concat"})
      for (int layers : {1, 3}) {
        if (stack.hasAttention() && (layers > 1 || direction != "left2right"))
          continue;
        stack.direction = direction, stack.layers = layers;
        std::tie(stack.steps, stack.batch) = sizes[round % 3];
        stack.packs = round % 2 == 0, stack.prop = round % 5 == 0 && !stack.isBytes() ? "fwd_t" : "fwd_i";
        stack.hasLengths = round % 7 == 0 && stack.prop == "fwd_i",
        stack.concatenates = direction.starts_with("bi") && round % 4 == 0;
        ++round;
        ASSERT_NO_FATAL_FAILURE(expectInPlace(stack));
        ASSERT_FALSE(HasFailure()) << "round " << round;
      }
}

/// dst_iter and the other outputs are unchanged, with a known T and an open one. Empty tensors may be null.
TEST_F(RnnStates, AreNotWrittenWithoutSteps) {
  for (Stack stack : everyCell())
    for (bool isOpen : {false, true}) {
      stack.steps = 0, stack.packs = stack.cell == "gru";
      const primitive_desc closed(device, stack.line());
      const primitive made(isOpen ? primitive_desc(device, stack.line("?")) : closed);
      Buffers buffers = make(closed, GuardedSide::End), untouched = make(closed, GuardedSide::End);
      ASSERT_EQ(buffers.at(QUERN_ARG_SRC_LAYER).size(), 0);
      ASSERT_GT(buffers.at(QUERN_ARG_DST_ITER).size(), 0);
      execute(made, closed, buffers);
      for (const auto &[argument, buffer] : buffers)
        EXPECT_EQ(bytesOf(buffer), bytesOf(untouched.at(argument)))
            << stack.line() << ": argument " << argument << (isOpen ? ", open" : "");
    }
}

} // namespace
} // namespace quern
