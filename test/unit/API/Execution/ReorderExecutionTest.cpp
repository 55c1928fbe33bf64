//===- ReorderExecutionTest.cpp - Reorders through the API ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the values of real kernels: memory objects, views of one buffer, reorders in place, and refused executions.
//
//===----------------------------------------------------------------------===//
#include "API/Execution/ReorderSupport.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <sys/mman.h>

namespace quern {
namespace {

using dt = memory::data_type;
using test::bufferSize;
using test::pattern;
using test::wrongElements;

constexpr auto same = [](auto value) { return value; };

class ReorderExecution : public testing::Test {
protected:
  engine device{engine::kind::cpu, 0};
  stream order{device};

  void run(const memory::desc &src, void *from, const memory::desc &dst, void *to, const primitive_attr &attr = {}) {
    reorder(reorder::primitive_desc(device, src, device, dst, attr))
        .execute(order, memory(src, device, from), memory(dst, device, to));
  }
  /// Runs a reorder of a pattern and returns the number of wrong elements, including gaps, which must not change.
  size_t wrongAfter(const memory::desc &src, const memory::desc &dst) {
    std::vector<float> from = pattern<float>(bufferSize<float>(src)), to(bufferSize<float>(dst), -7.5f);
    run(src, from.data(), dst, to.data());
    return wrongElements(src, from.data(), dst, to.data(), same) + test::othersThan(dst, to, -7.5f);
  }
  std::string refusal(const std::function<void()> &body) {
    EXPECT_EQ(test::statusOf(body), quern_invalid_arguments);
    return quern_get_last_error_message();
  }
};

TEST_F(ReorderExecution, DescribesReordersByTheirMemories) {
  memory::desc plain({3, 5, 7}, dt::f32, "abc"), blocked({3, 5, 7}, dt::f32, "aCb4c");
  std::vector<float> values = pattern<float>(bufferSize<float>(plain));
  memory src(plain, device, values.data()), packed(blocked, device), back(plain, device);
  reorder there(src, packed), again(packed, back);
  there.execute(order, src, packed);
  again.execute(order, packed, back);
  order.wait();
  float *mapped = packed.map_data<float>();
  EXPECT_EQ(wrongElements(plain, values.data(), blocked, mapped, same), 0u);
  packed.unmap_data(mapped);
  EXPECT_EQ(std::memcmp(back.get_data_handle(), values.data(), plain.get_size()), 0);
  reorder::primitive_desc desc(src, packed);
  EXPECT_EQ(desc.src_desc(), plain);
  EXPECT_EQ(desc.dst_desc(), blocked);
  EXPECT_EQ(desc.get_src_engine().get(), device.get());
  EXPECT_EQ(desc.get_dst_engine().get(), device.get());
}

TEST_F(ReorderExecution, ScratchpadsAreTheLibrarysOrTheCallers) {
  // Transposed half bytes are unpacked to scratch first.
  memory::desc halves({6, 8}, dt::s4, "ab"), bytes({6, 8}, dt::s8, "ba");
  std::vector<uint8_t> from(halves.get_size());
  for (size_t i = 0; i < from.size(); ++i)
    from[i] = static_cast<uint8_t>(i * 37 + 11);
  std::vector<int8_t> byLibrary(48), byCaller(48);
  reorder::primitive_desc library(device, halves, device, bytes);
  EXPECT_TRUE(library.scratchpad_desc().is_zero());
  EXPECT_GT(library.memory_consumption(), 0);
  run(halves, from.data(), bytes, byLibrary.data());
  for (int a = 0; a < 6; ++a)
    for (int b = 0; b < 8; ++b) {
      int half = from[(a * 8 + b) / 2] >> (b % 2 * 4) & 15;
      EXPECT_EQ(byLibrary[b * 6 + a], half < 8 ? half : half - 16) << a << ", " << b;
    }

  primitive_attr attr;
  attr.set_scratchpad_mode(scratchpad_mode::user);
  reorder::primitive_desc desc(device, halves, device, bytes, attr);
  EXPECT_EQ(desc.memory_consumption(), 0);
  ASSERT_EQ(static_cast<int64_t>(desc.scratchpad_desc().get_size()), library.memory_consumption());
  memory src(halves, device, from.data()), dst(bytes, device, byCaller.data()),
      scratchpad(desc.scratchpad_desc(), device);
  reorder kernel(desc);
  EXPECT_NE(refusal([&] { kernel.execute(order, src, dst); }).find("scratchpad"), std::string::npos);
  static_cast<primitive &>(kernel).execute(
      order, {{QUERN_ARG_FROM, src}, {QUERN_ARG_TO, dst}, {QUERN_ARG_SCRATCHPAD, scratchpad}});
  EXPECT_EQ(byCaller, byLibrary);
}

TEST_F(ReorderExecution, AHandleMayBeSetLaterAndChanged) {
  memory::desc f32({10}, dt::f32, "a"), s8({10}, dt::s8, "a");
  std::vector<float> first = pattern<float>(10), second(10, 300.0f);
  memory src(f32, device, QUERN_MEMORY_NONE), dst(s8, device);
  reorder kernel(src, dst);
  EXPECT_NE(refusal([&] { kernel.execute(order, src, dst); }).find("argument 1 (src) has no buffer; it needs 40 bytes"),
            std::string::npos);
  src.set_data_handle(first.data());
  kernel.execute(order, src, dst);
  const auto *bytes = static_cast<const int8_t *>(dst.get_data_handle());
  EXPECT_EQ(wrongElements(f32, first.data(), s8, bytes, same), 0u);
  src.set_data_handle(second.data());
  kernel.execute(order, src, dst);
  EXPECT_EQ(std::vector<int8_t>(bytes, bytes + 10), std::vector<int8_t>(10, 127));
}

TEST_F(ReorderExecution, ViewsNeedNoCopy) {
  memory::desc whole({6, 9, 8}, dt::f32, "abc"), dense({3, 4, 5}, dt::f32, "abc");
  const memory::desc part = whole.submemory_desc({3, 4, 5}, {2, 3, 1});
  EXPECT_EQ(wrongAfter(part, dense), 0u);
  EXPECT_EQ(wrongAfter(dense, part), 0u);
  EXPECT_EQ(wrongAfter(part, whole.submemory_desc({3, 4, 5}, {0, 5, 3})), 0u);
  memory::desc turned = whole.permute_axes({2, 0, 1});
  EXPECT_EQ(wrongAfter(turned, memory::desc(turned.get_dims(), dt::f32, "abc")), 0u);
  EXPECT_EQ(wrongAfter(memory::desc(turned.get_dims(), dt::f32, "acb"), turned), 0u);
  memory::desc split = whole.reshape({6, 3, 3, 2, 4});
  EXPECT_EQ(wrongAfter(split, memory::desc(split.get_dims(), dt::f32, "ecabd")), 0u);
  EXPECT_EQ(wrongAfter(split.permute_axes({1, 0, 4, 2, 3}), memory::desc({3, 6, 2, 4, 3}, dt::f32, "edcba")), 0u);
  memory::desc blocked({6, 32}, dt::f32, "aB16b");
  EXPECT_EQ(wrongAfter(blocked.submemory_desc({2, 16}, {3, 16}), memory::desc({2, 16}, dt::f32, "ba")), 0u);
  EXPECT_EQ(wrongAfter(memory::desc({4, 16}, dt::f32, "ab"), blocked.submemory_desc({4, 16}, {2, 0})), 0u);
}

TEST_F(ReorderExecution, PartsOfOneBuffer) {
  memory::desc whole({40, 64}, dt::f32, "ab");
  const memory::desc left = whole.submemory_desc({40, 32}, {0, 0}), right = whole.submemory_desc({40, 32}, {0, 32});
  const std::vector<float> before = pattern<float>(bufferSize<float>(whole));
  std::vector<float> values = before;
  run(left, values.data(), right, values.data());
  EXPECT_EQ(wrongElements(left, before.data(), right, values.data(), same), 0u);
  EXPECT_EQ(wrongElements(left, before.data(), left, values.data(), same), 0u);
}

TEST_F(ReorderExecution, InPlace) {
  const std::vector<std::pair<memory::dims, const char *>> layouts = {
      {{1}, "a"}, {{17}, "a"}, {{1000, 3}, "ab"}, {{33, 65}, "ba"}, {{5, 19, 7}, "aBc16b"}, {{2, 3, 4, 50}, "acdb"}};
  for (const auto &[dims, tag] : layouts) {
    memory::desc f32(dims, dt::f32, tag), s32(dims, dt::s32, tag);
    const std::vector<float> before = pattern<float>(bufferSize<float>(f32));
    std::vector<float> buffer = before;
    run(f32, buffer.data(), s32, buffer.data());
    std::vector<int32_t> after(buffer.size());
    std::memcpy(after.data(), buffer.data(), f32.get_size());
    EXPECT_EQ(wrongElements(f32, before.data(), s32, after.data(), same), 0u) << tag;
    EXPECT_EQ(test::othersThan(s32, after, 0), 0u) << tag << ": the padding must be zero";
  }
}

TEST_F(ReorderExecution, SumInPlace) {
  post_ops ops;
  ops.append_sum(0.5f);
  primitive_attr attr;
  attr.set_post_ops(ops);
  for (const char *tag : {"ab", "ba", "aB8b"}) {
    memory::desc md({70, 13}, dt::f32, tag);
    const std::vector<float> before = pattern<float>(bufferSize<float>(md));
    std::vector<float> values = before;
    run(md, values.data(), md, values.data(), attr);
    EXPECT_EQ(wrongElements(md, before.data(), md, values.data(), [](float value) { return 1.5f * value; }), 0u) << tag;
  }
}

TEST_F(ReorderExecution, AnOperandInPlaceUnderATransposition) {
  for (const memory::dims &dims : {memory::dims{20, 33}, {17, 17}, {64, 100}}) {
    memory::desc src(dims, dt::f32, "ba"), dst(dims, dt::f32, "ab"), operand(dims, dt::s32, "ab");
    post_ops ops;
    ops.append_binary(algorithm::binary_add, operand);
    primitive_attr attr;
    attr.set_post_ops(ops);
    std::vector<float> from = pattern<float>(bufferSize<float>(src)), to(from.size());
    std::vector<int32_t> addends(from.size());
    std::iota(addends.begin(), addends.end(), 1);
    std::memcpy(to.data(), addends.data(), dst.get_size());
    reorder(reorder::primitive_desc(device, src, device, dst, attr))
        .execute(order, {{QUERN_ARG_SRC, memory(src, device, from.data())},
                         {QUERN_ARG_DST, memory(dst, device, to.data())},
                         {QUERN_ARG_ATTR_MULTIPLE_POST_OP(0) | QUERN_ARG_SRC_1, memory(operand, device, to.data())}});
    for (size_t i = 0; i < to.size(); ++i)
      to[i] -= static_cast<float>(addends[i]);
    EXPECT_EQ(wrongElements(src, from.data(), dst, to.data(), same), 0u) << dims[0] << "x" << dims[1];
  }
}

TEST_F(ReorderExecution, RefusesByNumber) {
  memory::desc whole({8, 8}, dt::f32, "ab"), turned({8, 8}, dt::f32, "ba"), s32({8, 8}, dt::s32, "ab"),
      s8({8, 8}, dt::s8, "ab");
  std::vector<float> values(128);
  char *const bytes = reinterpret_cast<char *>(values.data());
  primitive_attr attr;
  attr.set_scales_mask(QUERN_ARG_SRC, 1);
  attr.set_zero_points_mask(QUERN_ARG_DST, 0);
  EXPECT_NE(
      refusal([&] { run(whole, bytes, s32, bytes, attr); }).find("argument 4097 (scales.src) is missing (reorder C13)"),
      std::string::npos);
  for (const auto &[dst, at] : {std::pair(turned, 0), {whole, 4}, {whole, 252}, {s8, 0}, {s8, 255}})
    EXPECT_NE(refusal([&, &dst = dst, at = at] { run(whole, bytes, dst, bytes + at); }).find("dst overlaps src"),
              std::string::npos)
        << at;
  EXPECT_NE(std::string(quern_get_last_error_message()).find("(reorder C14)"), std::string::npos);
  run(whole, bytes, s8, bytes + 256);
  run(whole, bytes, s32, bytes);
  memory::desc open({QUERN_RUNTIME_DIM_VAL, 8}, dt::f32, "ab");
  reorder kernel(reorder::primitive_desc(device, open, device, open));
  memory::desc less({7, 8}, dt::f32, "ab");
  EXPECT_NE(refusal([&] {
              kernel.execute(order, memory(whole, device, bytes), memory(less, device, bytes + 256));
            }).find("dim 0 of dst is 7, of src 8; runtime dims must be the same in all tensors (reorder C15)"),
            std::string::npos);
}

/// The memory of a source may have compensation that the kernel does not use. The memory of a destination must have
/// exactly the compensation of the primitive.
TEST_F(ReorderExecution, ReadsSourcesWithCompensation) {
  const std::string line = "reorder src=f32:1x17x5x3:abcd dst=s8:1x17x5x3:cdba";
  const memory::desc plain = primitive_desc(device, line).dst_desc();
  const memory::desc more = primitive_desc(device, line + ":asymmetric@2").dst_desc();
  const memory::desc adjusted = primitive_desc(device, line + ":s8s8@2:scale_adjust@0.5").dst_desc();
  ASSERT_GT(more.get_size(), plain.get_size());
  const memory::desc floats({1, 17, 5, 3}, dt::f32, "abcd");
  std::vector<int8_t> from = pattern<int8_t>(more.get_size());
  std::vector<float> to(255);
  const reorder kernel(reorder::primitive_desc(device, plain, device, floats));
  kernel.execute(order, memory(more, device, from.data()), memory(floats, device, to.data()));
  EXPECT_EQ(wrongElements(plain, from.data(), floats, to.data(), same), 0u);
  const memory scaled(adjusted, device, from.data());
  EXPECT_NE(
      refusal([&] {
        kernel.execute(order, scaled, memory(floats, device, to.data()));
      }).find("argument 1 (src) is s8:1x17x5x3:cdba:s8s8@2:scale_adjust@0.5; the primitive takes s8:1x17x5x3:cdba"),
      std::string::npos);
  const reorder back(reorder::primitive_desc(device, floats, device, plain));
  const memory target(more, device, from.data());
  EXPECT_NE(refusal([&] {
              back.execute(order, memory(floats, device, to.data()), target);
            }).find("argument 17 (dst) is s8:1x17x5x3:cdba:asymmetric@2; the primitive takes s8:1x17x5x3:cdba"),
            std::string::npos);
  const memory::desc gaps({1, 17, 5, 3}, dt::f32, memory::dims{1000, 15, 3, 1});
  const memory::desc strided({1, 17, 5, 3}, dt::f32, memory::dims{1000, 16, 3, 1});
  const reorder wide(reorder::primitive_desc(device, plain, device, gaps));
  std::vector<float> large(1000);
  EXPECT_NE(refusal([&] {
              wide.execute(order, memory(plain, device, from.data()), memory(strided, device, large.data()));
            }).find("is f32:1x17x5x3:s1000x16x3x1; the primitive takes f32:1x17x5x3:"),
            std::string::npos)
      << quern_get_last_error_message();
}

TEST_F(ReorderExecution, RefusesOutputsThatOverlapAnOperand) {
  memory::desc md({8, 8}, dt::f32, "ab"), row({1, 8}, dt::f32, "ab");
  std::vector<float> from(64, 1.0f), to(64, 2.0f);
  post_ops ops;
  ops.append_binary(algorithm::binary_add, row);
  primitive_attr attr;
  attr.set_post_ops(ops);
  reorder kernel(reorder::primitive_desc(device, md, device, md, attr));
  const auto execute = [&](float *operand) {
    kernel.execute(order, {{QUERN_ARG_SRC, memory(md, device, from.data())},
                           {QUERN_ARG_DST, memory(md, device, to.data())},
                           {QUERN_ARG_ATTR_MULTIPLE_POST_OP(0) | QUERN_ARG_SRC_1, memory(row, device, operand)}});
  };
  EXPECT_NE(refusal([&] { execute(to.data() + 8); }).find("dst overlaps post0.src_1"), std::string::npos);
  execute(from.data());
  EXPECT_EQ(to, std::vector<float>(64, 2.0f));
}

TEST_F(ReorderExecution, EmptyTensorsRunNothing) {
  memory::desc empty({0, 8}, dt::f32, "ab"), turned({0, 8}, dt::s8, "ba");
  run(empty, nullptr, turned, nullptr);
  memory::desc open({QUERN_RUNTIME_DIM_VAL, 8}, dt::f32, "ab");
  reorder kernel(reorder::primitive_desc(device, open, device, open));
  kernel.execute(order, memory(empty, device, nullptr), memory(empty, device, nullptr));
}

TEST_F(ReorderExecution, OtherEnginesAreRefused) {
  EXPECT_EQ(test::statusOf([&] { primitive_desc(device, "reorder src=f32:8x8:ab dst=f32:8x8:ab dst_engine=gpu"); }),
            quern_unimplemented);
  EXPECT_NE(std::string(quern_get_last_error_message()).find("(reorder C17)"), std::string::npos);
}

/// An address range in which only written pages take physical memory.
class SparseBuffer {
public:
  explicit SparseBuffer(size_t bytes)
      : bytes(bytes),
        data(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~SparseBuffer() { munmap(data, bytes); }
  SparseBuffer(const SparseBuffer &) = delete;
  SparseBuffer &operator=(const SparseBuffer &) = delete;
  template <typename T> T *as() const { return static_cast<T *>(data); }

private:
  size_t bytes;
  void *data;
};

TEST_F(ReorderExecution, OffsetsBeyond32Bits) {
  constexpr int64_t rowStride = (int64_t(1) << 31) + 77;
  memory::desc rows({3, 50}, dt::s8, memory::dims{rowStride, 1}), plain({3, 50}, dt::s8, "ab"),
      columns({50, 3}, dt::s8, memory::dims{1, rowStride});
  const memory::desc corner = memory::desc({3, rowStride}, dt::s8, "ab").submemory_desc({1, 50}, {2, rowStride - 50});
  const primitive_desc anywhere(device, "reorder src=s8:?x?:s?x?:off? dst=s8:?x?:s?x?:off?");
  const SparseBuffer from(3 * rowStride), to(3 * rowStride);
  for (const auto &[src, dst] :
       {std::pair(rows, plain), {plain, rows}, {rows, rows}, {corner, corner}, {columns, columns}})
    for (const reorder::primitive_desc &desc :
         {reorder::primitive_desc(device, src, device, dst),
          reorder::primitive_desc(device, anywhere.src_desc(), device, anywhere.dst_desc())}) {
      const test::Places sources(src), destinations(dst);
      for (int64_t i = 0; i < sources.count(); ++i) {
        from.as<int8_t>()[sources.at(i)] = static_cast<int8_t>(i % 100 + 1);
        to.as<int8_t>()[destinations.at(i)] = 0;
      }
      reorder(desc).execute(order, memory(src, device, from.as<void>()), memory(dst, device, to.as<void>()));
      EXPECT_EQ(wrongElements(src, from.as<int8_t>(), dst, to.as<int8_t>(), same), 0u);
    }
}

TEST_F(ReorderExecution, ThreadsDoNotChangeABit) {
  const int saved = get_num_threads();
  memory::desc src({64, 33, 30, 30}, dt::f32, "abcd"), dst({64, 33, 30, 30}, dt::bf16, "aBcd16b");
  std::vector<float> from = pattern<float>(bufferSize<float>(src));
  for (float &value : from)
    value *= 1.001f;
  std::vector<uint16_t> expected;
  for (int threads : {1, 2, 3, 7}) {
    set_num_threads(threads);
    std::vector<uint16_t> to(bufferSize<uint16_t>(dst), 0xffff);
    run(src, from.data(), dst, to.data());
    if (expected.empty())
      expected = to;
    EXPECT_TRUE(to == expected) << threads;
  }
  set_num_threads(saved);
}

} // namespace
} // namespace quern
