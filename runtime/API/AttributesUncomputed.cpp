//===- AttributesUncomputed.cpp - Attributes kept for their getters -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Rounding modes, dropout and precomputed reductions. The default rounding asks for nothing; anything else is refused when a primitive
// descriptor is created, dropout that writes no mask included.
//
//===----------------------------------------------------------------------===//
#include "API/Guard.h"
#include "API/Handles.h"

using namespace quern;
using namespace quern::api;

namespace {

constexpr int32_t seedS32 = 4, seedS64 = 16; // dnnl_data_type_t

const TensorDesc noMask;

} // namespace

extern "C" {

quern_status_t quern_primitive_attr_set_rounding(quern_primitive_attr_t attr, int arg, quern_rounding_mode_t mode) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr);
    if (mode != quern_rounding_mode_environment && mode != quern_rounding_mode_stochastic)
      return invalidArguments("the rounding mode is ", static_cast<int>(mode), "; it must be 0 or 1");
    if (arg != QUERN_ARG_DST && arg != QUERN_ARG_DIFF_SRC && arg != QUERN_ARG_DIFF_WEIGHTS)
      return invalidArguments("rounding is set for argument ", arg, "; it must be dst (17), diff_src (129) or diff_weights (161)");
    if (mode == quern_rounding_mode_environment)
      unwrap(attr)->changeUncomputed().roundingModes.erase(arg);
    else
      unwrap(attr)->changeUncomputed().roundingModes[arg] = mode;
    return {};
  });
}

quern_status_t quern_primitive_attr_get_rounding(quern_primitive_attr_t attr, int arg, quern_rounding_mode_t *mode) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr, "mode", mode);
    const UncomputedAttributes *kept = unwrap(attr)->uncomputed.get();
    *mode = kept && kept->roundingModes.count(arg) ? quern_rounding_mode_stochastic : quern_rounding_mode_environment;
    return {};
  });
}

quern_status_t quern_primitive_attr_set_dropout_v2(quern_primitive_attr_t attr, const_quern_memory_desc_t mask, quern_data_type_t seedType,
                                                   int useOffset, int useHostScalars) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr, "mask_desc", mask);
    const auto type = static_cast<int32_t>(seedType);
    if (type != seedS32 && type != seedS64)
      return invalidArguments("the type of dropout seeds is ", type, "; it must be s32 (4) or s64 (16)");
    if (const TensorDesc &desc = *unwrap(mask); !desc.isZero() && desc.dataType != DataType::U8)
      return invalidArguments("the mask of dropout is of type ", nameOf(desc.dataType), "; it must be u8, or the zero descriptor for none");
    unwrap(attr)->changeUncomputed().dropout = {*unwrap(mask), type, useOffset != 0, useHostScalars != 0};
    return {};
  });
}

quern_status_t quern_primitive_attr_set_dropout(quern_primitive_attr_t attr, const_quern_memory_desc_t mask) noexcept {
  return quern_primitive_attr_set_dropout_v2(attr, mask, static_cast<quern_data_type_t>(seedS32), 0, 0);
}

quern_status_t quern_primitive_attr_get_dropout_v2(const_quern_primitive_attr_t attr, const_quern_memory_desc_t *mask,
                                                   quern_data_type_t *seedType, int *useOffset, int *useHostScalars) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr);
    const UncomputedAttributes *kept = unwrap(attr)->uncomputed.get();
    const UncomputedAttributes::Dropout *dropout = kept && kept->dropout ? &*kept->dropout : nullptr;
    if (mask)
      wrap(dropout ? &dropout->mask : &noMask, mask);
    if (seedType)
      *seedType = static_cast<quern_data_type_t>(dropout ? dropout->seedType : 0);
    if (useOffset)
      *useOffset = dropout && dropout->usesOffset;
    if (useHostScalars)
      *useHostScalars = dropout && dropout->usesHostScalars;
    return {};
  });
}

quern_status_t quern_primitive_attr_get_dropout(const_quern_primitive_attr_t attr, const_quern_memory_desc_t *mask) noexcept {
  return quern_primitive_attr_get_dropout_v2(attr, mask, nullptr, nullptr, nullptr);
}

quern_status_t quern_primitive_attr_set_precomputed_reductions(quern_primitive_attr_t attr, int arg, int mask, int groupCount,
                                                               const quern_dims_t groups, quern_data_type_t type) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr);
    if (arg != QUERN_ARG_SRC)
      return invalidArguments("precomputed reductions are set for argument ", arg, "; they are of src (1)");
    Attributes checked;
    quern_primitive_attr_t kept = nullptr;
    wrap(&checked, &kept);
    if (quern_primitive_attr_set_zero_points(kept, arg, mask, groupCount, groups, type) != quern_success)
      return invalidArguments("of precomputed reductions: ", quern_get_last_error_message());
    unwrap(attr)->changeUncomputed().precomputedReductions[arg] = checked.zeroPoints[arg];
    return {};
  });
}

} // extern "C"
