//===- quern/quern_attr.hpp - Attributes and post-operations in C++ -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Setters and getters for the functions of quern_attr.h. A primitive descriptor copies its attributes.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_ATTR_HPP
#define QUERN_ATTR_HPP

#include "quern/quern_memory.hpp"
#include "quern/quern_mlir.h"
#include "quern/quern_tiers.h"

namespace quern {

template <> struct handle_traits<quern_post_ops_t> {
  static quern_status_t destructor(quern_post_ops_t p) { return quern_post_ops_destroy(p); }
};
template <> struct handle_traits<quern_primitive_attr_t> {
  static quern_status_t destructor(quern_primitive_attr_t p) { return quern_primitive_attr_destroy(p); }
};

/// See quern_alg_kind_t.
enum class algorithm {
  undef = quern_alg_kind_undef,
  eltwise_relu = quern_eltwise_relu,
  eltwise_tanh = quern_eltwise_tanh,
  eltwise_elu = quern_eltwise_elu,
  eltwise_square = quern_eltwise_square,
  eltwise_abs = quern_eltwise_abs,
  eltwise_sqrt = quern_eltwise_sqrt,
  eltwise_linear = quern_eltwise_linear,
  eltwise_soft_relu = quern_eltwise_soft_relu,
  eltwise_hardsigmoid = quern_eltwise_hardsigmoid,
  eltwise_logistic = quern_eltwise_logistic,
  eltwise_exp = quern_eltwise_exp,
  eltwise_gelu_tanh = quern_eltwise_gelu_tanh,
  eltwise_swish = quern_eltwise_swish,
  eltwise_log = quern_eltwise_log,
  eltwise_clip = quern_eltwise_clip,
  eltwise_clip_v2 = quern_eltwise_clip_v2,
  eltwise_pow = quern_eltwise_pow,
  eltwise_gelu_erf = quern_eltwise_gelu_erf,
  eltwise_round = quern_eltwise_round,
  eltwise_mish = quern_eltwise_mish,
  eltwise_hardswish = quern_eltwise_hardswish,
  eltwise_relu_use_dst_for_bwd = quern_eltwise_relu_use_dst_for_bwd,
  eltwise_tanh_use_dst_for_bwd = quern_eltwise_tanh_use_dst_for_bwd,
  eltwise_elu_use_dst_for_bwd = quern_eltwise_elu_use_dst_for_bwd,
  eltwise_sqrt_use_dst_for_bwd = quern_eltwise_sqrt_use_dst_for_bwd,
  eltwise_logistic_use_dst_for_bwd = quern_eltwise_logistic_use_dst_for_bwd,
  eltwise_exp_use_dst_for_bwd = quern_eltwise_exp_use_dst_for_bwd,
  eltwise_clip_v2_use_dst_for_bwd = quern_eltwise_clip_v2_use_dst_for_bwd,
  vanilla_rnn = quern_vanilla_rnn,
  vanilla_lstm = quern_vanilla_lstm,
  vanilla_gru = quern_vanilla_gru,
  lbr_gru = quern_lbr_gru,
  vanilla_augru = quern_vanilla_augru,
  lbr_augru = quern_lbr_augru,
  binary_add = quern_binary_add,
  binary_mul = quern_binary_mul,
  binary_max = quern_binary_max,
  binary_min = quern_binary_min,
  binary_div = quern_binary_div,
  binary_sub = quern_binary_sub,
  binary_ge = quern_binary_ge,
  binary_gt = quern_binary_gt,
  binary_le = quern_binary_le,
  binary_lt = quern_binary_lt,
  binary_eq = quern_binary_eq,
  binary_ne = quern_binary_ne,
  binary_select = quern_binary_select,
  softmax_accurate = quern_softmax_accurate,
  softmax_log = quern_softmax_log,
  softmax_accurate_inf_as_zero = quern_softmax_accurate_inf_as_zero
};

/// See quern_scratchpad_mode_t.
enum class scratchpad_mode { library = quern_scratchpad_mode_library, user = quern_scratchpad_mode_user };

/// See quern_tiers_t.
enum class tiers {
  by_default = quern_tiers_default,
  both = quern_tiers_both,
  specialized = quern_tiers_specialized,
  family = quern_tiers_family
};

/// See quern_accumulation_mode_t.
enum class accumulation_mode {
  strict = quern_accumulation_mode_strict,
  relaxed = quern_accumulation_mode_relaxed,
  any = quern_accumulation_mode_any,
  s32 = quern_accumulation_mode_s32,
  f32 = quern_accumulation_mode_f32,
  f16 = quern_accumulation_mode_f16
};

/// See quern_quantization_mode_t. Only static scales are supported.
enum class quantization_mode {
  undef = quern_quantization_mode_undef,
  static_sazp = quern_quantization_mode_static_sazp,
  dynamic_mx = quern_quantization_mode_dynamic_mx,
  dynamic_fp = quern_quantization_mode_dynamic_fp
};

/// See quern_rounding_mode_t.
enum class rounding_mode { environment = quern_rounding_mode_environment, stochastic = quern_rounding_mode_stochastic };

/// See quern_primitive_kind_t; the same as primitive::kind.
enum class primitive_kind {
  undef = quern_undefined_primitive,
  reorder = quern_reorder,
  concat = quern_concat,
  sum = quern_sum,
  convolution = quern_convolution,
  eltwise = quern_eltwise,
  rnn = quern_rnn,
  gemm = quern_gemm,
  binary = quern_binary,
  prelu = quern_prelu,
  softmax = quern_softmax,
  mlir = quern_mlir
};

/// A list of operations on the result, applied in the order of the list.
struct post_ops : public handle<quern_post_ops_t> {
  using handle::handle;
  /// Creates an empty list.
  post_ops() {
    quern_post_ops_t created = nullptr;
    error::wrap_c_api(quern_post_ops_create(&created), "could not create post-ops");
    reset(created);
  }
  /// Returns the number of post-ops.
  int len() const { return quern_post_ops_len(get()); }
  /// Returns the kind of a post-op; undef if `index` is out of range.
  primitive_kind kind(int index) const { return static_cast<primitive_kind>(quern_post_ops_get_kind(get(), index)); }
  /// See quern_post_ops_append_sum().
  void append_sum(float scale = 1, int32_t zero_point = 0, memory::data_type type = memory::data_type::undef) {
    check(quern_post_ops_append_sum(get(), scale, zero_point, static_cast<quern_data_type_t>(type)));
  }
  /// See quern_post_ops_append_eltwise().
  void append_eltwise(algorithm alg, float alpha, float beta) {
    check(quern_post_ops_append_eltwise(get(), static_cast<quern_alg_kind_t>(alg), alpha, beta));
  }
  /// See quern_post_ops_append_binary().
  void append_binary(algorithm alg, const memory::desc &src1) {
    check(quern_post_ops_append_binary(get(), static_cast<quern_alg_kind_t>(alg), src1.get()));
  }
  /// See quern_post_ops_append_binary_v2().
  void append_binary(algorithm alg, const memory::desc &src1, const memory::desc &src2) {
    check(quern_post_ops_append_binary_v2(get(), static_cast<quern_alg_kind_t>(alg), src1.get(), src2.get()));
  }
  /// See quern_post_ops_append_prelu().
  void append_prelu(int mask) { check(quern_post_ops_append_prelu(get(), mask)); }

  /// See quern_post_ops_append_dw().
  void append_dw(memory::data_type weights, memory::data_type bias, memory::data_type dst, memory::dim kernel,
          memory::dim stride, memory::dim padding) {
    check(quern_post_ops_append_dw(get(), static_cast<quern_data_type_t>(weights), static_cast<quern_data_type_t>(bias),
            static_cast<quern_data_type_t>(dst), kernel, stride, padding));
  }

  /// Returns the scale of a sum.
  void get_params_sum(int index, float &scale) const {
    read(quern_post_ops_get_params_sum(get(), index, &scale, nullptr, nullptr));
  }
  /// Returns all parameters of a sum.
  void get_params_sum(int index, float &scale, int32_t &zero_point, memory::data_type &type) const {
    quern_data_type_t found;
    read(quern_post_ops_get_params_sum(get(), index, &scale, &zero_point, &found));
    type = static_cast<memory::data_type>(found);
  }
  /// Returns the parameters of an eltwise post-op.
  void get_params_eltwise(int index, algorithm &alg, float &alpha, float &beta) const {
    quern_alg_kind_t found;
    read(quern_post_ops_get_params_eltwise(get(), index, &found, &alpha, &beta));
    alg = static_cast<algorithm>(found);
  }
  /// Returns the parameters of a binary post-op.
  void get_params_binary(int index, algorithm &alg, memory::desc &src1) const {
    memory::desc src2;
    get_params_binary(index, alg, src1, src2);
  }
  /// Returns the parameters of a binary post-op, including the condition of a select.
  void get_params_binary(int index, algorithm &alg, memory::desc &src1, memory::desc &src2) const {
    quern_alg_kind_t found;
    const_quern_memory_desc_t operands[2] = {nullptr, nullptr};
    read(quern_post_ops_get_params_binary_v2(get(), index, &found, &operands[0], &operands[1]));
    alg = static_cast<algorithm>(found);
    src1 = memory::desc::copy_of(operands[0]);
    src2 = memory::desc::copy_of(operands[1]);
  }
  /// Returns the parameters of a depthwise convolution.
  void get_params_dw(int index, memory::data_type &weights, memory::data_type &bias, memory::data_type &dst,
          memory::dim &kernel, memory::dim &stride, memory::dim &padding) const {
    quern_data_type_t types[3];
    read(quern_post_ops_get_params_dw(get(), index, &types[0], &types[1], &types[2], &kernel, &stride, &padding));
    weights = static_cast<memory::data_type>(types[0]);
    bias = static_cast<memory::data_type>(types[1]);
    dst = static_cast<memory::data_type>(types[2]);
  }
  /// Returns the mask of a PReLU.
  void get_params_prelu(int index, int &mask) const { read(quern_post_ops_get_params_prelu(get(), index, &mask)); }

private:
  static void check(quern_status_t status) { error::wrap_c_api(status, "could not append a post-op"); }
  static void read(quern_status_t status) { error::wrap_c_api(status, "could not get the parameters of a post-op"); }
};

/// Attributes of a primitive.
struct primitive_attr : public handle<quern_primitive_attr_t> {
  using handle::handle;
  /// Creates attributes with default values.
  primitive_attr() {
    quern_primitive_attr_t created = nullptr;
    error::wrap_c_api(quern_primitive_attr_create(&created), "could not create attributes");
    reset(created);
  }
  /// Returns the fpmath mode.
  fpmath_mode get_fpmath_mode() const {
    quern_fpmath_mode_t mode;
    check(quern_primitive_attr_get_fpmath_mode(get(), &mode));
    return static_cast<fpmath_mode>(mode);
  }
  /// Returns the fpmath mode and whether it applies to integers.
  void get_fpmath_mode(fpmath_mode &mode, bool &apply_to_int) const {
    quern_fpmath_mode_t found;
    int applies = 0;
    check(quern_primitive_attr_get_fpmath_mode_v2(get(), &found, &applies));
    mode = static_cast<fpmath_mode>(found);
    apply_to_int = applies != 0;
  }
  /// See quern_primitive_attr_set_fpmath_mode_v2().
  void set_fpmath_mode(fpmath_mode mode, bool apply_to_int = false) {
    check(quern_primitive_attr_set_fpmath_mode_v2(get(), static_cast<quern_fpmath_mode_t>(mode), apply_to_int));
  }
  /// Returns the deterministic flag.
  bool get_deterministic() const {
    int value = 0;
    check(quern_primitive_attr_get_deterministic(get(), &value));
    return value != 0;
  }
  /// See quern_primitive_attr_set_deterministic().
  void set_deterministic(bool value) { check(quern_primitive_attr_set_deterministic(get(), value)); }
  /// Returns the kernels that primitives may run.
  tiers get_tiers() const {
    quern_tiers_t value;
    check(quern_primitive_attr_get_tiers(get(), &value));
    return static_cast<tiers>(value);
  }
  /// See quern_primitive_attr_set_tiers().
  void set_tiers(tiers value) { check(quern_primitive_attr_set_tiers(get(), static_cast<quern_tiers_t>(value))); }
  /// Returns true if unsupported operations of a function in MLIR are lowered loop by loop.
  bool get_mlir_allow_naive() const {
    int value = 0;
    check(quern_primitive_attr_get_mlir_allow_naive(get(), &value));
    return value != 0;
  }
  /// See quern_primitive_attr_set_mlir_allow_naive().
  void set_mlir_allow_naive(bool value) { check(quern_primitive_attr_set_mlir_allow_naive(get(), value)); }
  /// Returns the accumulation mode.
  accumulation_mode get_accumulation_mode() const {
    quern_accumulation_mode_t mode;
    check(quern_primitive_attr_get_accumulation_mode(get(), &mode));
    return static_cast<accumulation_mode>(mode);
  }
  /// See quern_primitive_attr_set_accumulation_mode().
  void set_accumulation_mode(accumulation_mode mode) {
    check(quern_primitive_attr_set_accumulation_mode(get(), static_cast<quern_accumulation_mode_t>(mode)));
  }
  /// Returns the scratchpad mode.
  scratchpad_mode get_scratchpad_mode() const {
    quern_scratchpad_mode_t mode;
    check(quern_primitive_attr_get_scratchpad_mode(get(), &mode));
    return static_cast<scratchpad_mode>(mode);
  }
  /// See quern_primitive_attr_set_scratchpad_mode().
  void set_scratchpad_mode(scratchpad_mode mode) {
    check(quern_primitive_attr_set_scratchpad_mode(get(), static_cast<quern_scratchpad_mode_t>(mode)));
  }
  /// See quern_primitive_attr_set_scales_mask().
  void set_scales_mask(int arg, int mask) { check(quern_primitive_attr_set_scales_mask(get(), arg, mask)); }
  /// See quern_primitive_attr_set_scales_v3(). Empty `groups`: no groups.
  void set_scales(int arg, int mask, const memory::dims &groups, memory::data_type type = memory::data_type::f32,
          bool is_on_host = false, quantization_mode mode = quantization_mode::static_sazp) {
    check(quern_primitive_attr_set_scales_v3(get(), arg, mask, static_cast<int>(groups.size()),
            groups.empty() ? nullptr : groups.data(), static_cast<quern_data_type_t>(type), is_on_host,
            static_cast<quern_quantization_mode_t>(mode)));
  }
  /// Returns the mask of the scales of an argument; 0 also if none are declared.
  int get_scales_mask(int arg) const { return get_mask(quern_primitive_attr_get_scales, arg); }
  /// See quern_primitive_attr_set_zero_points_mask().
  void set_zero_points_mask(int arg, int mask) { check(quern_primitive_attr_set_zero_points_mask(get(), arg, mask)); }
  /// See quern_primitive_attr_set_zero_points_v2(). Empty `groups`: no groups.
  void set_zero_points(int arg, int mask, const memory::dims &groups, memory::data_type type = memory::data_type::s32,
          bool is_on_host = false) {
    check(quern_primitive_attr_set_zero_points_v2(get(), arg, mask, static_cast<int>(groups.size()),
            groups.empty() ? nullptr : groups.data(), static_cast<quern_data_type_t>(type), is_on_host));
  }
  /// Returns the mask of the zero points of an argument; 0 also if none are declared.
  int get_zero_points_mask(int arg) const { return get_mask(quern_primitive_attr_get_zero_points, arg); }
  /// Returns the rounding mode of an argument.
  rounding_mode get_rounding_mode(int arg) const {
    quern_rounding_mode_t mode;
    check(quern_primitive_attr_get_rounding(get(), arg, &mode));
    return static_cast<rounding_mode>(mode);
  }
  /// See quern_primitive_attr_set_rounding().
  void set_rounding_mode(int arg, rounding_mode mode) {
    check(quern_primitive_attr_set_rounding(get(), arg, static_cast<quern_rounding_mode_t>(mode)));
  }
  /// See quern_primitive_attr_set_precomputed_reductions().
  void set_precomputed_reductions(
          int arg, int mask, const memory::dims &groups, memory::data_type type = memory::data_type::s32) {
    check(quern_primitive_attr_set_precomputed_reductions(get(), arg, mask, static_cast<int>(groups.size()),
            groups.empty() ? nullptr : groups.data(), static_cast<quern_data_type_t>(type)));
  }
  /// Returns the descriptor of the dropout mask; the zero descriptor if no mask is written.
  void get_dropout(memory::desc &mask) const {
    const_quern_memory_desc_t found = nullptr;
    check(quern_primitive_attr_get_dropout(get(), &found));
    mask = memory::desc::copy_of(found);
  }
  /// Returns all dropout parameters.
  void get_dropout(memory::desc &mask, memory::data_type &seed_type, bool &use_offset, bool &use_host_scalars) const {
    const_quern_memory_desc_t found = nullptr;
    quern_data_type_t type;
    int offset = 0, host = 0;
    check(quern_primitive_attr_get_dropout_v2(get(), &found, &type, &offset, &host));
    mask = memory::desc::copy_of(found);
    seed_type = static_cast<memory::data_type>(type);
    use_offset = offset != 0;
    use_host_scalars = host != 0;
  }
  /// See quern_primitive_attr_set_dropout().
  void set_dropout(const memory::desc &mask) { check(quern_primitive_attr_set_dropout(get(), mask.get())); }
  /// See quern_primitive_attr_set_dropout_v2().
  void set_dropout(const memory::desc &mask, memory::data_type seed_type, bool use_offset, bool use_host_scalars) {
    check(quern_primitive_attr_set_dropout_v2(
            get(), mask.get(), static_cast<quern_data_type_t>(seed_type), use_offset, use_host_scalars));
  }
  /// Declares one scale that an execution takes from a host scalar.
  void set_host_scale(int arg, memory::data_type type = memory::data_type::f32) {
    check(quern_primitive_attr_set_scales_v2(get(), arg, 0, 0, nullptr, static_cast<quern_data_type_t>(type), 1));
  }
  /// Declares one zero point that an execution takes from a host scalar.
  void set_host_zero_point(int arg, memory::data_type type = memory::data_type::s32) {
    check(quern_primitive_attr_set_zero_points_v2(get(), arg, 0, 0, nullptr, static_cast<quern_data_type_t>(type), 1));
  }
  /// Returns a copy of the post-ops.
  post_ops get_post_ops() const {
    const_quern_post_ops_t found = nullptr;
    quern_post_ops_t copy = nullptr;
    check(quern_primitive_attr_get_post_ops(get(), &found));
    check(quern_post_ops_clone(&copy, found));
    return post_ops(copy);
  }
  /// Sets the post-ops; they are copied.
  void set_post_ops(const post_ops &ops) { check(quern_primitive_attr_set_post_ops(get(), ops.get())); }
  /// See quern_primitive_attr_set_rnn_data_qparams().
  void set_rnn_data_qparams(float scale, float shift) {
    check(quern_primitive_attr_set_rnn_data_qparams(get(), scale, shift));
  }
  /// Returns the quantization of RNN data.
  void get_rnn_data_qparams(float &scale, float &shift) const {
    check(quern_primitive_attr_get_rnn_data_qparams(get(), &scale, &shift));
  }
  /// See quern_primitive_attr_set_rnn_weights_qparams().
  void set_rnn_weights_qparams(int mask, const std::vector<float> &scales) {
    check(quern_primitive_attr_set_rnn_weights_qparams(
            get(), static_cast<quern_dim_t>(scales.size()), mask, scales.data()));
  }
  /// Returns the scales of quantized RNN weights.
  void get_rnn_weights_qparams(int &mask, std::vector<float> &scales) const {
    get_scales(quern_primitive_attr_get_rnn_weights_qparams, mask, scales);
  }
  /// See quern_primitive_attr_set_rnn_weights_projection_qparams().
  void set_rnn_weights_projection_qparams(int mask, const std::vector<float> &scales) {
    check(quern_primitive_attr_set_rnn_weights_projection_qparams(
            get(), static_cast<quern_dim_t>(scales.size()), mask, scales.data()));
  }
  /// Returns the scales of quantized projection weights.
  void get_rnn_weights_projection_qparams(int &mask, std::vector<float> &scales) const {
    get_scales(quern_primitive_attr_get_rnn_weights_projection_qparams, mask, scales);
  }

private:
  static void check(quern_status_t status) { error::wrap_c_api(status, "could not access an attribute"); }
  int get_mask(decltype(&quern_primitive_attr_get_scales) getter, int arg) const {
    int mask = 0;
    const quern_status_t status = getter(get(), arg, &mask, nullptr, nullptr, nullptr);
    check(status == quern_not_required ? quern_success : status);
    return mask;
  }
  void get_scales(
          decltype(&quern_primitive_attr_get_rnn_weights_qparams) getter, int &mask, std::vector<float> &scales) const {
    quern_dim_t count = 0;
    const float *values = nullptr;
    check(getter(get(), &count, &mask, &values));
    scales.assign(values, values + count);
  }
};

} // namespace quern

#endif // QUERN_ATTR_HPP
