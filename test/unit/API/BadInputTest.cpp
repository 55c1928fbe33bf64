//===- BadInputTest.cpp - Functions of the API with bad input -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests functions of engines, streams, memory and attributes with bad input; BadPrimitiveTest.cpp has those of
// primitives. The last test reads the basic headers and checks that every function that they declare occurs in a test.
//
//===----------------------------------------------------------------------===//
#include "API/BadInput.h"

#include "quern/quern_threadpool.h"

#include <fstream>
#include <regex>
#include <set>

namespace quern {
namespace {

using test::BadInput;
using test::check;

TEST_F(BadInput, SparseTensors) {
  const memory::desc csr =
      memory::desc::csr({4, 16}, memory::data_type::f32, 5, memory::data_type::s32, memory::data_type::s32);
  const memory::desc packed = memory::desc::packed({4, 16}, memory::data_type::f32, 5);
  const quern_dims_t dims = {4, 16, 2};
  void *handles[3] = {};
  check({
      BAD_NULL(quern_memory_desc_create_with_csr_encoding(nullptr, 2, dims, quern_f32, 5, quern_s32, quern_s32),
               "memory_desc"),
      BAD_NULL(quern_memory_desc_create_with_coo_encoding(&newDesc, 2, nullptr, quern_f32, 5, quern_s32), "dims"),
      BAD(quern_memory_desc_create_with_csr_encoding(&newDesc, 3, dims, quern_f32, 5, quern_s32, quern_s32),
          unimplemented, "at most 2"),
      BAD(quern_memory_desc_create_with_coo_encoding(&newDesc, 2, dims, quern_f32, -1, quern_s32), invalid_arguments,
          "must be at least 0"),
      BAD(quern_memory_desc_create_with_coo_encoding(&newDesc, 2, dims, quern_f32, 5, quern_data_type_undef),
          invalid_arguments, "index type"),
      BAD(quern_memory_desc_create_with_coo_encoding(&newDesc, 2, dims, quern_f32, INT64_MAX, quern_s32),
          invalid_arguments, "bytes"),
      BAD(quern_memory_desc_create_with_packed_encoding(&newDesc, 2, dims, quern_data_type_undef, 5), invalid_arguments,
          "type"),
      BAD(quern_memory_desc_query_v2(csr.get(), quern_query_data_type, 3, &n), invalid_arguments, "0 to 2"),
      BAD(quern_memory_desc_query_v2(csr.get(), quern_query_dims, 1, &n), invalid_arguments, "index is 1"),
      BAD_NULL(quern_memory_desc_query_v2(nullptr, quern_query_dims, 0, &n), "memory_desc"),
      BAD(quern_memory_desc_query_v2(d, quern_query_nnz_s64, 0, &n), invalid_arguments, "not of a sparse tensor"),
      BAD(quern_memory_desc_reshape(&newDesc, csr.get(), 2, dims), invalid_arguments, "sparse"),
      BAD(quern_memory_create_v2(&newMemory, csr.get(), e, 2, handles), invalid_arguments, "3 buffers"),
      BAD(quern_memory_create(&newMemory, packed.get(), e, QUERN_MEMORY_NONE), invalid_arguments, "packed"),
      BAD(quern_softmax_forward_primitive_desc_create(&newPd, e, quern_forward_inference, quern_softmax_accurate,
                                                      csr.get(), csr.get(), 1, nullptr),
          unimplemented, "sparse"),
  });
  EXPECT_EQ(quern_memory_desc_get_size_v2(nullptr, 0), 0u);
  EXPECT_EQ(quern_memory_desc_get_size_v2(d, 1), 0u);
}

TEST_F(BadInput, HostScalars) {
  const memory::desc scalarDesc = memory::desc::host_scalar(memory::data_type::f32);
  const memory scalar(scalarDesc, 1.0f);
  void *handle = nullptr;
  const int order[] = {0};
  check({
      BAD_NULL(quern_memory_desc_create_host_scalar(nullptr, quern_f32), "memory_desc"),
      BAD(quern_memory_desc_create_host_scalar(&newDesc, quern_data_type_undef), invalid_arguments, "undef"),
      BAD(quern_memory_desc_create_host_scalar(&newDesc, quern_boolean), invalid_arguments, "boolean"),
      BAD_NULL(quern_memory_create_host_scalar(nullptr, scalarDesc.get(), &f), "memory"),
      BAD_NULL(quern_memory_create_host_scalar(&newMemory, nullptr, &f), "memory_desc"),
      BAD_NULL(quern_memory_create_host_scalar(&newMemory, scalarDesc.get(), nullptr), "scalar_ptr"),
      BAD(quern_memory_create_host_scalar(&newMemory, d, &f), invalid_arguments, "not a host scalar"),
      BAD_NULL(quern_memory_get_host_scalar_value(nullptr, &f), "memory"),
      BAD_NULL(quern_memory_get_host_scalar_value(scalar.get(), nullptr), "value"),
      BAD(quern_memory_get_host_scalar_value(m, &f), invalid_arguments, "not a host scalar"),
      BAD_NULL(quern_memory_set_host_scalar_value(nullptr, &f), "memory"),
      BAD_NULL(quern_memory_set_host_scalar_value(scalar.get(), nullptr), "value"),
      BAD(quern_memory_set_host_scalar_value(m, &f), invalid_arguments, "not a host scalar"),
      BAD(quern_memory_create(&newMemory, scalarDesc.get(), e, &f), invalid_arguments,
          "quern_memory_create_host_scalar"),
      BAD(quern_memory_get_data_handle(scalar.get(), &handle), invalid_arguments, "no handle"),
      BAD(quern_memory_set_data_handle(scalar.get(), &f), invalid_arguments, "no handle"),
      BAD(quern_memory_desc_reshape(&newDesc, scalarDesc.get(), 1, dims), invalid_arguments, "reshaped"),
      BAD(quern_memory_desc_permute_axes(&newDesc, scalarDesc.get(), order), invalid_arguments, "no axes"),
      BAD(quern_memory_desc_create_submemory(&newDesc, scalarDesc.get(), dims, dims), unimplemented, "no sub-tensors"),
      BAD_NULL(quern_primitive_attr_set_scales_v2(nullptr, QUERN_ARG_SRC, 0, 0, nullptr, quern_f32, 1), "attr"),
      BAD(quern_primitive_attr_set_scales_v2(a, QUERN_ARG_SRC, 1, 0, nullptr, quern_f32, 1), invalid_arguments,
          "mask is 1"),
      BAD(quern_primitive_attr_set_scales_v2(a, QUERN_ARG_SRC, 0, 2, dims, quern_f32, 1), invalid_arguments,
          "groups are 2"),
      BAD(quern_primitive_attr_set_scales_v3(a, QUERN_ARG_SRC, 0, 0, nullptr, quern_f32, 0,
                                             quern_quantization_mode_undef),
          invalid_arguments, "mode is 0"),
      BAD_NULL(quern_primitive_attr_set_zero_points_v2(nullptr, QUERN_ARG_SRC, 0, 0, nullptr, quern_s32, 1), "attr"),
      BAD(quern_primitive_attr_set_zero_points_v2(a, QUERN_ARG_SRC, 2, 0, nullptr, quern_s32, 1), invalid_arguments,
          "mask is 2"),
  });
}

TEST_F(BadInput, UnimplementedAttributes) {
  quern_rounding_mode_t mode;
  quern_dim_t kernel = 0;
  check({
      BAD_NULL(quern_primitive_attr_set_rounding(nullptr, QUERN_ARG_DST, quern_rounding_mode_stochastic), "attr"),
      BAD(quern_primitive_attr_set_rounding(a, QUERN_ARG_SRC, quern_rounding_mode_stochastic), invalid_arguments,
          "argument 1"),
      BAD(quern_primitive_attr_set_rounding(a, QUERN_ARG_DST, static_cast<quern_rounding_mode_t>(5)), invalid_arguments,
          "mode is 5"),
      BAD_NULL(quern_primitive_attr_get_rounding(nullptr, QUERN_ARG_DST, &mode), "attr"),
      BAD_NULL(quern_primitive_attr_get_rounding(a, QUERN_ARG_DST, nullptr), "mode"),
      BAD_NULL(quern_primitive_attr_set_dropout(nullptr, d), "attr"),
      BAD_NULL(quern_primitive_attr_set_dropout(a, nullptr), "mask_desc"),
      BAD_NULL(quern_primitive_attr_set_dropout_v2(nullptr, d, quern_s32, 0, 0), "attr"),
      BAD_NULL(quern_primitive_attr_set_dropout_v2(a, nullptr, quern_s32, 0, 0), "mask_desc"),
      BAD(quern_primitive_attr_set_dropout_v2(a, d, quern_f32, 0, 0), invalid_arguments, "seeds is 3"),
      BAD_NULL(quern_primitive_attr_get_dropout(nullptr, &constDesc), "attr"),
      BAD_NULL(quern_primitive_attr_get_dropout_v2(nullptr, &constDesc, nullptr, nullptr, nullptr), "attr"),
      BAD_NULL(quern_primitive_attr_set_precomputed_reductions(nullptr, QUERN_ARG_SRC, 0, 0, nullptr, quern_s32),
               "attr"),
      BAD(quern_primitive_attr_set_precomputed_reductions(a, QUERN_ARG_DST, 0, 0, nullptr, quern_s32),
          invalid_arguments, "argument 17"),
      BAD(quern_primitive_attr_set_precomputed_reductions(a, QUERN_ARG_SRC, -3, 0, nullptr, quern_s32),
          invalid_arguments, "-3"),
      BAD_NULL(quern_post_ops_append_dw(nullptr, quern_f32, quern_f32, quern_f32, 3, 1, 1), "post_ops"),
      BAD(quern_post_ops_append_dw(o, quern_data_type_undef, quern_f32, quern_f32, 3, 1, 1), invalid_arguments,
          "undefined"),
      BAD(quern_post_ops_append_dw(o, quern_f32, quern_f32, quern_f32, 3, 1, 3), invalid_arguments, "3, 1 and 3"),
      BAD_NULL(quern_post_ops_get_params_dw(nullptr, 0, nullptr, nullptr, nullptr, &kernel, nullptr, nullptr),
               "post_ops"),
      BAD(quern_post_ops_get_params_dw(o, 0, nullptr, nullptr, nullptr, &kernel, nullptr, nullptr), invalid_arguments,
          "does not exist"),
  });
}

TEST_F(BadInput, Common) {
  void *pool = nullptr;
  quern_engine_kind_t kind;
  quern_engine_info_t about;
  quern_fpmath_mode_t mode;
  stream profiled(device, stream::flags::in_order | stream::flags::profiling);
  quern_stream_t ps = profiled.get();
  test::Run run(device, test::lineOf(2));
  run.execute(profiled);
  uint64_t ns[1];
  int none = 0;
  check({
      BAD_NULL(quern_engine_create(nullptr, quern_cpu, 0), "engine"),
      BAD(quern_engine_create(&newEngine, quern_cpu, 1), invalid_arguments, "no cpu engine 1"),
      BAD(quern_engine_create(&newEngine, quern_gpu, 1000), invalid_arguments, "no gpu engine 1000"),
      BAD(quern_engine_create(&newEngine, quern_any_engine, 0), invalid_arguments, "engine kind 0"),
      BAD_NULL(quern_engine_get_kind(nullptr, &kind), "engine"),
      BAD_NULL(quern_engine_get_kind(e, nullptr), "kind"),
      BAD_NULL(quern_engine_get_info(nullptr, &about), "engine"),
      BAD_NULL(quern_engine_get_info(e, nullptr), "info"),
      BAD_NULL(quern_stream_create(nullptr, e, 1), "stream"),
      BAD_NULL(quern_stream_create(&newStream, nullptr, 1), "engine"),
      BAD(quern_stream_create(&newStream, e, 0), invalid_arguments, "flags 0x0"),
      BAD(quern_stream_create(&newStream, e, 4), invalid_arguments, "flags 0x4"),
      BAD(quern_stream_create(&newStream, e, 9), invalid_arguments, "flags 0x9"),
      BAD_NULL(quern_stream_get_engine(nullptr, &newEngine), "stream"),
      BAD_NULL(quern_stream_get_engine(s, nullptr), "engine"),
      BAD_NULL(quern_stream_wait(nullptr), "stream"),
      BAD_NULL(quern_reset_profiling(nullptr), "stream"),
      BAD(quern_reset_profiling(s), invalid_arguments, "without quern_stream_profiling"),
      BAD_NULL(quern_query_profiling_data(nullptr, quern_profiling_data_kind_time, &n, nullptr), "stream"),
      BAD(quern_query_profiling_data(s, quern_profiling_data_kind_time, &n, nullptr), invalid_arguments, "without"),
      BAD_NULL(quern_query_profiling_data(ps, quern_profiling_data_kind_time, nullptr, nullptr), "num_entries"),
      BAD(quern_query_profiling_data(ps, quern_profiling_data_kind_undef, &n, nullptr), invalid_arguments, "kind 0"),
      BAD(quern_query_profiling_data(ps, quern_profiling_data_kind_time, &none, ns), invalid_arguments, "room for 0"),
      BAD_NULL(quern_threadpool_interop_stream_create(nullptr, e, nullptr), "stream"),
      BAD_NULL(quern_threadpool_interop_stream_create(&newStream, nullptr, nullptr), "engine"),
      BAD_NULL(quern_threadpool_interop_stream_get_threadpool(nullptr, &pool), "stream"),
      BAD_NULL(quern_threadpool_interop_stream_get_threadpool(s, nullptr), "threadpool"),
      BAD(quern_threadpool_interop_stream_get_threadpool(s, &pool), invalid_arguments,
          "not created with a thread pool"),
      BAD(quern_threadpool_interop_set_max_concurrency(0), invalid_arguments, "1 to 4096"),
      BAD_NULL(quern_threadpool_interop_get_max_concurrency(nullptr), "max_concurrency"),
      BAD_NULL(quern_get_default_fpmath_mode(nullptr), "mode"),
      BAD(quern_set_default_fpmath_mode(static_cast<quern_fpmath_mode_t>(7)), invalid_arguments, "unknown value 7"),
      BAD(quern_set_max_cpu_isa(static_cast<quern_cpu_isa_t>(0x2)), invalid_arguments, "0x2"),
      BAD(quern_set_verbose(3), invalid_arguments, "0 to 2"),
      BAD(quern_set_listener(nullptr, nullptr, quern_event_create), invalid_arguments, "listener is null"),
      BAD(quern_set_listener([](void *, const quern_event_t *) {}, nullptr, 32), invalid_arguments, "0x20"),
      BAD(quern_set_num_threads(0), invalid_arguments, "1 to 4096"),
      BAD(quern_set_num_threads(5000), invalid_arguments, "5000"),
      BAD_NULL(quern_get_num_threads(nullptr), "count"),
  });
  (void)mode;
  EXPECT_EQ(quern_engine_destroy(nullptr), quern_success);
  EXPECT_EQ(quern_stream_destroy(nullptr), quern_success);
  EXPECT_STREQ(quern_status_name(static_cast<quern_status_t>(77)), "unknown");
}

TEST_F(BadInput, MemoryDescriptors) {
  quern_dims_t negative = {4, -1}, huge = {INT64_MAX, 16}, overlapping = {1, 1}, outside = {4, 1}, zeros = {},
               seven = {7, 9};
  const int twice[] = {0, 0}, beyond[] = {0, 2};
  uint8_t garbage[1024];
  std::fill(std::begin(garbage), std::end(garbage), 0xff);
  size_t little = 7;
  const auto unknown = static_cast<quern_data_type_t>(99);
  check({
      BAD_NULL(quern_memory_desc_create_with_strides(nullptr, 2, dims, quern_f32, nullptr), "memory_desc"),
      BAD_NULL(quern_memory_desc_create_with_strides(&newDesc, 2, nullptr, quern_f32, nullptr), "dims"),
      BAD(quern_memory_desc_create_with_strides(&newDesc, 13, dims, quern_f32, nullptr), invalid_arguments,
          "ndims is 13"),
      BAD(quern_memory_desc_create_with_strides(&newDesc, -1, dims, quern_f32, nullptr), invalid_arguments,
          "ndims is -1"),
      BAD(quern_memory_desc_create_with_strides(&newDesc, 2, dims, unknown, nullptr), invalid_arguments, "99"),
      BAD(quern_memory_desc_create_with_strides(&newDesc, 2, negative, quern_f32, nullptr), invalid_arguments, "-1"),
      BAD(quern_memory_desc_create_with_strides(&newDesc, 2, huge, quern_f32, nullptr), invalid_arguments, ""),
      BAD(quern_memory_desc_create_with_strides(&newDesc, 2, dims, quern_f32, overlapping), invalid_arguments,
          "stride"),
      BAD_NULL(quern_memory_desc_create_with_string_tag(nullptr, 2, dims, quern_f32, "ab"), "memory_desc"),
      BAD_NULL(quern_memory_desc_create_with_string_tag(&newDesc, 2, nullptr, quern_f32, "ab"), "dims"),
      BAD_NULL(quern_memory_desc_create_with_string_tag(&newDesc, 2, dims, quern_f32, nullptr), "tag"),
      BAD(quern_memory_desc_create_with_string_tag(&newDesc, 2, dims, quern_f32, "abc"), invalid_arguments, "abc"),
      BAD(quern_memory_desc_create_with_string_tag(&newDesc, 2, dims, quern_f32, "a?"), invalid_arguments, "a?"),
      BAD(quern_memory_desc_create_with_string_tag(&newDesc, 2, dims, quern_f32, ""), invalid_arguments, ""),
      BAD(quern_memory_desc_create_with_string_tag(&newDesc, 2, dims, unknown, "ab"), invalid_arguments, "99"),
      BAD_NULL(quern_memory_desc_set_data_type(nullptr, quern_f32), "memory_desc"),
      BAD(quern_memory_desc_set_data_type(d, unknown), invalid_arguments, "99"),
      BAD_NULL(quern_memory_desc_create_submemory(nullptr, d, dims, zeros), "memory_desc"),
      BAD_NULL(quern_memory_desc_create_submemory(&newDesc, nullptr, dims, zeros), "parent_memory_desc"),
      BAD_NULL(quern_memory_desc_create_submemory(&newDesc, d, nullptr, zeros), "dims"),
      BAD_NULL(quern_memory_desc_create_submemory(&newDesc, d, dims, nullptr), "offsets"),
      BAD(quern_memory_desc_create_submemory(&newDesc, d, dims, outside), invalid_arguments, ""),
      BAD_NULL(quern_memory_desc_reshape(nullptr, d, 2, dims), "out_memory_desc"),
      BAD_NULL(quern_memory_desc_reshape(&newDesc, nullptr, 2, dims), "in_memory_desc"),
      BAD_NULL(quern_memory_desc_reshape(&newDesc, d, 2, nullptr), "dims"),
      BAD(quern_memory_desc_reshape(&newDesc, d, 2, seven), invalid_arguments, ""),
      BAD_NULL(quern_memory_desc_permute_axes(nullptr, d, twice), "out_memory_desc"),
      BAD_NULL(quern_memory_desc_permute_axes(&newDesc, nullptr, twice), "in_memory_desc"),
      BAD_NULL(quern_memory_desc_permute_axes(&newDesc, d, nullptr), "permutation"),
      BAD(quern_memory_desc_permute_axes(&newDesc, d, twice), invalid_arguments, ""),
      BAD(quern_memory_desc_permute_axes(&newDesc, d, beyond), invalid_arguments, ""),
      BAD_NULL(quern_memory_desc_create_with_blob(nullptr, garbage), "memory_desc"),
      BAD_NULL(quern_memory_desc_create_with_blob(&newDesc, nullptr), "blob"),
      BAD(quern_memory_desc_create_with_blob(&newDesc, garbage), invalid_arguments, ""),
      BAD_NULL(quern_memory_desc_get_blob(garbage, &size, nullptr), "memory_desc"),
      BAD(quern_memory_desc_get_blob(nullptr, nullptr, d), invalid_arguments, "both null"),
      BAD(quern_memory_desc_get_blob(garbage, &little, d), invalid_arguments, "room for 7"),
      BAD_NULL(quern_memory_desc_clone(nullptr, d), "memory_desc"),
      BAD_NULL(quern_memory_desc_clone(&newDesc, nullptr), "existing_memory_desc"),
      BAD_NULL(quern_memory_desc_query(nullptr, quern_query_ndims_s32, &n), "memory_desc"),
      BAD_NULL(quern_memory_desc_query(d, quern_query_ndims_s32, nullptr), "result"),
      BAD(quern_memory_desc_query(d, quern_query_engine, &n), unimplemented, "query 1"),
      BAD(quern_memory_desc_query(any, quern_query_strides, &constDesc), invalid_arguments, "no strides"),
  });
  EXPECT_EQ(newDesc, nullptr);
  EXPECT_EQ(quern_memory_desc_destroy(nullptr), quern_success);
  EXPECT_EQ(quern_memory_desc_equal(nullptr, d), 0);
  EXPECT_EQ(quern_memory_desc_equal(nullptr, nullptr), 1);
  EXPECT_EQ(quern_memory_desc_get_size(nullptr), 0u);
  EXPECT_EQ(quern_data_type_size(unknown), 0u);
}

TEST_F(BadInput, MemoryObjects) {
  void *data = nullptr, *handles[] = {nullptr, nullptr};
  memory::desc vast({int64_t(1) << 50, 16}, memory::data_type::f32, "ab"),
      runtime({QUERN_RUNTIME_DIM_VAL}, memory::data_type::f32, "a");
  check({
      BAD_NULL(quern_memory_create(nullptr, d, e, nullptr), "memory"),
      BAD_NULL(quern_memory_create(&newMemory, nullptr, e, nullptr), "memory_desc"),
      BAD_NULL(quern_memory_create(&newMemory, d, nullptr, nullptr), "engine"),
      BAD(quern_memory_create(&newMemory, any, e, nullptr), invalid_arguments, "any"),
      BAD(quern_memory_create(&newMemory, vast.get(), e, QUERN_MEMORY_ALLOCATE), out_of_memory, "72057594037927936"),
      BAD(quern_memory_create(&newMemory, runtime.get(), e, QUERN_MEMORY_ALLOCATE), invalid_arguments, "runtime"),
      BAD_NULL(quern_memory_create_v2(nullptr, d, e, 1, handles), "memory"),
      BAD_NULL(quern_memory_create_v2(&newMemory, nullptr, e, 1, handles), "memory_desc"),
      BAD_NULL(quern_memory_create_v2(&newMemory, d, nullptr, 1, handles), "engine"),
      BAD_NULL(quern_memory_create_v2(&newMemory, d, e, 1, nullptr), "handles"),
      BAD(quern_memory_create_v2(&newMemory, d, e, 2, handles), invalid_arguments, "nhandles is 2"),
      BAD(quern_memory_create_v2(&newMemory, d, e, -1, handles), invalid_arguments, "nhandles is -1"),
      BAD_NULL(quern_memory_get_memory_desc(nullptr, &constDesc), "memory"),
      BAD_NULL(quern_memory_get_memory_desc(m, nullptr), "memory_desc"),
      BAD_NULL(quern_memory_get_engine(nullptr, &newEngine), "memory"),
      BAD_NULL(quern_memory_get_engine(m, nullptr), "engine"),
      BAD_NULL(quern_memory_map_data(nullptr, &data), "memory"),
      BAD_NULL(quern_memory_map_data(m, nullptr), "mapped_ptr"),
      BAD_NULL(quern_memory_unmap_data(nullptr, nullptr), "memory"),
      BAD(quern_memory_unmap_data(m, &n), invalid_arguments, "mapped_ptr"),
      BAD_NULL(quern_memory_get_data_handle(nullptr, &data), "memory"),
      BAD_NULL(quern_memory_get_data_handle(m, nullptr), "handle"),
      BAD_NULL(quern_memory_set_data_handle(nullptr, nullptr), "memory"),
      BAD(quern_memory_set_data_handle(m, QUERN_MEMORY_ALLOCATE), invalid_arguments, "creation only"),
  });
  EXPECT_EQ(quern_memory_destroy(nullptr), quern_success);
}

TEST_F(BadInput, Attributes) {
  quern_fpmath_mode_t mode;
  quern_accumulation_mode_t accumulation;
  quern_tiers_t tiers;
  quern_scratchpad_mode_t scratchpad;
  const_quern_post_ops_t constOps;
  quern_dims_t zeroGroup = {0, 1};
  quern_dim_t count = 0;
  const float infinite = std::numeric_limits<float>::infinity();
  check({
      BAD_NULL(quern_primitive_attr_create(nullptr), "attr"),
      BAD_NULL(quern_primitive_attr_clone(nullptr, a), "attr"),
      BAD_NULL(quern_primitive_attr_clone(&newAttr, nullptr), "existing_attr"),
      BAD_NULL(quern_primitive_attr_get_fpmath_mode(nullptr, &mode), "attr"),
      BAD_NULL(quern_primitive_attr_get_fpmath_mode(a, nullptr), "mode"),
      BAD_NULL(quern_primitive_attr_set_fpmath_mode(nullptr, quern_fpmath_mode_any), "attr"),
      BAD(quern_primitive_attr_set_fpmath_mode(a, static_cast<quern_fpmath_mode_t>(5)), invalid_arguments,
          "unknown value 5"),
      BAD_NULL(quern_primitive_attr_get_fpmath_mode_v2(nullptr, &mode, &n), "attr"),
      BAD_NULL(quern_primitive_attr_set_fpmath_mode_v2(nullptr, quern_fpmath_mode_any, 0), "attr"),
      BAD_NULL(quern_primitive_attr_get_deterministic(nullptr, &n), "attr"),
      BAD_NULL(quern_primitive_attr_get_deterministic(a, nullptr), "value"),
      BAD_NULL(quern_primitive_attr_set_deterministic(nullptr, 1), "attr"),
      BAD_NULL(quern_primitive_attr_get_tiers(nullptr, &tiers), "attr"),
      BAD_NULL(quern_primitive_attr_get_tiers(a, nullptr), "tiers"),
      BAD_NULL(quern_primitive_attr_set_tiers(nullptr, quern_tiers_both), "attr"),
      BAD(quern_primitive_attr_set_tiers(a, static_cast<quern_tiers_t>(4)), invalid_arguments, "tiers 4"),
      BAD_NULL(quern_primitive_attr_get_accumulation_mode(nullptr, &accumulation), "attr"),
      BAD_NULL(quern_primitive_attr_get_accumulation_mode(a, nullptr), "mode"),
      BAD_NULL(quern_primitive_attr_set_accumulation_mode(nullptr, quern_accumulation_mode_any), "attr"),
      BAD(quern_primitive_attr_set_accumulation_mode(a, static_cast<quern_accumulation_mode_t>(6)), invalid_arguments,
          "6"),
      BAD_NULL(quern_primitive_attr_get_scratchpad_mode(nullptr, &scratchpad), "attr"),
      BAD_NULL(quern_primitive_attr_get_scratchpad_mode(a, nullptr), "mode"),
      BAD_NULL(quern_primitive_attr_set_scratchpad_mode(nullptr, quern_scratchpad_mode_user), "attr"),
      BAD(quern_primitive_attr_set_scratchpad_mode(a, static_cast<quern_scratchpad_mode_t>(2)), invalid_arguments, "2"),
      BAD_NULL(quern_primitive_attr_set_scales_mask(nullptr, 1, 0), "attr"),
      BAD(quern_primitive_attr_set_scales_mask(a, 0, 0), invalid_arguments, "set for 0"),
      BAD(quern_primitive_attr_set_scales_mask(a, -1, 0), invalid_arguments, "set for -1"),
      BAD(quern_primitive_attr_set_scales_mask(a, QUERN_ARG_ATTR_SCALES | 1, 0), invalid_arguments, "4097"),
      BAD(quern_primitive_attr_set_scales_mask(a, 1, -1), invalid_arguments, "mask of scales is -1"),
      BAD(quern_primitive_attr_set_scales_mask(a, 1, 1 << 12), invalid_arguments, "4096"),
      BAD_NULL(quern_primitive_attr_set_scales(nullptr, 1, 0, 0, nullptr, quern_f32), "attr"),
      BAD_NULL(quern_primitive_attr_set_scales(a, 1, 0, 2, nullptr, quern_f32), "group_dims"),
      BAD(quern_primitive_attr_set_scales(a, 1, 0, 1, dims, quern_f32), invalid_arguments, "0 or 2"),
      BAD(quern_primitive_attr_set_scales(a, 1, 0, 2, zeroGroup, quern_f32), invalid_arguments, "at least 1"),
      BAD(quern_primitive_attr_set_scales(a, 1, 0, 0, nullptr, quern_data_type_undef), invalid_arguments, "undefined"),
      BAD(quern_primitive_attr_set_scales(a, 1, 0, 0, nullptr, static_cast<quern_data_type_t>(50)), invalid_arguments,
          "50"),
      BAD_NULL(quern_primitive_attr_get_scales(nullptr, 1, &n, nullptr, nullptr, nullptr), "attr"),
      BAD(quern_primitive_attr_get_scales(a, 1, &n, nullptr, nullptr, nullptr), not_required, "no scales"),
      BAD_NULL(quern_primitive_attr_set_zero_points_mask(nullptr, 1, 0), "attr"),
      BAD(quern_primitive_attr_set_zero_points_mask(a, 9999999, 0), invalid_arguments, "9999999"),
      BAD_NULL(quern_primitive_attr_set_zero_points(nullptr, 1, 0, 0, nullptr, quern_s32), "attr"),
      BAD_NULL(quern_primitive_attr_get_zero_points(nullptr, 1, &n, nullptr, nullptr, nullptr), "attr"),
      BAD(quern_primitive_attr_get_zero_points(a, 1, &n, nullptr, nullptr, nullptr), not_required, "no zero points"),
      BAD_NULL(quern_primitive_attr_get_post_ops(nullptr, &constOps), "attr"),
      BAD_NULL(quern_primitive_attr_get_post_ops(a, nullptr), "post_ops"),
      BAD_NULL(quern_primitive_attr_set_post_ops(nullptr, o), "attr"),
      BAD_NULL(quern_primitive_attr_set_post_ops(a, nullptr), "post_ops"),
      BAD_NULL(quern_primitive_attr_set_rnn_data_qparams(nullptr, 1, 0), "attr"),
      BAD(quern_primitive_attr_set_rnn_data_qparams(a, infinite, 0), invalid_arguments, "finite"),
      BAD_NULL(quern_primitive_attr_get_rnn_data_qparams(nullptr, &f, &f), "attr"),
      BAD_NULL(quern_primitive_attr_set_rnn_weights_qparams(nullptr, 1, 0, &f), "attr"),
      BAD_NULL(quern_primitive_attr_set_rnn_weights_qparams(a, 1, 0, nullptr), "scales"),
      BAD(quern_primitive_attr_set_rnn_weights_qparams(a, 0, 0, &f), invalid_arguments, "scales is 0"),
      BAD(quern_primitive_attr_set_rnn_weights_qparams(a, 2, 0, &f), invalid_arguments, "not 2"),
      BAD(quern_primitive_attr_set_rnn_weights_qparams(a, 1, -3, &f), invalid_arguments, "-3"),
      BAD_NULL(quern_primitive_attr_get_rnn_weights_qparams(nullptr, &count, &n, nullptr), "attr"),
      BAD_NULL(quern_primitive_attr_set_rnn_weights_projection_qparams(nullptr, 1, 0, &f), "attr"),
      BAD_NULL(quern_primitive_attr_set_rnn_weights_projection_qparams(a, 1, 0, nullptr), "scales"),
      BAD_NULL(quern_primitive_attr_get_rnn_weights_projection_qparams(nullptr, &count, &n, nullptr), "attr"),
  });
  EXPECT_EQ(quern_primitive_attr_destroy(nullptr), quern_success);
}

TEST_F(BadInput, PostOps) {
  ops.append_prelu(0);
  quern_alg_kind_t alg;
  check({
      BAD_NULL(quern_post_ops_create(nullptr), "post_ops"),
      BAD_NULL(quern_post_ops_clone(nullptr, o), "post_ops"),
      BAD_NULL(quern_post_ops_clone(&newOps, nullptr), "existing_post_ops"),
      BAD_NULL(quern_post_ops_append_sum(nullptr, 1, 0, quern_f32), "post_ops"),
      BAD(quern_post_ops_append_sum(o, 1, 0, static_cast<quern_data_type_t>(77)), invalid_arguments, "77"),
      BAD_NULL(quern_post_ops_append_eltwise(nullptr, quern_eltwise_relu, 0, 0), "post_ops"),
      BAD(quern_post_ops_append_eltwise(o, quern_binary_add, 0, 0), invalid_arguments, "0x1fff0"),
      BAD_NULL(quern_post_ops_append_binary(nullptr, quern_binary_add, d), "post_ops"),
      BAD_NULL(quern_post_ops_append_binary(o, quern_binary_add, nullptr), "src1_desc"),
      BAD(quern_post_ops_append_binary(o, quern_eltwise_relu, d), invalid_arguments, "0x20"),
      BAD(quern_post_ops_append_binary(o, quern_binary_select, d), invalid_arguments, "select needs it"),
      BAD_NULL(quern_post_ops_append_binary_v2(nullptr, quern_binary_add, d, d), "post_ops"),
      BAD(quern_post_ops_append_eltwise(o, quern_eltwise_clip, 2, 1), invalid_arguments, "bounds 2 and 1"),
      BAD_NULL(quern_post_ops_append_prelu(nullptr, 0), "post_ops"),
      BAD(quern_post_ops_append_prelu(o, -1), invalid_arguments, "-1"),
      BAD_NULL(quern_post_ops_get_params_sum(nullptr, 0, &f, &n, nullptr), "post_ops"),
      BAD(quern_post_ops_get_params_sum(o, 0, &f, &n, nullptr), invalid_arguments, "not of kind sum"),
      BAD(quern_post_ops_get_params_eltwise(o, 1, &alg, &f, &f), invalid_arguments, "post-op 1 does not exist"),
      BAD(quern_post_ops_get_params_binary(o, -1, &alg, &constDesc), invalid_arguments, "post-op -1"),
      BAD(quern_post_ops_get_params_binary_v2(o, 0, &alg, &constDesc, nullptr), invalid_arguments,
          "not of kind binary"),
      BAD_NULL(quern_post_ops_get_params_prelu(nullptr, 0, &n), "post_ops"),
  });
  EXPECT_EQ(ops.len(), 1);
  EXPECT_EQ(quern_post_ops_len(nullptr), -1);
  EXPECT_EQ(quern_post_ops_get_kind(nullptr, 0), quern_undefined_primitive);
  EXPECT_EQ(quern_post_ops_get_kind(o, 9), quern_undefined_primitive);
  EXPECT_EQ(quern_post_ops_destroy(nullptr), quern_success);
}

TEST(BadInputCoverage, NamesEveryFunction) {
  std::set<std::string> declared;
  const std::regex declaration("QUERN_API[^;]*?\\b(quern_[a-z0-9_]+)\\(");
  for (const char *name : {"common", "memory", "attr", "primitive", "gemm", "ext", "threadpool"}) {
    std::ifstream file(std::string(QUERN_SOURCE_DIR "/include/quern/quern_") + name + ".h");
    const std::string content(std::istreambuf_iterator<char>(file), {});
    for (std::sregex_iterator it(content.begin(), content.end(), declaration), end; it != end; ++it)
      declared.insert((*it)[1]);
  }
  EXPECT_GT(declared.size(), 100u);
  std::string tests;
  for (const char *name :
       {"BadInput", "BadPrimitive", "Attributes", "Memory", "Primitive", "Execution/Binary", "Execution/Gemm"}) {
    std::ifstream file(std::string(QUERN_SOURCE_DIR "/test/unit/API/") + name + "Test.cpp");
    tests.append(std::istreambuf_iterator<char>(file), {});
  }
  for (const std::string &function : declared)
    EXPECT_NE(tests.find(function + "("), std::string::npos) << function << " is not tested";
}

} // namespace
} // namespace quern
