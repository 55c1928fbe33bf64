//===- Dropout.cpp - Reference of dropout masks ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Philox: Salmon, Moraes, Dror and Shaw, Parallel random numbers: as easy as 1, 2, 3 (SC11).
//
//===----------------------------------------------------------------------===//
#include "Reference/Attributes/Dropout.h"

#include "Primitives/Arguments.h"
#include "Reference/Attributes/Quantization.h"

#include <array>
#include <cstring>

namespace quern {
namespace {

uint32_t lowOf(int64_t x) { return static_cast<uint32_t>(static_cast<uint64_t>(x)); }
uint32_t highOf(int64_t x) { return static_cast<uint32_t>(static_cast<uint64_t>(x) >> 32); }

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t(0xD2511F53) * counter[0], b = uint64_t(0xCD9E8D57) * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key = {key[0] + 0x9E3779B9u, key[1] + 0xBB67AE85u};
  }
  return counter;
}

template <typename Number>
Result<Number> readNumber(const ReferenceInputs &inputs, int32_t argument, DataType type, bool isOnHost) {
  QuantParams one;
  one.dataType = type;
  one.isOnHost = isOnHost;
  QUERN_ASSIGN_OR_RETURN(const void *buffer, bufferOf(inputs, argument, arg::vectorOf(one, {})));
  Number number;
  std::memcpy(&number, buffer, sizeof(number));
  return number;
}

Result<int64_t> readInteger(const ReferenceInputs &inputs, int32_t argument, DataType type, bool isOnHost) {
  if (type == DataType::S64)
    return readNumber<int64_t>(inputs, argument, type, isOnHost);
  QUERN_ASSIGN_OR_RETURN(int32_t narrow, readNumber<int32_t>(inputs, argument, type, isOnHost));
  return int64_t(narrow);
}

} // namespace

uint32_t dropoutNumber(int64_t position, int64_t seed, int64_t offset) {
  const uint32_t first = lowOf(position) & ~3u;
  if (offset == 0)
    return philox({first, first + 1, first, first + 3}, {lowOf(seed), lowOf(seed)})[2];
  return philox({lowOf(offset), highOf(offset), first, highOf(position)},
                {lowOf(seed), highOf(seed)})[lowOf(position) & 3];
}

Result<DroppedElements> readDropout(const Dropout &dropout, const TensorDesc &dst, const ReferenceInputs &inputs) {
  DroppedElements dropped;
  if (!dropout.isSet())
    return dropped;
  QUERN_ASSIGN_OR_RETURN(float p, readNumber<float>(inputs, arg::dropoutProbability, DataType::F32, dropout.isOnHost));
  QUERN_ASSIGN_OR_RETURN(int64_t seed, readInteger(inputs, arg::dropoutSeed, dropout.seedType, dropout.isOnHost));
  Result<int64_t> offset =
      dropout.usesOffset ? readInteger(inputs, arg::dropoutOffset, DataType::S64, dropout.isOnHost) : 0;
  if (!offset)
    return offset.takeError();
  const double clamped = p > 1 ? 1.0 : p < 0 ? 0.0 : static_cast<double>(p); // NaN stays, and no element is kept
  for (int64_t i = 0; i < dst.elements(); ++i)
    dropped.kept.push_back(dropoutNumber(i, seed, *offset) > clamped * 4294967295.0);
  dropped.factor = p == 1 ? 0 : 1 / (1 - p);
  return dropped;
}

Result<void> appendDropoutMask(const Dropout &dropout, const ReferenceInputs &inputs,
                               std::vector<ReferenceOutput> &outputs) {
  if (dropout.mask.isZero())
    return {};
  QUERN_ASSIGN_OR_RETURN(DroppedElements dropped, readDropout(dropout, outputs.front().desc, inputs));
  ReferenceOutput mask{arg::dropoutMask, dropout.mask, std::vector<double>(dropped.kept.begin(), dropped.kept.end())};
  mask.criterion = Criterion::Value;
  outputs.push_back(std::move(mask));
  return {};
}

} // namespace quern
