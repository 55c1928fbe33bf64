//===- ApiDraw.cpp - Random arguments for the C API ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ApiDraw.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace quern::fuzz {
namespace {

std::string textOf(const ApiDims &dims) {
  std::string text;
  for (int d = 0; d < std::clamp(dims.rank, 0, 12); ++d)
    text += (d ? "x" : "") + std::to_string(dims.values[d]);
  return concat("rank ", dims.rank, ": ", text);
}

std::vector<int> drawOrder(Random &random, int rank) {
  std::vector<int> order(static_cast<size_t>(std::clamp(rank, 0, QUERN_MAX_NDIMS)));
  std::iota(order.begin(), order.end(), 0);
  if (random.oneIn(2))
    random.shuffle(order);
  return order;
}

/// Draws dense strides in any order, strides with gaps, or arbitrary ones.
ApiDims drawStrides(Random &random, const ApiDims &dims) {
  ApiDims strides = dims;
  const std::vector<int> order = drawOrder(random, dims.rank);
  const bool hasGaps = random.oneIn(3);
  int64_t stride = 1;
  for (auto dim = order.rbegin(); dim != order.rend(); ++dim) {
    strides.values[*dim] = random.oneIn(16) ? 0 : stride;
    const int64_t extent = std::clamp<int64_t>(dims.values[*dim], 1, 1 << 12);
    stride = std::min<int64_t>(stride * extent + (hasGaps ? random.between(0, 5) : 0), int64_t(1) << 40);
  }
  if (random.oneIn(12))
    strides.values[random.between(0, 11)] = drawApiDim(random);
  return strides;
}

std::string drawTag(Random &random, int rank) {
  if (random.oneIn(16))
    return random.pick<const char *>({"any", "undef", "", "nchw", "tnc", "ldigo", "aa", "aB0b", "aB999999999999b",
                                      "ABCDEFGHIJKL16l", "zzz", "AB16b16a4b", "aBcd16b"});
  std::string letters, blocks;
  for (int64_t left = random.between(0, 3); left > 0 && rank > 0; --left) {
    const int64_t size = random.oneIn(30) ? static_cast<int64_t>(random.bits() >> 1U)
                                          : random.pick<int64_t>({2, 3, 4, 8, 16, 16, 32, 64});
    blocks += std::to_string(size) + static_cast<char>('a' + random.between(0, std::min(rank, 12) - 1));
  }
  for (int dim : drawOrder(random, rank)) {
    const bool isBlocked = blocks.find(static_cast<char>('a' + dim)) != blocks.npos;
    letters += static_cast<char>((isBlocked != random.oneIn(60) ? 'A' : 'a') + dim);
  }
  return letters + blocks;
}

quern_status_t create(Input &input, quern_memory_desc_t &made, const ApiDims &dims, quern_data_type_t type) {
  Random &random = input.random;
  const int rank = dims.rank;
  const std::string what = concat(textOf(dims), " of type ", static_cast<int>(type));
  // Descriptors that no primitive accepts are rare.
  if (random.oneIn(60))
    switch (random.between(0, 2)) {
    case 0:
      input.note("csr " + what);
      return quern_memory_desc_create_with_csr_encoding(&made, rank, dims.values, type, drawApiDim(random), quern_s32,
                                                        drawApiType(random));
    case 1:
      input.note("coo " + what);
      return quern_memory_desc_create_with_coo_encoding(&made, rank, dims.values, type, drawApiDim(random), quern_s32);
    default:
      input.note("host scalar " + what);
      return quern_memory_desc_create_host_scalar(&made, type);
    }
  switch (random.between(0, 9)) {
  case 0:
    input.note("dense " + what);
    return quern_memory_desc_create_with_strides(&made, rank, dims.values, type, nullptr);
  case 1:
  case 2:
  case 3: {
    const ApiDims strides = drawStrides(random, dims);
    input.note(concat("strides ", what, ", ", textOf(strides)));
    return quern_memory_desc_create_with_strides(&made, rank, dims.values, type, strides.values);
  }
  case 4:
    input.note("any " + what);
    return quern_memory_desc_create_with_string_tag(&made, rank, dims.values, type, "any");
  default: {
    const std::string tag = drawTag(random, rank);
    input.note(concat("tag ", tag, ", ", what));
    return quern_memory_desc_create_with_string_tag(&made, rank, dims.values, type, tag.c_str());
  }
  }
}

/// Creates a descriptor from the bytes of another one, of which some are replaced.
quern_status_t damage(Input &input, quern_memory_desc_t &made, const_quern_memory_desc_t from) {
  Random &random = input.random;
  size_t size = 0;
  if (const quern_status_t status = quern_memory_desc_get_blob(nullptr, &size, from))
    return status;
  std::vector<uint8_t> blob(size);
  if (const quern_status_t status = quern_memory_desc_get_blob(blob.data(), &size, from))
    return status;
  for (int64_t left = random.between(1, 3); left > 0; --left) {
    const int64_t word = random.between(0, static_cast<int64_t>(size / 8) - 1);
    const int64_t value = random.oneIn(2) ? drawApiDim(random) : random.between(0, 4);
    input.note(concat("word ", word, " of the descriptor becomes ", value));
    std::memcpy(&blob[static_cast<size_t>(word) * 8], &value, sizeof(value));
  }
  return quern_memory_desc_create_with_blob(&made, blob.data());
}

/// Derives a descriptor with these dims from another one; sometimes with other dims.
OwnedMemoryDesc derive(Input &input, const ApiDims &dims, quern_data_type_t type) {
  Random &random = input.random;
  ApiDims from = dims, offsets;
  quern_memory_desc_t made = nullptr, derived = nullptr;
  const int64_t kind = random.between(0, 3);
  int permutation[16] = {};
  const std::vector<int> order = drawOrder(random, dims.rank);
  std::copy(order.begin(), order.end(), permutation);
  if (kind == 0) {
    for (size_t d = 0; d < std::size(offsets.values); ++d) {
      offsets.values[d] = random.oneIn(40) ? drawApiDim(random) : random.between(0, 2);
      if (dims.values[d] >= 0 && dims.values[d] < 1000)
        from.values[d] += std::clamp<int64_t>(offsets.values[d], 0, 8) + random.between(0, 2);
    }
  } else if (kind == 1) {
    for (size_t d = 0; d < order.size(); ++d)
      from.values[d] = dims.values[order[d]];
    if (random.oneIn(20))
      permutation[random.between(0, 11)] = static_cast<int>(random.between(-20, 20));
  } else if (kind == 2) {
    from.rank = 1, from.values[0] = 1;
    for (int d = 0; d < std::clamp(dims.rank, 0, 12); ++d)
      from.values[0] *= std::clamp<int64_t>(dims.values[d], 0, 32);
  }
  if (!succeeds(input, create(input, made, from, type)))
    return nullptr;
  const OwnedMemoryDesc parent(made);
  input.note(concat("from it by way ", kind, " ", textOf(dims), " at ", offsets.values[0], ", ", offsets.values[1]));
  const quern_status_t status = kind == 0
                                    ? quern_memory_desc_create_submemory(&derived, made, dims.values, offsets.values)
                                : kind == 1 ? quern_memory_desc_permute_axes(&derived, made, permutation)
                                : kind == 2 ? quern_memory_desc_reshape(&derived, made, dims.rank, dims.values)
                                            : damage(input, derived, made);
  return OwnedMemoryDesc(succeeds(input, status) ? derived : nullptr);
}

void query(Input &input, quern_memory_desc_t desc) {
  Random &random = input.random;
  int64_t room[64];
  input.note("queries the descriptor");
  for (int i = 0; i < 4; ++i) {
    (void)quern_memory_desc_query(desc, static_cast<quern_query_t>(random.between(0, 320)), room);
    (void)quern_memory_desc_query_v2(desc, static_cast<quern_query_t>(random.between(0, 320)),
                                     static_cast<int>(random.between(-2, 4)), room);
  }
  require(quern_memory_desc_equal(desc, desc) == 1, "a descriptor does not equal itself");
  (void)quern_memory_desc_get_size(desc);
  (void)quern_memory_desc_get_size_v2(desc, static_cast<int>(random.between(-1, 3)));
  if (random.oneIn(4))
    succeeds(input, quern_memory_desc_set_data_type(desc, drawApiType(random)));
}

int drawArgument(Random &random) {
  return random.pick({QUERN_ARG_SRC, QUERN_ARG_SRC, QUERN_ARG_SRC_1, QUERN_ARG_DST, QUERN_ARG_DST, QUERN_ARG_DIFF_SRC,
                      QUERN_ARG_MULTIPLE_SRC, QUERN_ARG_MULTIPLE_SRC + 1, QUERN_ARG_WEIGHTS, 0, -1, 1 << 30});
}

int drawMask(Random &random) {
  return random.oneIn(10) ? static_cast<int>(random.bits()) : static_cast<int>(random.between(0, 3));
}

/// Appending a 33rd post-op must fail with quern_out_of_memory, like in oneDNN.
void checkAppended(Input &input, quern_status_t status, const_quern_post_ops_t ops) {
  constexpr int maxPostOps = 32;
  if (status != quern_out_of_memory || quern_post_ops_len(ops) != maxPostOps)
    succeeds(input, status);
}

void appendPostOp(Input &input, quern_post_ops_t ops, const ApiDims &dims) {
  Random &random = input.random;
  quern_status_t status = quern_success;
  switch (random.between(0, 5)) {
  case 0: {
    const float scale = random.oneIn(10) ? NAN : 0.5F;
    const auto type = random.oneIn(3) ? drawApiType(random) : quern_data_type_undef;
    input.note(concat("post-op sum ", scale, ", type ", static_cast<int>(type)));
    status = quern_post_ops_append_sum(ops, scale, static_cast<int>(random.between(0, 2)), type);
    break;
  }
  case 1: {
    ApiDims operand = dims;
    for (int64_t &value : operand.values)
      value = random.oneIn(3) ? 1 : value;
    const auto alg = static_cast<quern_alg_kind_t>(quern_binary_add + random.between(0, 13));
    const OwnedMemoryDesc first = drawMemoryDesc(input, operand, drawApiType(random));
    const OwnedMemoryDesc second = drawMemoryDesc(input, operand, random.oneIn(4) ? drawApiType(random) : quern_s8);
    input.note(concat("post-op binary ", static_cast<int>(alg)));
    status = quern_post_ops_append_binary_v2(ops, alg, first.get(), second.get());
    break;
  }
  case 2:
    input.note("post-op prelu");
    status = quern_post_ops_append_prelu(ops, drawMask(random));
    break;
  default: {
    const int alg = random.oneIn(12)  ? static_cast<int>(random.bits())
                    : random.oneIn(3) ? static_cast<int>(quern_eltwise_linear)
                                      : static_cast<int>(quern_eltwise_relu + random.between(0, 20));
    input.note(concat("post-op eltwise ", alg));
    status = quern_post_ops_append_eltwise(ops, static_cast<quern_alg_kind_t>(alg), 0.5F, 0.25F);
  }
  }
  checkAppended(input, status, ops);
}

void setPostOps(Input &input, quern_primitive_attr_t attributes, const ApiDims &dims) {
  quern_post_ops_t made = nullptr;
  if (!succeeds(input, quern_post_ops_create(&made)))
    return;
  const Owned<quern_post_ops_t, quern_post_ops_destroy> ops(made);
  for (int64_t left = input.random.oneIn(16) ? input.random.between(1, 40) : input.random.between(1, 3); left > 0;
       --left)
    appendPostOp(input, made, dims);
  succeeds(input, quern_primitive_attr_set_post_ops(attributes, made));
}

void setOne(Input &input, quern_primitive_attr_t attributes, const ApiDims &dims) {
  Random &random = input.random;
  const int argument = drawArgument(random), mask = drawMask(random);
  switch (random.between(0, 8)) {
  case 0:
  case 1: {
    ApiDims groups;
    groups.rank = random.oneIn(2) ? 0 : static_cast<int>(random.between(-1, 3));
    for (int64_t &value : groups.values)
      value = random.oneIn(6) ? drawApiDim(random) : random.pick<int64_t>({1, 2, 4, 8});
    const auto type = random.oneIn(2) ? quern_f32 : drawApiType(random);
    const int isOnHost = random.oneIn(6);
    input.note(concat("scales of ", argument, ", mask ", mask, ", groups ", textOf(groups), ", on host ", isOnHost));
    succeeds(input, quern_primitive_attr_set_scales_v2(attributes, argument, mask, groups.rank, groups.values, type,
                                                       isOnHost));
    break;
  }
  case 2:
    input.note(concat("zero points of ", argument, ", mask ", mask));
    succeeds(input, quern_primitive_attr_set_zero_points_mask(attributes, argument, mask));
    break;
  case 3:
    input.note("scratchpad mode");
    succeeds(input, quern_primitive_attr_set_scratchpad_mode(
                        attributes, static_cast<quern_scratchpad_mode_t>(random.between(0, 2))));
    break;
  case 4:
    input.note("fpmath mode");
    succeeds(input, quern_primitive_attr_set_fpmath_mode_v2(
                        attributes, static_cast<quern_fpmath_mode_t>(random.between(0, 6)), random.oneIn(2)));
    break;
  case 5: {
    input.note("dropout");
    const OwnedMemoryDesc desc = drawMemoryDesc(input, dims, quern_u8);
    succeeds(input, quern_primitive_attr_set_dropout_v2(attributes, random.oneIn(4) ? nullptr : desc.get(),
                                                        random.oneIn(2) ? quern_s64 : quern_s32, random.oneIn(2),
                                                        random.oneIn(4)));
    break;
  }
  default:
    setPostOps(input, attributes, dims);
  }
}

} // namespace

bool succeeds(Input &input, quern_status_t status) {
  if (status == quern_success)
    return true;
  require(status == quern_invalid_arguments || status == quern_unimplemented || status == quern_not_required,
          concat(quern_status_name(status), ": ", quern_get_last_error_message()));
  input.count(Refused);
  return false;
}

int64_t drawApiDim(Random &random) {
  if (random.oneIn(24))
    return random.pick<int64_t>({-1, INT64_MAX, INT64_MIN, INT64_MAX / 2, INT64_MAX / 8 + 1, int64_t(1) << 31,
                                 int64_t(1) << 32, 0, 0, 0, 1000000, -7});
  return random.oneIn(3) ? random.pick<int64_t>({1, 3, 5, 15, 16, 17, 31, 32, 33}) : random.between(1, 12);
}

ApiDims drawApiDims(Random &random) {
  ApiDims dims;
  dims.rank = static_cast<int>(random.oneIn(32) ? random.between(-3, 16) : random.between(1, 5));
  for (int64_t &value : dims.values)
    value = drawApiDim(random);
  return dims;
}

quern_data_type_t drawApiType(Random &random) {
  return random.oneIn(10) ? static_cast<quern_data_type_t>(random.between(-1, 17))
                          : random.pick({quern_f32, quern_f32, quern_bf16, quern_f16, quern_s8, quern_u8, quern_s32});
}

OwnedMemoryDesc drawMemoryDesc(Input &input, const ApiDims &dims, quern_data_type_t type) {
  quern_memory_desc_t made = nullptr;
  if (input.random.oneIn(6))
    return derive(input, dims, type);
  if (!succeeds(input, create(input, made, dims, type)))
    return nullptr;
  OwnedMemoryDesc desc(made);
  if (input.random.oneIn(16))
    query(input, desc.get());
  return desc;
}

OwnedAttributes drawApiAttributes(Input &input, const ApiDims &dims) {
  quern_primitive_attr_t made = nullptr;
  if (!input.random.oneIn(3) || !succeeds(input, quern_primitive_attr_create(&made)))
    return nullptr;
  OwnedAttributes attributes(made);
  for (int64_t left = input.random.between(1, 3); left > 0; --left)
    setOne(input, made, dims);
  return attributes;
}

} // namespace quern::fuzz
