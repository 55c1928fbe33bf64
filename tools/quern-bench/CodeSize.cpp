//===- CodeSize.cpp - Size of a problem's kernels -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Adds up the loaded sections of an ELF object.
//
//===----------------------------------------------------------------------===//
#include "CodeSize.h"

#include "Api.h"

#include <cstring>
#include <elf.h>
#include <string_view>

namespace quern::bench {

namespace {

template <typename T> T readAt(std::string_view bytes, uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T))
    throw std::runtime_error("an object file is truncated");
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

} // namespace

int64_t codeBytesOf(const std::string &line) {
  quern_blob_t handle;
  check(quern_compile(line.c_str(), nullptr, quern_form_object, &handle));
  Owner<quern_blob_t, quern_blob_destroy> blob(handle);
  const void *data = nullptr;
  size_t size = 0;
  check(quern_blob_get_data(blob.get(), &data, &size));
  std::string_view object(static_cast<const char *>(data), size);
  auto header = readAt<Elf64_Ehdr>(object, 0);
  int64_t total = 0;
  for (int i = 0; i < header.e_shnum; ++i) {
    auto section = readAt<Elf64_Shdr>(object, header.e_shoff + static_cast<uint64_t>(i) * header.e_shentsize);
    if (section.sh_flags & SHF_ALLOC)
      total += static_cast<int64_t>(section.sh_size);
  }
  return total;
}

} // namespace quern::bench
