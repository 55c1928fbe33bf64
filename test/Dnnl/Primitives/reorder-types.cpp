// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks reorders between all pairs of types: rounding to even, saturation and infinities; results are compared bit by
// bit. Negative zeros and denormals of f8_e4m3 are left out: docs/primitives/reorder.md describes how the libraries
// differ.
//
// REQUIRES: onednn-3.13
// RUN: %both --tolerance=0 %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "values.hpp"

#include "oneapi/dnnl/dnnl_debug.h"

#include <limits>

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

namespace {

engine eng(engine::kind::cpu, 0);
stream strm(eng);
constexpr float infinity = std::numeric_limits<float>::infinity();

const char *nameOf(type of) { return dnnl_dt2str(memory::convert_to_c(of)); }

bool isFloating(type of) { return of != type::s8 && of != type::u8 && of != type::s32; }

/// No source is NaN or infinity, because their conversion to integers is unspecified.
float largestOf(type of) { return of == type::f8_e4m3 ? 448 : of == type::f16 ? 65504 : infinity; }

/// Values at and around the limits of the types, and halves. There is no infinity, because integers have none.
std::vector<float> limits(float largest) {
  std::vector<float> values = {0,     0.5f, 1.5f,    2.5f,  -0.5f, -1.5f,       -2.5f, 127,  127.5f,
                               128,   -128, -128.5f, -129,  255,   255.5f,      256,   -1,   1.0f / 3,
                               1e-3f, 448,  447,     57344, 464,   465,         480,   -481, 61440,
                               65504, 1e6f, 65520,   -1e6f, 3e-5f, 1.00390625f, 1e9f,  2e9f, -2e9f};
  const std::vector<float> some = someValues(32, 1);
  values.insert(values.end(), some.begin(), some.end());
  for (float &value : values)
    value = std::clamp(value, -largest, largest);
  return values;
}

void printBytes(const memory &memory) {
  const uint8_t *data = memory.map_data<uint8_t>();
  for (size_t i = 0; i < memory.get_desc().get_size(); ++i)
    std::printf("%02x", data[i]);
  memory.unmap_data(const_cast<uint8_t *>(data));
  std::printf("\n");
}

/// Converts f32 to `from`, which other lines print, and then to `to`.
void convert(type from, type to, const std::vector<float> &values) {
  const memory::dims dims = {4, static_cast<memory::dim>(values.size()) / 4};
  const memory::desc given(dims, type::f32, tag::ab), start(dims, from, tag::ab), end(dims, to, tag::ba);
  memory plain(given, eng), source(start, eng), result(end, eng);
  fill(plain, values);
  std::printf("%s to %s: ", nameOf(from), nameOf(to));
  const reorder::primitive_desc first(eng, given, eng, start, primitive_attr(), true);
  const reorder::primitive_desc second(eng, start, eng, end, primitive_attr(), true);
  if (!first || !second) {
    std::printf(": refused\n");
    return;
  }
  reorder(first).execute(strm, plain, source);
  reorder(second).execute(strm, source, result);
  strm.wait();
  printBytes(result);
}

} // namespace

int main() {
  const type types[] = {type::f32, type::bf16, type::s32, type::s8, type::u8, type::f16, type::f8_e5m2, type::f8_e4m3};
  for (type from : types)
    for (type to : types)
      convert(from, to, limits(largestOf(from)));
  for (type from : types)
    for (type to : types)
      if (isFloating(from) && isFloating(to) && from != type::f8_e4m3 && to != type::f8_e4m3)
        convert(from, to, {infinity, -infinity, 3.4e38f, -3.4e38f, 1e-30f, 1e-10f, 1e38f, 65536});
  return 0;
}
