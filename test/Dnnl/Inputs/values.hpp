// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fills, reads and prints f32 memory of oneDNN's C++ interface. Memory is mapped, which every engine supports.
#ifndef VALUES_HPP
#define VALUES_HPP

#include "oneapi/dnnl/dnnl.hpp"

#include <algorithm>
#include <cstdio>
#include <vector>

/// Returns `count` values in [-4, 4), the same ones for a seed on every machine.
inline std::vector<float> someValues(size_t count, unsigned seed) {
  std::vector<float> values(count);
  for (float &value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(seed >> 8) / static_cast<float>(1 << 21) - 4;
  }
  return values;
}

template <typename T> void fill(const dnnl::memory &memory, const std::vector<T> &values) {
  T *data = memory.map_data<T>();
  for (size_t i = 0; i < values.size(); ++i)
    data[i] = values[i];
  memory.unmap_data(data);
}

template <typename T> std::vector<T> read(const dnnl::memory &memory) {
  T *data = memory.map_data<T>();
  std::vector<T> values(data, data + memory.get_desc().get_size() / sizeof(T));
  memory.unmap_data(data);
  return values;
}

template <typename T> void print(const char *name, const std::vector<T> &values) {
  std::printf("%s:", name);
  for (T value : values)
    if constexpr (std::is_same_v<T, float>)
      std::printf(" %.7e", value);
    else
      std::printf(" %d", static_cast<int>(value));
  std::printf("\n");
}

/// Starts a line whose numbers may differ between the libraries by the rounding of the type, with that tolerance.
inline void beginLine(dnnl::memory::data_type type) {
  const bool isBf16 = type == dnnl::memory::data_type::bf16;
  std::printf("~%g ", isBf16 ? 8e-3 : type == dnnl::memory::data_type::f16 ? 1e-3 : 1e-5);
}

/// Creates f32 memory with seeded values.
inline dnnl::memory makeMemory(const dnnl::engine &engine, const dnnl::memory::desc &desc, unsigned seed) {
  dnnl::memory memory(desc, engine);
  fill(memory, someValues(desc.get_size() / sizeof(float), seed));
  return memory;
}

/// Returns row-major f32 with the same dims.
inline dnnl::memory::desc plainOf(const dnnl::memory::desc &desc) {
  const dnnl::memory::dims dims = desc.get_dims();
  dnnl::memory::dims strides(dims.size(), 1);
  for (size_t d = dims.size(); d-- > 1;)
    strides[d - 1] = strides[d] * std::max<dnnl::memory::dim>(dims[d], 1);
  return {dims, dnnl::memory::data_type::f32, strides};
}

/// Copies, with conversion of type and layout.
inline void copy(dnnl::stream &stream, dnnl::memory &from, dnnl::memory &to) {
  dnnl::reorder(from, to).execute(stream, from, to);
  stream.wait();
}

/// Creates memory of any type and layout with the values that makeMemory() gives a row-major f32 tensor, times `scale`.
inline dnnl::memory makeTyped(dnnl::stream &stream, const dnnl::memory::desc &desc, unsigned seed, float scale = 1) {
  const dnnl::engine engine = stream.get_engine();
  dnnl::memory plain(plainOf(desc), engine), memory(desc, engine);
  std::vector<float> values = someValues(plain.get_desc().get_size() / sizeof(float), seed);
  for (float &value : values)
    value *= scale;
  fill(plain, values);
  copy(stream, plain, memory);
  return memory;
}

/// Returns the elements in row-major order, as f32.
inline std::vector<float> readPlain(dnnl::stream &stream, dnnl::memory memory) {
  dnnl::memory plain(plainOf(memory.get_desc()), stream.get_engine());
  copy(stream, memory, plain);
  return read<float>(plain);
}

/// Prints the status and message of an exception.
template <typename Body> void attempt(const char *name, Body &&body) {
  try {
    body();
    std::printf("%s: no exception\n", name);
  } catch (const dnnl::error &error) {
    std::printf("%s: status %d, %s\n", name, static_cast<int>(error.status), error.message);
  }
}

#endif // VALUES_HPP
