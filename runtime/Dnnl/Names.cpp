//===- Names.cpp - The 2str functions -------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Implements dnnl_debug.h with the results of oneDNN: the enumerator without its prefix, or "unknown ...".
//
//===----------------------------------------------------------------------===//
#include "Dnnl/Dropin.h"

#include "quern/quern_format_tags.hpp"

#include <algorithm>
#include <cstddef>

using namespace quern::dropin;

namespace {

struct Name {
  unsigned value;
  const char *text;
};

template <size_t count> const char *find(const Name (&names)[count], unsigned value, const char *unknown) {
  for (const Name &name : names)
    if (name.value == value)
      return name.text;
  return unknown;
}

constexpr Name statusNames[] = {{0, "success"},       {1, "out_of_memory"},     {2, "invalid_arguments"},
                                {3, "unimplemented"}, {4, "last_impl_reached"}, {5, "runtime_error"},
                                {6, "not_required"},  {7, "invalid_graph"},     {8, "invalid_graph_op"},
                                {9, "invalid_shape"}, {10, "invalid_data_type"}};
constexpr Name dtNames[] = {{0, "undef"}, {1, "f16"},   {2, "bf16"},     {3, "f32"},     {4, "s32"},      {5, "s8"},
                            {6, "u8"},    {7, "f64"},   {8, "boolean"},  {9, "f8_e5m2"}, {10, "f8_e4m3"}, {11, "s4"},
                            {12, "u4"},   {13, "e8m0"}, {14, "f4_e2m1"}, {0x10, "s64"}};
constexpr Name fpmathModeNames[] = {{0, "strict"}, {1, "bf16"}, {2, "f16"}, {3, "any"}, {4, "tf32"}};
constexpr Name accumulationModeNames[] = {{0, "strict"}, {1, "relaxed"}, {2, "any"},
                                          {3, "s32"},    {4, "f32"},     {5, "f16"}};
constexpr Name engineKindNames[] = {{0, "any"}, {1, "cpu"}, {2, "gpu"}};
constexpr Name sparseEncodingNames[] = {{0, "undef"}, {1, "csr"}, {2, "packed"}, {3, "coo"}};
constexpr Name propKindNames[] = {{0, "undef"},           {0x40, "forward_training"}, {0x60, "forward_inference"},
                                  {0x80, "backward"},     {0xa0, "backward_data"},    {0xc0, "backward_weights"},
                                  {0xc1, "backward_bias"}};
constexpr Name primKindNames[] = {{0, "undef"},
                                  {1, "reorder"},
                                  {2, "shuffle"},
                                  {3, "concat"},
                                  {4, "sum"},
                                  {5, "convolution"},
                                  {6, "deconvolution"},
                                  {7, "eltwise"},
                                  {8, "lrn"},
                                  {9, "batch_normalization"},
                                  {10, "inner_product"},
                                  {11, "rnn"},
                                  {12, "gemm"},
                                  {13, "binary"},
                                  {14, "matmul"},
                                  {15, "resampling"},
                                  {0x10, "pooling"},
                                  {0x11, "reduction"},
                                  {0x12, "prelu"},
                                  {0x13, "softmax"},
                                  {0x14, "layer_normalization"},
                                  {0x15, "group_normalization"}};
constexpr Name algKindNames[] = {{0, "undef"},
                                 {1, "convolution_direct"},
                                 {2, "convolution_winograd"},
                                 {3, "convolution_auto"},
                                 {10, "deconvolution_direct"},
                                 {11, "deconvolution_winograd"},
                                 {0x20, "eltwise_relu"},
                                 {0x21, "eltwise_tanh"},
                                 {0x22, "eltwise_elu"},
                                 {0x23, "eltwise_square"},
                                 {0x24, "eltwise_abs"},
                                 {0x25, "eltwise_sqrt"},
                                 {0x26, "eltwise_linear"},
                                 {0x27, "eltwise_soft_relu"},
                                 {0x28, "eltwise_hardsigmoid"},
                                 {0x29, "eltwise_logistic"},
                                 {0x2a, "eltwise_exp"},
                                 {0x2b, "eltwise_gelu_tanh"},
                                 {0x2c, "eltwise_swish"},
                                 {0x2d, "eltwise_log"},
                                 {0x2e, "eltwise_clip"},
                                 {0x2f, "eltwise_clip_v2"},
                                 {0x30, "eltwise_pow"},
                                 {0x31, "eltwise_gelu_erf"},
                                 {0x32, "eltwise_round"},
                                 {0x33, "eltwise_mish"},
                                 {0x34, "eltwise_hardswish"},
                                 {0x100, "eltwise_relu_use_dst_for_bwd"},
                                 {0x101, "eltwise_tanh_use_dst_for_bwd"},
                                 {0x102, "eltwise_elu_use_dst_for_bwd"},
                                 {0x103, "eltwise_sqrt_use_dst_for_bwd"},
                                 {0x104, "eltwise_logistic_use_dst_for_bwd"},
                                 {0x105, "eltwise_exp_use_dst_for_bwd"},
                                 {0x106, "eltwise_clip_v2_use_dst_for_bwd"},
                                 {0x1ff, "pooling_max"},
                                 {0x2ff, "pooling_avg_include_padding"},
                                 {0x3ff, "pooling_avg_exclude_padding"},
                                 {0xaff, "lrn_across_channels"},
                                 {0xbff, "lrn_within_channel"},
                                 {0x1002, "softmax_accurate_inf_as_zero"},
                                 {0x1fff, "vanilla_rnn"},
                                 {0x2fff, "vanilla_lstm"},
                                 {0x3fff, "vanilla_gru"},
                                 {0x4fff, "lbr_gru"},
                                 {0x5fff, "vanilla_augru"},
                                 {0x6fff, "lbr_augru"},
                                 {0x1fff0, "binary_add"},
                                 {0x1fff1, "binary_mul"},
                                 {0x1fff2, "binary_max"},
                                 {0x1fff3, "binary_min"},
                                 {0x1fff4, "binary_div"},
                                 {0x1fff5, "binary_sub"},
                                 {0x1fff6, "binary_ge"},
                                 {0x1fff7, "binary_gt"},
                                 {0x1fff8, "binary_le"},
                                 {0x1fff9, "binary_lt"},
                                 {0x1fffa, "binary_eq"},
                                 {0x1fffb, "binary_ne"},
                                 {0x1fffc, "binary_select"},
                                 {0x2fff0, "resampling_nearest"},
                                 {0x2fff1, "resampling_linear"},
                                 {0x2fff2, "reduction_max"},
                                 {0x2fff3, "reduction_min"},
                                 {0x2fff4, "reduction_sum"},
                                 {0x2fff5, "reduction_mul"},
                                 {0x2fff6, "reduction_mean"},
                                 {0x2fff7, "reduction_norm_lp_max"},
                                 {0x2fff8, "reduction_norm_lp_sum"},
                                 {0x2fff9, "reduction_norm_lp_power_p_max"},
                                 {0x2fffa, "reduction_norm_lp_power_p_sum"},
                                 {0x30000, "softmax_accurate"},
                                 {0x30001, "softmax_log"}};
constexpr Name rnnFlagsNames[] = {{0, "undef"}, {1, "rnn_flags_diff_weights_overwrite"}};
constexpr Name rnnDirectionNames[] = {{0, "undef"},
                                      {1, "unidirectional_left2right"},
                                      {2, "unidirectional_right2left"},
                                      {3, "bidirectional_concat"},
                                      {4, "bidirectional_sum"}};
constexpr Name scratchpadModeNames[] = {{0, "library"}, {1, "user"}};
constexpr Name roundingModeNames[] = {{0, "environment"}, {1, "stochastic"}};
constexpr Name quantizationModeNames[] = {{0, "undef"}, {1, "static_sazp"}, {2, "dynamic_mx"}, {3, "dynamic_fp"}};
constexpr Name cpuIsaNames[] = {{0, "cpu_isa_default"},
                                {1, "cpu_isa_sse41"},
                                {3, "cpu_isa_avx"},
                                {7, "cpu_isa_avx2"},
                                {15, "cpu_isa_avx2_vnni"},
                                {0x1f, "cpu_isa_avx2_vnni_2"},
                                {0x27, "cpu_isa_avx512_core"},
                                {0x67, "cpu_isa_avx512_core_vnni"},
                                {0xe7, "cpu_isa_avx512_core_bf16"},
                                {0x1ef, "cpu_isa_avx10_1_512"},
                                {0xfef, "cpu_isa_avx10_1_512_amx"},
                                {0x1fef, "cpu_isa_avx10_1_512_amx_fp16"},
                                {0x201ff, "cpu_isa_avx10_2"},
                                {0x22fff, "cpu_isa_avx10_2_amx_2"}};
constexpr Name cpuIsaHintsNames[] = {{0, "cpu_isa_no_hints"}, {1, "cpu_isa_prefer_ymm"}};
constexpr Name runtimeNames[] = {{0, "none"},       {1, "sequential"}, {2, "OpenMP"},   {4, "TBB"},
                                 {8, "threadpool"}, {0x100, "OpenCL"}, {0x200, "SYCL"}, {0x400, "Level Zero"}};
constexpr Name fmtKindNames[] = {{0, "undef"}, {1, "any"}, {2, "blocked"}, {4, "sparse"}};

constexpr std::string_view cpuIsaPrefix = "cpu_isa_";

} // namespace

bool quern::dropin::sameIgnoringCase(std::string_view name, std::string_view lower) noexcept {
  const auto fold = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(name.begin(), name.end(), lower.begin(), lower.end(), [&](char a, char b) { return fold(a) == b; });
}

const char *quern::dropin::formatTagName(int tag) noexcept {
  return quern::name_of(static_cast<quern::format_tag>(tag));
}

int quern::dropin::cpuIsaOf(std::string_view name) noexcept {
  // Names of older releases for three of the levels, and a second name of the default.
  struct OtherName {
    std::string_view name;
    quern_cpu_isa_t value;
  };
  constexpr OtherName others[] = {{"all", quern_cpu_isa_default},
                                  {"avx512_core_fp16", quern_cpu_isa_avx512_core_fp16},
                                  {"avx512_core_amx", quern_cpu_isa_avx512_core_amx},
                                  {"avx512_core_amx_fp16", quern_cpu_isa_avx512_core_amx_fp16}};
  for (const OtherName &other : others)
    if (sameIgnoringCase(name, other.name))
      return other.value;
  for (const Name &isa : cpuIsaNames)
    if (sameIgnoringCase(name, std::string_view(isa.text).substr(cpuIsaPrefix.size())))
      return static_cast<int>(isa.value);
  return -1;
}

extern "C" {

QUERN_API const char *dnnl_status2str(unsigned value) noexcept { return find(statusNames, value, "unknown status"); }
QUERN_API const char *dnnl_dt2str(unsigned value) noexcept { return find(dtNames, value, "unknown dt"); }
QUERN_API const char *dnnl_fpmath_mode2str(unsigned value) noexcept {
  return find(fpmathModeNames, value, "unknown fpmath_mode");
}
QUERN_API const char *dnnl_accumulation_mode2str(unsigned value) noexcept {
  return find(accumulationModeNames, value, "unknown accumulation_mode");
}
QUERN_API const char *dnnl_engine_kind2str(unsigned value) noexcept {
  return find(engineKindNames, value, "unknown engine_kind");
}
QUERN_API const char *dnnl_sparse_encoding2str(unsigned value) noexcept {
  return find(sparseEncodingNames, value, "unknown sparse_encoding");
}
QUERN_API const char *dnnl_fmt_tag2str(int value) noexcept {
  const char *name = formatTagName(value);
  return name ? name : "unknown fmt_tag";
}
QUERN_API const char *dnnl_prop_kind2str(unsigned value) noexcept {
  return find(propKindNames, value, "unknown prop_kind");
}
QUERN_API const char *dnnl_prim_kind2str(unsigned value) noexcept {
  return find(primKindNames, value, "unknown prim_kind");
}
QUERN_API const char *dnnl_alg_kind2str(unsigned value) noexcept {
  return find(algKindNames, value, "unknown alg_kind");
}
QUERN_API const char *dnnl_rnn_flags2str(unsigned value) noexcept {
  return find(rnnFlagsNames, value, "unknown rnn_flags");
}
QUERN_API const char *dnnl_rnn_direction2str(unsigned value) noexcept {
  return find(rnnDirectionNames, value, "unknown rnn_direction");
}
QUERN_API const char *dnnl_scratchpad_mode2str(unsigned value) noexcept {
  return find(scratchpadModeNames, value, "unknown scratchpad_mode");
}
QUERN_API const char *dnnl_rounding_mode2str(unsigned value) noexcept {
  return find(roundingModeNames, value, "unknown rounding_mode");
}
QUERN_API const char *dnnl_quantization_mode2str(unsigned value) noexcept {
  return find(quantizationModeNames, value, "unknown quantization_mode");
}
QUERN_API const char *dnnl_cpu_isa2str(unsigned value) noexcept { return find(cpuIsaNames, value, "unknown cpu_isa"); }
QUERN_API const char *dnnl_cpu_isa_hints2str(unsigned value) noexcept {
  return find(cpuIsaHintsNames, value, "unknown cpu_isa_hints");
}
QUERN_API const char *dnnl_runtime2str(unsigned value) noexcept { return find(runtimeNames, value, "unknown"); }
QUERN_API const char *dnnl_fmt_kind2str(unsigned value) noexcept {
  return find(fmtKindNames, value, "unknown fmt_kind");
}

} // extern "C"
