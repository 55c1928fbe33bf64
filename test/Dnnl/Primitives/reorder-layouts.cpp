// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks reorders between families of layouts: plain ones of 1 to 6 dims, partial blocks, several blocks of a dim,
// strided ones, regions and transposed views of tensors, and empty tensors. Compares the bytes of the result, including
// padding.
//
// REQUIRES: onednn-3.13
// RUN: %both --tolerance=0 %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "values.hpp"

#include "oneapi/dnnl/dnnl_debug.h"

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

namespace {

engine eng(engine::kind::cpu, 0);
stream strm(eng);

/// Prints a checksum of a buffer, including zeros of the padding: sums with weights that depend on the position.
template <typename T> void sign(const char *name, const std::vector<T> &values) {
  double sum = 0, weighted = 0;
  size_t zeros = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    sum += static_cast<double>(values[i]);
    weighted += static_cast<double>(values[i]) * static_cast<double>(i % 251 + 1);
    zeros += values[i] == 0;
  }
  std::printf("%s: %zu values, %zu zeros, %.10e %.10e\n", name, values.size(), zeros, sum, weighted);
}

const char *nameOf(tag of) { return dnnl_fmt_tag2str(static_cast<dnnl_format_tag_t>(of)); }

/// f32 values are converted to both layouts and back.
void through(const memory::dims &dims, const std::vector<tag> &layouts, type of) {
  for (tag first : layouts)
    for (tag second : layouts) {
      const memory::desc one(dims, of, first), two(dims, of, second);
      memory a = makeTyped(strm, one, 1, 20), b(two, eng);
      copy(strm, a, b);
      std::printf("%s to %s ", nameOf(first), nameOf(second));
      if (of == type::f32)
        sign("f32", read<float>(b));
      else
        sign("s8", read<int8_t>(b));
      if (readPlain(strm, a) != readPlain(strm, b))
        std::printf("lost\n");
    }
}

void families() {
  through({19}, {tag::a}, type::f32);
  through({7, 37}, {tag::ab, tag::ba}, type::f32);
  through({3, 5, 19}, {tag::abc, tag::cba, tag::acb, tag::aBc16b, tag::aBc8b}, type::f32);
  through({2, 19, 5, 7}, {tag::nchw, tag::nhwc, tag::chwn, tag::nChw16c, tag::nChw8c, tag::nChw4c}, type::f32);
  through({2, 37, 3, 2}, {tag::nchw, tag::nhwc, tag::nChw16c, tag::nChw32c}, type::s8);
  through({20, 19, 3, 3},
          {tag::oihw, tag::hwio, tag::ihwo, tag::OIhw16i16o, tag::OIhw8o8i, tag::OIhw4i16o4i, tag::Ohwi8o}, type::f32);
  through({35, 70, 1, 2}, {tag::oihw, tag::hwio, tag::OIhw4i16o4i, tag::OIhw16i16o4i}, type::s8);
  through({2, 9, 10, 3, 2}, {tag::goihw, tag::hwigo, tag::gOIhw16i16o, tag::gOIhw8i8o}, type::f32);
  through({2, 17, 3, 2, 2}, {tag::ncdhw, tag::ndhwc, tag::nCdhw16c, tag::nCdhw8c}, type::f32);
  through({2, 3, 9, 2, 2, 3}, {tag::goidhw, tag::abcdef}, type::f32);
  through({40, 50}, {tag::ab, tag::ba, tag::AB16b16a, tag::AB16b64a2b, tag::BA16a16b}, type::f32);
}

void strided() {
  const memory::dims dims = {5, 6, 7};
  const memory::desc plain(dims, type::f32, tag::abc), gaps(dims, type::f32, memory::dims{100, 14, 2}),
      turned(dims, type::f32, memory::dims{1, 5, 30});
  memory a = makeMemory(eng, plain, 2), b(gaps, eng), c(turned, eng);
  fill(b, std::vector<float>(gaps.get_size() / sizeof(float), 0.5f));
  copy(strm, a, b);
  sign("gaps keep what they have", read<float>(b));
  copy(strm, b, c);
  print("turned", read<float>(c));
  // Stride 0 repeats a value.
  const memory::desc row({4, 6}, type::f32, memory::dims{0, 1}), all({4, 6}, type::f32, tag::ab);
  memory once(row, eng), often(all, eng);
  fill(once, someValues(6, 3));
  copy(strm, once, often);
  print("repeated", read<float>(often));
}

void regions() {
  const memory::desc whole({4, 40, 6}, type::f32, tag::aBc16b), plain({4, 40, 6}, type::f32, tag::abc);
  struct Part {
    memory::dims dims, offsets;
  };
  for (const Part &part : {Part{{2, 16, 3}, {1, 16, 2}}, Part{{4, 8, 6}, {0, 32, 0}}, Part{{1, 24, 6}, {3, 16, 0}},
                           Part{{4, 10, 2}, {0, 0, 4}}}) {
    memory tensor = makeMemory(eng, whole, 4);
    const memory::desc region = whole.submemory_desc(part.dims, part.offsets);
    const memory::desc small(part.dims, type::f32, tag::cab);
    memory window(region, eng, tensor.get_data_handle()), alone(small, eng), given = makeTyped(strm, small, 5);
    copy(strm, window, alone);
    print("read", read<float>(alone));
    // Elements around the region, including the rest of its blocks, do not change.
    copy(strm, given, window);
    sign("written", read<float>(tensor));
  }
  // Concatenation in place: the two halves of one tensor.
  memory joined(plain, eng);
  for (memory::dim half : {0, 20}) {
    const memory::desc part = plain.submemory_desc({4, 20, 6}, {0, half, 0});
    memory window(part, eng, joined.get_data_handle()),
        given = makeTyped(strm, {{4, 20, 6}, type::f32, tag::acb}, 6 + half);
    copy(strm, given, window);
  }
  sign("joined", read<float>(joined));
}

void views() {
  const memory::desc image({2, 12, 4, 5}, type::f32, tag::nhwc), plain({2, 12, 4, 5}, type::f32, tag::nchw);
  memory a = makeMemory(eng, image, 8), b({{12, 2, 5, 4}, type::f32, tag::abcd}, eng);
  memory turned(image.permute_axes({1, 0, 3, 2}), eng, a.get_data_handle());
  copy(strm, turned, b);
  print("turned axes", read<float>(b));
  memory c = makeMemory(eng, plain, 9), d({{2, 12, 20}, type::f32, tag::acb}, eng);
  memory flat(plain.reshape({2, 12, 20}), eng, c.get_data_handle());
  copy(strm, flat, d);
  print("other dims", read<float>(d));
}

void empty() {
  const memory::desc none({0, 5}, type::f32, tag::ab), turned({0, 5}, type::f32, tag::ba);
  memory a(none, eng), b(turned, eng);
  copy(strm, a, b);
  std::printf("empty %zu\n", turned.get_size());
}

} // namespace

int main() {
  families();
  strided();
  regions();
  views();
  empty();
  return 0;
}
