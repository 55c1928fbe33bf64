//===- Npy.h - NumPy's .npy files -----------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Reads format versions 1 to 3 and writes version 1. The reader trusts no input: every length is checked before it is
// used, and a file whose size is not exactly header plus data is refused. bf16 and f8 have no NumPy type; they are
// stored as raw 16- and 8-bit words.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TOOLS_NPY_H
#define QUERN_TOOLS_NPY_H

#include "Desc/Tensor/TensorDesc.h"

#include <string>
#include <string_view>
#include <vector>

namespace quern {

/// A parsed file. `data` points into the bytes that were parsed.
struct NpyArray {
  char kind = 0;     ///< NumPy's kind letter: f, i, u, V
  int itemBytes = 0; ///< bytes of an element, which is little-endian
  bool fortranOrder = false;
  std::vector<int64_t> shape;
  std::string_view data;
};

/// Parses a file. Fails with `invalid_arguments` and a reason if the bytes are not a well-formed .npy file of
/// little-endian numbers.
Result<NpyArray> parseNpy(std::string_view bytes);

/// Copies the array into a buffer with this descriptor. Shape and element type must match (see npyTypeOf). Types that
/// NumPy lacks, such as bf16, may also have kind V.
Result<void> copyNpyTo(const NpyArray &array, const TensorDesc &desc, void *buffer);

/// Returns the file contents for a tensor, in C order.
Result<std::string> writeNpy(const TensorDesc &desc, const void *buffer);

/// Returns NumPy's descr of an element type: "<f4", "<u2" for bf16, "|u1" for u8, f8 and e8m0; null for types that
/// files cannot have, such as 4-bit types.
const char *npyTypeOf(DataType type);

} // namespace quern

#endif // QUERN_TOOLS_NPY_H
