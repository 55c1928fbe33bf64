// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks dropout of softmax and eltwise, which oneDNN supports for dense row-major tensors: masks have the same bytes
// and results the same zeros, for seeds of either type, offsets, probabilities inside and outside [0, 1], with and
// without a mask, and from host scalars.
//
// REQUIRES: onednn-3.13
// RUN: %both %s %t | FileCheck %s
// CHECK: s32 seed: mask 105 of 165 kept
// CHECK: lines compared, 0 differ
#include "values.hpp"

#include <limits>

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

namespace {

engine eng(engine::kind::cpu, 0);
stream strm(eng);

struct Case {
  const char *name;
  float probability = 0.3f;
  type seedType = type::s32;
  int64_t seed = 12345;
  bool usesOffset = false;
  int64_t offset = 0;
  bool hasMask = true, isOnHost = false;
};

template <typename T> memory numberOf(T value, type dataType, bool isOnHost) {
  if (isOnHost)
    return memory(memory::desc::host_scalar(dataType), value);
  memory number({{1}, dataType, tag::a}, eng);
  fill<T>(number, {value});
  return number;
}

std::unordered_map<int, memory> argumentsOf(const Case &drop) {
  std::unordered_map<int, memory> args = {
      {DNNL_ARG_ATTR_DROPOUT_PROBABILITY, numberOf(drop.probability, type::f32, drop.isOnHost)},
      {DNNL_ARG_ATTR_DROPOUT_SEED, drop.seedType == type::s64
                                       ? numberOf(drop.seed, type::s64, drop.isOnHost)
                                       : numberOf(static_cast<int32_t>(drop.seed), type::s32, drop.isOnHost)}};
  if (drop.usesOffset)
    args[DNNL_ARG_ATTR_DROPOUT_OFFSET] = numberOf(drop.offset, type::s64, drop.isOnHost);
  return args;
}

/// Executes a primitive of `pd` on values that alternate between 1 and others up to 7.
template <typename Primitive>
void execute(const Case &drop, const typename Primitive::primitive_desc &pd, const memory::desc &maskDesc) {
  memory src(pd.src_desc(), eng), dst(pd.dst_desc(), eng), mask;
  std::vector<float> values(src.get_desc().get_size() / sizeof(float));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = i % 2 ? 1 : static_cast<float>(i % 7 + 1);
  fill(src, values);
  std::unordered_map<int, memory> args = argumentsOf(drop);
  args.insert({{DNNL_ARG_SRC, src}, {DNNL_ARG_DST, dst}});
  if (drop.hasMask) {
    mask = memory(maskDesc, eng);
    fill<uint8_t>(mask, std::vector<uint8_t>(maskDesc.get_size(), 77));
    args[DNNL_ARG_ATTR_DROPOUT_MASK] = mask;
  }
  Primitive(pd).execute(strm, args);
  strm.wait();
  if (drop.hasMask) {
    const std::vector<uint8_t> bits = read<uint8_t>(mask);
    std::printf("%s: mask %d of %zu kept\n", drop.name, static_cast<int>(std::count(bits.begin(), bits.end(), 1)),
                bits.size());
    print("mask", bits);
  }
  std::printf("~1e-5 ");
  print(drop.name, read<float>(dst));
  std::vector<int> kept;
  for (float value : read<float>(dst))
    kept.push_back(value != 0);
  print("not zero", kept);
}

void run(const Case &drop, const memory::dims &dims = {5, 33}) {
  const memory::desc tensor(dims, type::f32, tag::ab),
      mask = drop.hasMask ? memory::desc(dims, type::u8, tag::ab) : memory::desc();
  primitive_attr attr;
  attr.set_dropout(mask, drop.seedType, drop.usesOffset, drop.isOnHost);
  attempt(drop.name, [&] {
    execute<softmax_forward>(
        drop, {eng, prop_kind::forward_training, algorithm::softmax_accurate, tensor, tensor, 1, attr}, mask);
  });
  attempt(drop.name, [&] {
    execute<eltwise_forward>(
        drop, {eng, prop_kind::forward_training, algorithm::eltwise_relu, tensor, tensor, 0.f, 0.f, attr}, mask);
  });
}

} // namespace

int main() {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  run({"s32 seed"});
  run({"negative s32 seed", 0.3f, type::s32, -12345});
  run({"s64 seed", 0.3f, type::s64, 0x123456789ab});
  run({"offset", 0.3f, type::s32, -5, true, 6});
  run({"negative offset", 0.3f, type::s64, -0x123456789ab, true, -0x700000003});
  run({"offset 0", 0.3f, type::s64, 7, true, 0});
  run({"no mask", 0.3f, type::s64, 7, true, 9, false});
  run({"host scalars", 0.4f, type::s64, 7, true, 9, true, true});
  run({"host scalars, s32", 0.4f, type::s32, 7, false, 0, false, true});
  for (float probability : {0.f, 1.f, -1.f, 2.f, nan, 0.5f, 0.999f, 1e-9f})
    run({"probability", probability, type::s64, 99, true, 3});
  run({"longer", 0.6f, type::s64, 99, true, 3}, {17, 1031});
  run({"one row", 0.6f, type::s32, 99}, {1, 7});
  run({"no element", 0.6f, type::s32, 99}, {0, 7});

  // Dropout comes before post-ops: dropped elements become 5.
  attempt("post-op", [&] {
    const memory::desc tensor({5, 33}, type::f32, tag::ab), mask({5, 33}, type::u8, tag::ab);
    primitive_attr all;
    post_ops ops;
    ops.append_eltwise(algorithm::eltwise_linear, 1, 5);
    all.set_post_ops(ops);
    all.set_dropout(mask, type::s32, false, false);
    execute<softmax_forward>(
        {"post-op"}, {eng, prop_kind::forward_training, algorithm::softmax_accurate, tensor, tensor, 1, all}, mask);
  });

  // The first setter has an s32 seed and no offset.
  primitive_attr attr;
  attempt("v1", [&] {
    const memory::desc tensor({5, 33}, type::f32, tag::ab);
    attr.set_dropout(memory::desc({5, 33}, type::u8, tag::ab));
    execute<eltwise_forward>(
        {"v1"}, {eng, prop_kind::forward_training, algorithm::eltwise_linear, tensor, tensor, 2.f, 0.f, attr},
        memory::desc({5, 33}, type::u8, tag::ab));
  });
}
