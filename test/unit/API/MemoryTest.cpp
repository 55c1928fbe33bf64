//===- MemoryTest.cpp - Memory descriptors and memory through the API -----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests valid calls; BadInputTest.cpp tests invalid ones.
//
//===----------------------------------------------------------------------===//
#include "Runtime/TestSupport.h"

#include <gtest/gtest.h>

#include <cstring>

namespace quern {
namespace {

using dt = memory::data_type;

TEST(MemoryDesc, ByTag) {
  memory::desc desc({2, 3, 4, 5}, dt::f32, "acdb");
  EXPECT_EQ(desc.get_ndims(), 4);
  EXPECT_EQ(desc.get_dims(), (memory::dims{2, 3, 4, 5}));
  EXPECT_EQ(desc.get_strides(), (memory::dims{60, 1, 15, 3}));
  EXPECT_EQ(desc.get_data_type(), dt::f32);
  EXPECT_EQ(desc.get_format_kind(), memory::format_kind::blocked);
  EXPECT_EQ(desc.get_size(), 480u);
  EXPECT_EQ(desc, memory::desc({2, 3, 4, 5}, dt::f32, "nhwc"));
  EXPECT_NE(desc, memory::desc({2, 3, 4, 5}, dt::f32, "nchw"));
}

TEST(MemoryDesc, Blocked) {
  memory::desc desc({2, 17, 4, 5}, dt::s8, "aBcd16b");
  EXPECT_EQ(desc.get_inner_nblks(), 1);
  EXPECT_EQ(desc.get_inner_blks(), (memory::dims{16}));
  EXPECT_EQ(desc.get_inner_idxs(), (memory::dims{1}));
  EXPECT_EQ(desc.get_padded_dims(), (memory::dims{2, 32, 4, 5}));
  EXPECT_EQ(desc.get_padded_offsets(), (memory::dims{0, 0, 0, 0}));
  EXPECT_EQ(desc.get_size(), 2u * 32 * 4 * 5);
}

TEST(MemoryDesc, ByStridesAnyAndZero) {
  memory::desc strided({2, 3}, dt::f64, memory::dims{10, 2});
  EXPECT_EQ(strided.get_strides(), (memory::dims{10, 2}));
  EXPECT_EQ(strided.get_size(), 2u * 10 * 8) << "the size includes whole rows, like in oneDNN";
  EXPECT_EQ(memory::desc({2, 3}, dt::f32, memory::dims{}), memory::desc({2, 3}, dt::f32, "ab"));
  memory::desc any({2, 3}, dt::f32, "any");
  EXPECT_EQ(any.get_format_kind(), memory::format_kind::any);
  EXPECT_EQ(any.get_size(), 0u);
  EXPECT_TRUE(any.get_strides().empty());
  EXPECT_TRUE(memory::desc().is_zero());
  EXPECT_EQ(memory::desc().get_size(), 0u);
  EXPECT_EQ(memory::desc(), memory::desc());
  memory::desc runtime({2, QUERN_RUNTIME_DIM_VAL}, dt::f32, "ab");
  EXPECT_EQ(runtime.get_size(), QUERN_RUNTIME_SIZE_VAL);
}

TEST(MemoryDesc, Sparse) {
  const memory::desc csr = memory::desc::csr({4, 6}, dt::f32, 5, dt::s32, dt::s64);
  EXPECT_EQ(csr.get_format_kind(), memory::format_kind::sparse);
  EXPECT_EQ(csr.get_sparse_encoding(), memory::sparse_encoding::csr);
  EXPECT_EQ(csr.get_nnz(), 5);
  EXPECT_EQ(csr.get_num_handles(), 3);
  EXPECT_EQ(csr.get_data_type(1), dt::s32);
  EXPECT_EQ(csr.get_data_type(2), dt::s64);
  EXPECT_EQ((std::vector<size_t>{csr.get_size(), csr.get_size(1), csr.get_size(2), csr.get_size(3)}),
            (std::vector<size_t>{20, 20, 40, 0}));
  EXPECT_TRUE(csr.get_strides().empty());
  const memory::desc coo = memory::desc::coo({4, 6}, dt::f16, 5, dt::s32),
                     packed = memory::desc::packed({4, 6}, dt::s8, 5);
  EXPECT_EQ(coo.get_num_handles(), 3);
  EXPECT_EQ(coo.get_size(), 10u);
  EXPECT_EQ(coo.get_size(2), 20u);
  EXPECT_EQ(packed.get_sparse_encoding(), memory::sparse_encoding::packed);
  EXPECT_EQ(packed.get_size(), 0u);
  EXPECT_EQ(csr, memory::desc(csr.get_blob()));
  EXPECT_NE(csr, memory::desc::csr({4, 6}, dt::f32, 6, dt::s32, dt::s64));
  EXPECT_NE(csr, memory::desc::csr({4, 6}, dt::f32, 5, dt::s32, dt::s32));
  EXPECT_NE(csr, coo);
}

TEST(Memory, SeveralBuffers) {
  engine device(engine::kind::cpu, 0);
  const memory::desc csr = memory::desc::csr({4, 6}, dt::f32, 5, dt::s32, dt::s32);
  float values[5] = {};
  int32_t columns[5] = {}, rows[5] = {};
  memory given(csr, device, std::vector<void *>{values, columns, rows});
  EXPECT_EQ(given.get_data_handle(), values);
  EXPECT_EQ(given.get_data_handle(2), rows);
  given.set_data_handle(columns, 2);
  EXPECT_EQ(given.map_data<int32_t>(2), columns);
  given.unmap_data(columns, 2);
  EXPECT_THROW(given.get_data_handle(3), error);
  void *data = nullptr;
  for (int index : {-1, 3}) {
    EXPECT_EQ(quern_memory_get_data_handle_v2(given.get(), &data, index), quern_invalid_arguments);
    EXPECT_EQ(quern_memory_set_data_handle_v2(given.get(), rows, index), quern_invalid_arguments);
    EXPECT_EQ(quern_memory_map_data_v2(given.get(), &data, index), quern_invalid_arguments);
    EXPECT_EQ(quern_memory_unmap_data_v2(given.get(), rows, index), quern_invalid_arguments);
  }
  EXPECT_EQ(quern_memory_get_data_handle_v2(given.get(), nullptr, 0), quern_invalid_arguments);
  EXPECT_EQ(quern_memory_set_data_handle_v2(nullptr, rows, 0), quern_invalid_arguments);
  EXPECT_EQ(quern_memory_map_data_v2(nullptr, &data, 0), quern_invalid_arguments);
  EXPECT_EQ(quern_memory_unmap_data_v2(given.get(), rows, 2), quern_invalid_arguments)
      << "this pointer was not returned by a map function";
  memory allocated(csr, device);
  for (int i = 0; i < 3; ++i) {
    ASSERT_NE(allocated.get_data_handle(i), nullptr) << i;
    std::memset(allocated.get_data_handle(i), 1, csr.get_size(i));
  }
}

TEST(MemoryDesc, Derived) {
  memory::desc desc({4, 6}, dt::f32, "ab");
  memory::desc part = desc.submemory_desc({2, 3}, {1, 2});
  EXPECT_EQ(part.get_submemory_offset(), 8);
  EXPECT_EQ(part.get_strides(), desc.get_strides());
  EXPECT_EQ(desc.reshape({2, 2, 6}).get_strides(), (memory::dims{12, 6, 1}));
  EXPECT_EQ(desc.permute_axes({1, 0}).get_dims(), (memory::dims{6, 4}));
  EXPECT_EQ(memory::desc(part.get_blob()), part);
}

TEST(MemoryDesc, TypeSizes) {
  const std::pair<dt, size_t> sizes[] = {{dt::f64, 8}, {dt::f32, 4}, {dt::s32, 4},     {dt::bf16, 2}, {dt::f16, 2},
                                         {dt::s8, 1},  {dt::u8, 1},  {dt::f8_e5m2, 1}, {dt::s4, 1},   {dt::undef, 0}};
  for (auto [type, size] : sizes)
    EXPECT_EQ(memory::data_type_size(type), size) << static_cast<int>(type);
}

TEST(Memory, OwnAndForeignBuffers) {
  engine device(engine::kind::cpu, 0);
  memory::desc desc({4, 4}, dt::f32, "ab");
  float buffer[16];
  memory foreign(desc, device, buffer), owned(desc, device), none(desc, device, QUERN_MEMORY_NONE);
  EXPECT_EQ(foreign.get_data_handle(), buffer);
  EXPECT_EQ(foreign.map_data<float>(), buffer);
  foreign.unmap_data(buffer);
  ASSERT_NE(owned.get_data_handle(), nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(owned.get_data_handle()) % 64, 0u);
  std::memset(owned.get_data_handle(), 0, desc.get_size());
  EXPECT_EQ(none.get_data_handle(), nullptr);
  none.set_data_handle(buffer);
  EXPECT_EQ(none.get_data_handle(), buffer);
  owned.set_data_handle(buffer);
  EXPECT_EQ(owned.get_data_handle(), buffer);
  EXPECT_EQ(foreign.get_desc(), desc);
  EXPECT_EQ(foreign.get_engine().get(), device.get());
  EXPECT_EQ(memory(memory::desc({0, 4}, dt::f32, "ab"), device).get_data_handle(), nullptr)
      << "an empty tensor has no buffer";
  EXPECT_EQ(memory(memory::desc(), device).get_data_handle(), nullptr);
}

} // namespace
} // namespace quern
