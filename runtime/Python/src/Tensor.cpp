//===- Tensor.cpp - Type, dims and strides of an array --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Tensor.h"

namespace quern::python {
namespace {

struct Name {
  quern_data_type_t type;
  const char *name;
};
constexpr Name names[] = {
    {quern_f64, "f64"},         {quern_f32, "f32"},         {quern_f16, "f16"},         {quern_bf16, "bf16"},
    {quern_s32, "s32"},         {quern_s8, "s8"},           {quern_u8, "u8"},           {quern_boolean, "boolean"},
    {quern_f8_e5m2, "f8_e5m2"}, {quern_f8_e4m3, "f8_e4m3"}, {quern_e8m0, "e8m0"},       {quern_s4, "s4"},
    {quern_u4, "u4"},           {quern_f4_e2m1, "f4_e2m1"}, {quern_f4_e3m0, "f4_e3m0"}, {quern_s64, "s64"}};

void append(std::string &text, const Tensor &tensor, const std::array<int64_t, QUERN_MAX_NDIMS> &numbers) {
  for (int32_t dim = 0; dim < tensor.rank; ++dim) {
    if (dim > 0)
      text += 'x';
    text += std::to_string(numbers[static_cast<size_t>(dim)]);
  }
  if (tensor.rank == 0)
    text += '1';
}

} // namespace

const char *nameOf(quern_data_type_t type) {
  for (const Name &name : names)
    if (name.type == type)
      return name.name;
  return "undef";
}

quern_data_type_t typeFromName(std::string_view name) {
  for (const Name &known : names)
    if (known.name == name)
      return known.type;
  return quern_data_type_undef;
}

void Tensor::setDense() {
  int64_t stride = 1;
  for (int32_t dim = rank - 1; dim >= 0; --dim) {
    const auto at = static_cast<size_t>(dim);
    strides[at] = stride;
    stride *= dims[at] > 0 ? dims[at] : 1;
  }
}

std::string Tensor::text() const {
  if (isAbsent())
    return "none";
  std::string text = std::string(nameOf(type)) + ":";
  append(text, *this, dims);
  text += ":s";
  append(text, *this, strides);
  return text;
}

} // namespace quern::python
