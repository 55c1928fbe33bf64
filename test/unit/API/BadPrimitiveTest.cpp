//===- BadPrimitiveTest.cpp - Primitives with bad input -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests primitive descriptors, primitives and executions with bad input.
//
//===----------------------------------------------------------------------===//
#include "API/BadInput.h"

namespace quern {
namespace {

using test::BadInput;
using test::check;

TEST_F(BadInput, PrimitiveDescriptors) {
  const auto forward = [&](quern_prop_kind_t prop, quern_alg_kind_t alg, const_quern_memory_desc_t src,
                           const_quern_memory_desc_t dst, int axis) {
    return quern_softmax_forward_primitive_desc_create(&newPd, e, prop, alg, src, dst, axis, a);
  };
  const auto accurate = quern_softmax_accurate;
  const auto inference = quern_forward_inference;
  memory::desc otherShape({4, 8}, memory::data_type::f32, "ab");
  const char *text;
  const_quern_primitive_attr_t constAttr;
  void *site = nullptr;
  const quern_mlir_function_t mlirFunction{"x", 0, nullptr, nullptr, nullptr, 0, 0, nullptr};
  const quern_mlir_memref_t memref{0, nullptr};
  check({
      BAD_NULL(quern_softmax_forward_primitive_desc_create(nullptr, e, inference, accurate, d, d, 1, a),
               "primitive_desc"),
      BAD_NULL(quern_softmax_forward_primitive_desc_create(&newPd, nullptr, inference, accurate, d, d, 1, a), "engine"),
      BAD_NULL(forward(inference, accurate, nullptr, d, 1), "src_desc"),
      BAD_NULL(forward(inference, accurate, d, nullptr, 1), "dst_desc"),
      BAD(forward(quern_backward_data, accurate, d, d, 1), invalid_arguments, "prop_kind is 160"),
      BAD(forward(inference, quern_eltwise_relu, d, d, 1), invalid_arguments, "0x20"),
      BAD(forward(inference, accurate, d, d, 2), invalid_arguments, "axis is 2"),
      BAD(forward(inference, accurate, d, d, -1), invalid_arguments, "axis is -1"),
      BAD(forward(inference, accurate, any, d, 1), invalid_arguments, "any"),
      BAD(forward(inference, accurate, d, otherShape.get(), 1), invalid_arguments, "dim 1 of dst is 8"),
      BAD(forward(inference, accurate, memory::desc().get(), d, 1), invalid_arguments, "src"),
      BAD_NULL(quern_softmax_backward_primitive_desc_create(nullptr, e, accurate, d, d, d, 1, p, a), "primitive_desc"),
      BAD_NULL(quern_softmax_backward_primitive_desc_create(&newPd, nullptr, accurate, d, d, d, 1, p, a), "engine"),
      BAD_NULL(quern_softmax_backward_primitive_desc_create(&newPd, e, accurate, nullptr, d, d, 1, p, a),
               "diff_src_desc"),
      BAD_NULL(quern_softmax_backward_primitive_desc_create(&newPd, e, accurate, d, nullptr, d, 1, p, a),
               "diff_dst_desc"),
      BAD_NULL(quern_softmax_backward_primitive_desc_create(&newPd, e, accurate, d, d, nullptr, 1, p, a), "dst_desc"),
      BAD(quern_softmax_backward_primitive_desc_create(&newPd, e, quern_eltwise_relu, d, d, d, 1, p, a),
          invalid_arguments, "0x20"),
      BAD_NULL(quern_reorder_primitive_desc_create(nullptr, d, e, d, e, a), "primitive_desc"),
      BAD_NULL(quern_reorder_primitive_desc_create(&newPd, nullptr, e, d, e, a), "src_desc"),
      BAD_NULL(quern_reorder_primitive_desc_create(&newPd, d, nullptr, d, e, a), "src_engine"),
      BAD_NULL(quern_reorder_primitive_desc_create(&newPd, d, e, nullptr, e, a), "dst_desc"),
      BAD_NULL(quern_reorder_primitive_desc_create(&newPd, d, e, d, nullptr, a), "dst_engine"),
      BAD_NULL(quern_primitive_desc_create_from_mlir(nullptr, e, "x", 1, nullptr, a), "primitive_desc"),
      BAD_NULL(quern_primitive_desc_create_from_mlir(&newPd, nullptr, "x", 1, nullptr, a), "engine"),
      BAD_NULL(quern_primitive_desc_create_from_mlir(&newPd, e, nullptr, 1, nullptr, a), "module"),
      BAD(quern_primitive_desc_create_from_mlir(&newPd, e, "x", 0, nullptr, a), invalid_arguments, "has 0 bytes"),
      BAD(quern_primitive_desc_create_from_mlir(&newPd, e, "x", (size_t(16) << 20) + 1, nullptr, a), invalid_arguments,
          "has 16777217 bytes"),
      BAD_NULL(quern_mlir_call(nullptr, &mlirFunction, &memref, 1), "site"),
      BAD_NULL(quern_mlir_call(&site, nullptr, &memref, 1), "function"),
      BAD_NULL(quern_mlir_call(&site, &mlirFunction, nullptr, 1), "memrefs"),
      BAD(quern_mlir_call(&site, &mlirFunction, &memref, -1), invalid_arguments, "is -1"),
      BAD(quern_mlir_call(&site, &mlirFunction, &memref, 1), invalid_arguments, "has 0 bytes"),
      BAD_NULL(quern_mlir_release(nullptr), "site"),
      BAD_NULL(quern_primitive_desc_create_from_text(nullptr, e, "softmax"), "primitive_desc"),
      BAD_NULL(quern_primitive_desc_create_from_text(&newPd, nullptr, "softmax"), "engine"),
      BAD_NULL(quern_primitive_desc_create_from_text(&newPd, e, nullptr), "line"),
      BAD_NULL(quern_primitive_desc_get_text(nullptr, &text), "primitive_desc"),
      BAD_NULL(quern_primitive_desc_get_text(p, nullptr), "text"),
      BAD_NULL(quern_primitive_desc_next_impl(nullptr), "primitive_desc"),
      BAD(quern_primitive_desc_next_impl(p), last_impl_reached, "no implementation after"),
      BAD_NULL(quern_primitive_desc_clone(nullptr, p), "primitive_desc"),
      BAD_NULL(quern_primitive_desc_clone(&newPd, nullptr), "existing_primitive_desc"),
      BAD_NULL(quern_primitive_desc_get_attr(nullptr, &constAttr), "primitive_desc"),
      BAD_NULL(quern_primitive_desc_get_attr(p, nullptr), "attr"),
      BAD_NULL(quern_primitive_desc_query(nullptr, quern_query_engine, 0, &n), "primitive_desc"),
      BAD_NULL(quern_primitive_desc_query(p, quern_query_engine, 0, nullptr), "result"),
      BAD(quern_primitive_desc_query(p, static_cast<quern_query_t>(9999), 0, &constDesc), unimplemented, "9999"),
      BAD(quern_primitive_desc_query(p, quern_query_scratchpad_md, 1, &constDesc), invalid_arguments, "index is 1"),
  });
  EXPECT_EQ(quern_mlir_release(&site), quern_success);
  EXPECT_EQ(newPd, nullptr);
  EXPECT_EQ(quern_primitive_desc_destroy(nullptr), quern_success);
  EXPECT_EQ(quern_primitive_desc_query_md(nullptr, quern_query_src_md, 0), nullptr);
  EXPECT_EQ(quern_primitive_desc_query_md(p, quern_query_axis_s32, 0), nullptr);
  EXPECT_EQ(quern_primitive_desc_query_s32(nullptr, quern_query_axis_s32, 0), 0);
  EXPECT_EQ(quern_primitive_desc_query_s32(p, quern_query_src_md, 0), 0);
}

TEST_F(BadInput, Primitives) {
  uint8_t garbage[64] = {1, 2, 3};
  size_t little = 3;
  const_quern_primitive_desc_t constPd;
  quern_primitive_info_t info;
  const char *line = "softmax fwd_i alg=log src=f32:0x4:ab dst=f32:0x4:ab axis=1";
  check({
      BAD_NULL(quern_primitive_create(nullptr, p), "primitive"),
      BAD_NULL(quern_primitive_create(&newPrimitive, nullptr), "primitive_desc"),
      BAD_NULL(quern_primitive_create_from_cache_blob(nullptr, p, 64, garbage), "primitive"),
      BAD_NULL(quern_primitive_create_from_cache_blob(&newPrimitive, nullptr, 64, garbage), "primitive_desc"),
      BAD_NULL(quern_primitive_create_from_cache_blob(&newPrimitive, p, 64, nullptr), "cache_blob"),
      BAD(quern_primitive_create_from_cache_blob(&newPrimitive, p, 64, garbage), invalid_arguments, "cannot be used"),
      BAD(quern_primitive_create_from_cache_blob(&newPrimitive, p, 0, garbage), invalid_arguments, "cannot be used"),
      BAD_NULL(quern_primitive_get_cache_blob(nullptr, &size, nullptr), "primitive"),
      BAD_NULL(quern_primitive_get_cache_blob(k, nullptr, garbage), "size"),
      BAD(quern_primitive_get_cache_blob(k, &little, garbage), invalid_arguments, "room for 3"),
      BAD_NULL(quern_primitive_get_primitive_desc(nullptr, &constPd), "primitive"),
      BAD_NULL(quern_primitive_get_primitive_desc(k, nullptr), "primitive_desc"),
      BAD_NULL(quern_primitive_get_info(nullptr, &info), "primitive"),
      BAD_NULL(quern_primitive_get_info(k, nullptr), "info"),
      BAD_NULL(quern_primitive_wait_specialized(nullptr), "primitive"),
      BAD_NULL(quern_compile(nullptr, nullptr, quern_form_asm, &newBlob), "line"),
      BAD_NULL(quern_compile(line, nullptr, quern_form_asm, nullptr), "blob"),
      BAD(quern_compile(line, nullptr, static_cast<quern_code_form_t>(0), &newBlob), invalid_arguments, "code form 0"),
      BAD(quern_compile(line, nullptr, static_cast<quern_code_form_t>(11), &newBlob), invalid_arguments,
          "code form 11"),
      BAD(quern_compile(line, "pdp11", quern_form_asm, &newBlob), invalid_arguments, "pdp11"),
      BAD(quern_compile(line, nullptr, quern_form_asm, &newBlob), not_required, "empty tensor"),
      BAD_NULL(quern_explain(nullptr, nullptr, &newBlob), "line"),
      BAD_NULL(quern_explain(line, nullptr, nullptr), "blob"),
      BAD_NULL(quern_blob_get_data(nullptr, nullptr, &size), "blob"),
      BAD_NULL(quern_get_primitive_cache_capacity(nullptr), "capacity"),
      BAD(quern_set_primitive_cache_capacity(-1), invalid_arguments, "-1"),
      BAD_NULL(quern_get_primitive_cache_capacity_bytes(nullptr), "bytes"),
      BAD_NULL(quern_get_cache_statistics(nullptr), "statistics"),
      BAD_NULL(quern_get_disk_cache(nullptr), "directory"),
      BAD(quern_set_disk_cache("/proc/self/status"), runtime_error, "refused"),
  });
  EXPECT_EQ(quern_primitive_destroy(nullptr), quern_success);
  EXPECT_EQ(quern_blob_destroy(nullptr), quern_success);
  EXPECT_EQ(quern_set_disk_cache(nullptr), quern_success);
  size_t bytes = 0;
  EXPECT_EQ(quern_get_primitive_cache_capacity_bytes(&bytes), quern_success);
  EXPECT_EQ(quern_set_primitive_cache_capacity_bytes(bytes), quern_success);
}

TEST_F(BadInput, Execution) {
  memory out(md, device), other(memory::desc({4, 16}, memory::data_type::f32, "ba"), device),
      empty(md, device, QUERN_MEMORY_NONE);
  memory narrow(memory::desc({4, 16}, memory::data_type::bf16, "ab"), device);
  const quern_exec_arg_t src{QUERN_ARG_SRC, m}, dst{QUERN_ARG_DST, out.get()}, unrelated{QUERN_ARG_WORKSPACE, nullptr};
  const auto run = [&](std::vector<quern_exec_arg_t> args) {
    return quern_primitive_execute(k, s, static_cast<int>(args.size()), args.data());
  };
  engine secondDevice(engine::kind::cpu, 0);
  stream foreign(secondDevice);
  quern_stream_t fs = foreign.get();
  const quern_exec_arg_t both[] = {src, dst};
  check({
      BAD_NULL(quern_primitive_execute(nullptr, s, 2, both), "primitive"),
      BAD_NULL(quern_primitive_execute(k, nullptr, 2, both), "stream"),
      BAD_NULL(quern_primitive_execute(k, s, 2, nullptr), "args"),
      BAD(quern_primitive_execute(k, s, -2, both), invalid_arguments, "nargs is -2"),
      BAD(quern_primitive_execute(k, fs, 2, both), invalid_arguments, "another engine"),
      BAD(run({}), invalid_arguments, "argument 1 (src) is missing"),
      BAD(run({src}), invalid_arguments, "argument 17 (dst) is missing"),
      BAD(run({src, dst, src}), invalid_arguments, "argument 1 (src) is given twice"),
      BAD(run({src, {QUERN_ARG_DST, nullptr}}), invalid_arguments, "argument 17 (dst) is null"),
      BAD(run({src, {QUERN_ARG_DST, other.get()}}), invalid_arguments,
          "is f32:4x16:ba; the primitive takes f32:4x16:ab"),
      BAD(run({src, {QUERN_ARG_DST, narrow.get()}}), invalid_arguments, "bf16:4x16:ab"),
      BAD(run({src, {QUERN_ARG_DST, empty.get()}}), invalid_arguments, "has no buffer; it needs 256 bytes"),
  });
  EXPECT_EQ(run({unrelated, src, dst}), quern_success) << "arguments that the primitive does not take are ignored";
}

TEST_F(BadInput, ElementwiseDescriptors) {
  const auto relu = quern_eltwise_relu, add = quern_binary_add;
  const auto inference = quern_forward_inference;
  const const_quern_memory_desc_t two[] = {d, d}, gap[] = {d, nullptr};
  const float scales[] = {1, 2};
  check({
      BAD_NULL(quern_eltwise_forward_primitive_desc_create(nullptr, e, inference, relu, d, d, 0, 0, a),
               "primitive_desc"),
      BAD_NULL(quern_eltwise_forward_primitive_desc_create(&newPd, nullptr, inference, relu, d, d, 0, 0, a), "engine"),
      BAD_NULL(quern_eltwise_forward_primitive_desc_create(&newPd, e, inference, relu, nullptr, d, 0, 0, a),
               "src_desc"),
      BAD_NULL(quern_eltwise_forward_primitive_desc_create(&newPd, e, inference, relu, d, nullptr, 0, 0, a),
               "dst_desc"),
      BAD(quern_eltwise_forward_primitive_desc_create(&newPd, e, inference, add, d, d, 0, 0, a), invalid_arguments,
          "eltwise C3"),
      BAD_NULL(quern_eltwise_backward_primitive_desc_create(nullptr, e, relu, d, d, d, 0, 0, p, a), "primitive_desc"),
      BAD_NULL(quern_eltwise_backward_primitive_desc_create(&newPd, nullptr, relu, d, d, d, 0, 0, p, a), "engine"),
      BAD_NULL(quern_eltwise_backward_primitive_desc_create(&newPd, e, relu, nullptr, d, d, 0, 0, p, a),
               "diff_src_desc"),
      BAD_NULL(quern_eltwise_backward_primitive_desc_create(&newPd, e, relu, d, nullptr, d, 0, 0, p, a),
               "diff_dst_desc"),
      BAD_NULL(quern_eltwise_backward_primitive_desc_create(&newPd, e, relu, d, d, nullptr, 0, 0, p, a), "data_desc"),
      BAD_NULL(quern_binary_primitive_desc_create(nullptr, e, add, d, d, d, a), "primitive_desc"),
      BAD_NULL(quern_binary_primitive_desc_create_v2(nullptr, e, add, d, d, nullptr, d, a), "primitive_desc"),
      BAD_NULL(quern_binary_primitive_desc_create_v2(&newPd, nullptr, add, d, d, nullptr, d, a), "engine"),
      BAD_NULL(quern_binary_primitive_desc_create_v2(&newPd, e, add, nullptr, d, nullptr, d, a), "src0_desc"),
      BAD(quern_binary_primitive_desc_create_v2(&newPd, e, quern_binary_select, d, d, nullptr, d, a), invalid_arguments,
          "src_2"),
      BAD_NULL(quern_sum_primitive_desc_create(nullptr, e, d, 2, scales, two, a), "primitive_desc"),
      BAD_NULL(quern_sum_primitive_desc_create(&newPd, e, d, 2, nullptr, two, a), "scales"),
      BAD_NULL(quern_sum_primitive_desc_create(&newPd, e, d, 2, scales, nullptr, a), "src_descs"),
      BAD(quern_sum_primitive_desc_create(&newPd, e, d, 2, scales, gap, a), invalid_arguments, "null"),
      BAD(quern_sum_primitive_desc_create(&newPd, e, d, -1, scales, two, a), invalid_arguments, "-1"),
      BAD_NULL(quern_concat_primitive_desc_create(nullptr, e, d, 2, 0, two, a), "primitive_desc"),
      BAD_NULL(quern_concat_primitive_desc_create(&newPd, nullptr, d, 2, 0, two, a), "engine"),
      BAD(quern_concat_primitive_desc_create(&newPd, e, any, 2, 7, two, a), invalid_arguments, "7"),
  });
}

} // namespace
} // namespace quern
