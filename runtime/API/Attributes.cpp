//===- Attributes.cpp - Attributes ----------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Implements the attributes of quern_attr.h and quern_tiers.h.
//
//===----------------------------------------------------------------------===//
#include "API/Guard.h"
#include "API/Handles.h"

#include <algorithm>
#include <cmath>

using namespace quern;
using namespace quern::api;

namespace {

/// Sets a mode. Fails if `value` is unknown.
template <typename Mode, typename Public> Result<void> setMode(const char *name, Mode &mode, Public value) {
  QUERN_ASSIGN_OR_RETURN(Mode checked, checkedEnum<Mode>(name, value));
  mode = checked;
  return {};
}

/// Fails if `arg` cannot have scales or zero points: it must be below the attribute bits, or the tensor of a post-op.
Result<void> checkQuantArgument(const char *what, int arg) {
  const bool isTensor = arg > 0 && arg < QUERN_ARG_ATTR_SCALES;
  const bool isPostOp = arg >= QUERN_ARG_ATTR_MULTIPLE_POST_OP_BASE &&
                        arg < QUERN_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(maxPostOps));
  if (isTensor || isPostOp)
    return {};
  return invalidArguments(what, " are set for ", arg, "; it must be the QUERN_ARG_ value of a tensor");
}

using QuantMap = std::map<int32_t, QuantParams>;

Result<void> setQuant(const char *what, QuantMap &map, int arg, int mask, int groupCount, const int64_t *groups,
                      quern_data_type_t type, bool isOnHost = false) {
  QUERN_RETURN_IF_ERROR(checkQuantArgument(what, arg));
  if (isOnHost && (mask != 0 || groupCount != 0))
    return invalidArguments(what, " on the host need mask 0 and no groups; mask is ", mask, ", groups are ",
                            groupCount);
  if (mask < 0 || mask >= 1 << maxDims)
    return invalidArguments("the mask of ", what, " is ", mask, "; it must be 0 to ", (1 << maxDims) - 1);
  if (groupCount != 0 && groupCount != 2)
    return invalidArguments("the number of group sizes of ", what, " is ", groupCount, "; it must be 0 or 2");
  if (groupCount && !groups)
    return invalidArguments("group_dims is null");
  if (groupCount && std::any_of(groups, groups + groupCount, [](int64_t size) { return size < 1; }))
    return invalidArguments("a group size of ", what, " is ", std::min(groups[0], groups[1]),
                            "; it must be at least 1");
  QUERN_ASSIGN_OR_RETURN(DataType element, checkedEnum<DataType>("data type", type));
  if (element == DataType::Undef)
    return invalidArguments("the data type of ", what, " is undefined");
  QuantParams params{mask, element, {}, isOnHost};
  if (groupCount)
    params.groups.assign(groups, groups + groupCount);
  map[arg] = std::move(params);
  return {};
}

Result<void> getQuant(const char *what, const QuantMap &map, int arg, int *mask, int *groupCount, int64_t *groups,
                      quern_data_type_t *type) {
  const auto found = map.find(arg);
  if (found == map.end())
    return Error{Status::NotRequired, concat("no ", what, " are set for argument ", arg)};
  const QuantParams &params = found->second;
  if (mask)
    *mask = params.mask;
  if (groupCount)
    *groupCount = static_cast<int>(params.groups.size());
  if (groups)
    std::copy(params.groups.begin(), params.groups.end(), groups);
  if (type)
    *type = toC<quern_data_type_t>(params.dataType);
  return {};
}

Result<void> setWeightsScales(std::vector<float> &kept, int32_t &keptMask, int64_t count, int mask,
                              const float *scales) {
  if (count < 1 || count > INT32_MAX)
    return invalidArguments("the number of weights scales is ", count, "; it must be 1 to ", INT32_MAX);
  if (mask < 0 || mask >= 1 << maxDims)
    return invalidArguments("the mask of the weights scales is ", mask, "; it must be 0 to ", (1 << maxDims) - 1);
  if (mask == 0 && count != 1)
    return invalidArguments("with mask 0 there is one weights scale, not ", count);
  kept.assign(scales, scales + count);
  keptMask = mask;
  return {};
}

/// Returns the scales; one scale of 1 if none are set.
void getWeightsScales(const std::vector<float> &kept, int32_t keptMask, quern_dim_t *count, int *mask,
                      const float **scales) {
  static constexpr float one = 1;
  if (count)
    *count = kept.empty() ? 1 : static_cast<quern_dim_t>(kept.size());
  if (mask)
    *mask = keptMask;
  if (scales)
    *scales = kept.empty() ? &one : kept.data();
}

} // namespace

extern "C" {

quern_status_t quern_primitive_attr_create(quern_primitive_attr_t *attr) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr);
    *attr = nullptr;
    auto created = std::make_unique<Attributes>();
    quern_fpmath_mode_t mode = quern_fpmath_mode_strict;
    quern_get_default_fpmath_mode(&mode);
    created->fpmathMode = fromC<FpmathMode>(mode);
    wrap(created.release(), attr);
    return {};
  });
}

quern_status_t quern_primitive_attr_clone(quern_primitive_attr_t *attr,
                                          const_quern_primitive_attr_t existing) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr);
    *attr = nullptr;
    QUERN_REQUIRE("existing_attr", existing);
    wrap(new Attributes(*unwrap(existing)), attr);
    return {};
  });
}

quern_status_t quern_primitive_attr_destroy(quern_primitive_attr_t attr) noexcept { return destroy(unwrap(attr)); }

quern_status_t quern_primitive_attr_get_fpmath_mode(const_quern_primitive_attr_t attr,
                                                    quern_fpmath_mode_t *mode) noexcept {
  return quern_primitive_attr_get_fpmath_mode_v2(attr, mode, nullptr);
}

quern_status_t quern_primitive_attr_set_fpmath_mode(quern_primitive_attr_t attr, quern_fpmath_mode_t mode) noexcept {
  return quern_primitive_attr_set_fpmath_mode_v2(attr, mode, 0);
}

quern_status_t quern_primitive_attr_get_fpmath_mode_v2(const_quern_primitive_attr_t attr, quern_fpmath_mode_t *mode,
                                                       int *applyToInt) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr, "mode", mode);
    *mode = toC<quern_fpmath_mode_t>(unwrap(attr)->fpmathMode);
    if (applyToInt)
      *applyToInt = unwrap(attr)->fpmathApplyToInt;
    return {};
  });
}

quern_status_t quern_primitive_attr_set_fpmath_mode_v2(quern_primitive_attr_t attr, quern_fpmath_mode_t mode,
                                                       int applyToInt) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr);
    QUERN_RETURN_IF_ERROR(setMode("fpmath mode", unwrap(attr)->fpmathMode, mode));
    unwrap(attr)->fpmathApplyToInt = applyToInt != 0;
    return {};
  });
}

quern_status_t quern_primitive_attr_get_deterministic(const_quern_primitive_attr_t attr, int *value) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr, "value", value);
    *value = unwrap(attr)->deterministic;
    return {};
  });
}

quern_status_t quern_primitive_attr_set_deterministic(quern_primitive_attr_t attr, int value) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr);
    unwrap(attr)->deterministic = value != 0;
    return {};
  });
}

quern_status_t quern_primitive_attr_get_tiers(const_quern_primitive_attr_t attr, quern_tiers_t *tiers) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr, "tiers", tiers);
    *tiers = static_cast<quern_tiers_t>(unwrap(attr)->tiers);
    return {};
  });
}

quern_status_t quern_primitive_attr_set_tiers(quern_primitive_attr_t attr, quern_tiers_t tiers) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr);
    if (tiers < quern_tiers_default || tiers > quern_tiers_family)
      return invalidArguments("tiers ", static_cast<int>(tiers), " is not one of quern_tiers_t (0 to 3)");
    unwrap(attr)->tiers = static_cast<Tiers>(tiers);
    return {};
  });
}

quern_status_t quern_primitive_attr_get_accumulation_mode(const_quern_primitive_attr_t attr,
                                                          quern_accumulation_mode_t *mode) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr, "mode", mode);
    *mode = toC<quern_accumulation_mode_t>(unwrap(attr)->accumulationMode);
    return {};
  });
}

quern_status_t quern_primitive_attr_set_accumulation_mode(quern_primitive_attr_t attr,
                                                          quern_accumulation_mode_t mode) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr);
    return setMode("accumulation mode", unwrap(attr)->accumulationMode, mode);
  });
}

quern_status_t quern_primitive_attr_get_scratchpad_mode(const_quern_primitive_attr_t attr,
                                                        quern_scratchpad_mode_t *mode) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr, "mode", mode);
    *mode = toC<quern_scratchpad_mode_t>(unwrap(attr)->scratchpadMode);
    return {};
  });
}

quern_status_t quern_primitive_attr_set_scratchpad_mode(quern_primitive_attr_t attr,
                                                        quern_scratchpad_mode_t mode) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr);
    return setMode("scratchpad mode", unwrap(attr)->scratchpadMode, mode);
  });
}

quern_status_t quern_primitive_attr_set_scales_mask(quern_primitive_attr_t attr, int arg, int mask) noexcept {
  return quern_primitive_attr_set_scales(attr, arg, mask, 0, nullptr, quern_f32);
}

quern_status_t quern_primitive_attr_set_scales(quern_primitive_attr_t attr, int arg, int mask, int groupCount,
                                               const quern_dims_t groups, quern_data_type_t type) noexcept {
  return quern_primitive_attr_set_scales_v2(attr, arg, mask, groupCount, groups, type, 0);
}

quern_status_t quern_primitive_attr_set_scales_v2(quern_primitive_attr_t attr, int arg, int mask, int groupCount,
                                                  const quern_dims_t groups, quern_data_type_t type,
                                                  int isOnHost) noexcept {
  return quern_primitive_attr_set_scales_v3(attr, arg, mask, groupCount, groups, type, isOnHost,
                                            quern_quantization_mode_static_sazp);
}

quern_status_t quern_primitive_attr_set_scales_v3(quern_primitive_attr_t attr, int arg, int mask, int groupCount,
                                                  const quern_dims_t groups, quern_data_type_t type, int isOnHost,
                                                  quern_quantization_mode_t mode) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr);
    if (mode < quern_quantization_mode_static_sazp || mode > quern_quantization_mode_dynamic_fp)
      return invalidArguments("the quantization mode is ", static_cast<int>(mode), "; it must be 1 to 3");
    if (Result<void> set = setQuant("scales", unwrap(attr)->scales, arg, mask, groupCount, groups, type, isOnHost != 0);
        !set)
      return set;
    if (mode != quern_quantization_mode_static_sazp)
      unwrap(attr)->changeUncomputed().quantizationModes[arg] = mode;
    else if (unwrap(attr)->uncomputed)
      unwrap(attr)->changeUncomputed().quantizationModes.erase(arg);
    return {};
  });
}

quern_status_t quern_primitive_attr_get_scales(const_quern_primitive_attr_t attr, int arg, int *mask, int *groupCount,
                                               quern_dims_t groups, quern_data_type_t *type) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr);
    return getQuant("scales", unwrap(attr)->scales, arg, mask, groupCount, groups, type);
  });
}

quern_status_t quern_primitive_attr_set_zero_points_mask(quern_primitive_attr_t attr, int arg, int mask) noexcept {
  return quern_primitive_attr_set_zero_points(attr, arg, mask, 0, nullptr, quern_s32);
}

quern_status_t quern_primitive_attr_set_zero_points(quern_primitive_attr_t attr, int arg, int mask, int groupCount,
                                                    const quern_dims_t groups, quern_data_type_t type) noexcept {
  return quern_primitive_attr_set_zero_points_v2(attr, arg, mask, groupCount, groups, type, 0);
}

quern_status_t quern_primitive_attr_set_zero_points_v2(quern_primitive_attr_t attr, int arg, int mask, int groupCount,
                                                       const quern_dims_t groups, quern_data_type_t type,
                                                       int isOnHost) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr);
    return setQuant("zero points", unwrap(attr)->zeroPoints, arg, mask, groupCount, groups, type, isOnHost != 0);
  });
}

int quern_primitive_attr_is_on_host(const_quern_primitive_attr_t attr, int arg) noexcept {
  if (!attr)
    return 0;
  const QuantMap &map = arg & QUERN_ARG_ATTR_SCALES ? unwrap(attr)->scales : unwrap(attr)->zeroPoints;
  const auto found = map.find(arg & ~(QUERN_ARG_ATTR_SCALES | QUERN_ARG_ATTR_ZERO_POINTS));
  return found != map.end() && found->second.isOnHost;
}

quern_status_t quern_primitive_attr_get_zero_points(const_quern_primitive_attr_t attr, int arg, int *mask,
                                                    int *groupCount, quern_dims_t groups,
                                                    quern_data_type_t *type) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr);
    return getQuant("zero points", unwrap(attr)->zeroPoints, arg, mask, groupCount, groups, type);
  });
}

quern_status_t quern_primitive_attr_get_post_ops(const_quern_primitive_attr_t attr,
                                                 const_quern_post_ops_t *postOps) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr, "post_ops", postOps);
    wrap(&unwrap(attr)->postOps, postOps);
    return {};
  });
}

quern_status_t quern_primitive_attr_set_post_ops(quern_primitive_attr_t attr, const_quern_post_ops_t postOps) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr, "post_ops", postOps);
    unwrap(attr)->postOps = *unwrap(postOps);
    return {};
  });
}

quern_status_t quern_primitive_attr_set_rnn_data_qparams(quern_primitive_attr_t attr, const float scale,
                                                         const float shift) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr);
    if (!std::isfinite(scale) || !std::isfinite(shift))
      return invalidArguments("the RNN data scale and shift are ", scale, " and ", shift, "; they must be finite");
    unwrap(attr)->rnn.dataScale = scale;
    unwrap(attr)->rnn.dataShift = shift;
    return {};
  });
}

quern_status_t quern_primitive_attr_get_rnn_data_qparams(const_quern_primitive_attr_t attr, float *scale,
                                                         float *shift) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr);
    if (scale)
      *scale = unwrap(attr)->rnn.dataScale;
    if (shift)
      *shift = unwrap(attr)->rnn.dataShift;
    return {};
  });
}

quern_status_t quern_primitive_attr_set_rnn_weights_qparams(quern_primitive_attr_t attr, quern_dim_t count, int mask,
                                                            const float *scales) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr, "scales", scales);
    RnnQuantization &rnn = unwrap(attr)->rnn;
    return setWeightsScales(rnn.weightsScales, rnn.weightsMask, count, mask, scales);
  });
}

quern_status_t quern_primitive_attr_get_rnn_weights_qparams(const_quern_primitive_attr_t attr, quern_dim_t *count,
                                                            int *mask, const float **scales) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr);
    getWeightsScales(unwrap(attr)->rnn.weightsScales, unwrap(attr)->rnn.weightsMask, count, mask, scales);
    return {};
  });
}

quern_status_t quern_primitive_attr_set_rnn_weights_projection_qparams(quern_primitive_attr_t attr, quern_dim_t count,
                                                                       int mask, const float *scales) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr, "scales", scales);
    RnnQuantization &rnn = unwrap(attr)->rnn;
    return setWeightsScales(rnn.projectionScales, rnn.projectionMask, count, mask, scales);
  });
}

quern_status_t quern_primitive_attr_get_rnn_weights_projection_qparams(const_quern_primitive_attr_t attr,
                                                                       quern_dim_t *count, int *mask,
                                                                       const float **scales) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr);
    getWeightsScales(unwrap(attr)->rnn.projectionScales, unwrap(attr)->rnn.projectionMask, count, mask, scales);
    return {};
  });
}

quern_status_t quern_primitive_attr_set_dropout_v2(quern_primitive_attr_t attr, const_quern_memory_desc_t mask,
                                                   quern_data_type_t seedType, int useOffset,
                                                   int useHostScalars) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr, "mask_desc", mask);
    const auto type = static_cast<DataType>(seedType);
    if (type != DataType::S32 && type != DataType::S64)
      return invalidArguments("the type of dropout seeds is ", static_cast<int>(seedType),
                              "; it must be s32 (4) or s64 (16)");
    const Dropout dropout{type, useOffset != 0, useHostScalars != 0, *unwrap(mask)};
    QUERN_RETURN_IF_ERROR(dropout.validate());
    unwrap(attr)->dropout = dropout;
    return {};
  });
}

quern_status_t quern_primitive_attr_set_dropout(quern_primitive_attr_t attr, const_quern_memory_desc_t mask) noexcept {
  return quern_primitive_attr_set_dropout_v2(attr, mask, quern_s32, 0, 0);
}

quern_status_t quern_primitive_attr_get_dropout_v2(const_quern_primitive_attr_t attr, const_quern_memory_desc_t *mask,
                                                   quern_data_type_t *seedType, int *useOffset,
                                                   int *useHostScalars) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr);
    const Dropout &dropout = unwrap(attr)->dropout;
    if (mask)
      wrap(&dropout.mask, mask);
    if (seedType)
      *seedType = static_cast<quern_data_type_t>(dropout.seedType);
    if (useOffset)
      *useOffset = dropout.usesOffset;
    if (useHostScalars)
      *useHostScalars = dropout.isOnHost;
    return {};
  });
}

quern_status_t quern_primitive_attr_get_dropout(const_quern_primitive_attr_t attr,
                                                const_quern_memory_desc_t *mask) noexcept {
  return quern_primitive_attr_get_dropout_v2(attr, mask, nullptr, nullptr, nullptr);
}

} // extern "C"
