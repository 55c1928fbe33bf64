//===- AttributesUncomputed.cpp - Attributes kept for their getters -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Rounding modes and precomputed reductions, which no primitive implements. Creating a primitive descriptor fails if a
// rounding mode is not the default or reductions are declared.
//
//===----------------------------------------------------------------------===//
#include "API/Guard.h"
#include "API/Handles.h"

using namespace quern;
using namespace quern::api;

extern "C" {

quern_status_t quern_primitive_attr_set_rounding(quern_primitive_attr_t attr, int arg,
                                                 quern_rounding_mode_t mode) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr);
    if (mode != quern_rounding_mode_environment && mode != quern_rounding_mode_stochastic)
      return invalidArguments("the rounding mode is ", static_cast<int>(mode), "; it must be 0 or 1");
    if (arg != QUERN_ARG_DST && arg != QUERN_ARG_DIFF_SRC && arg != QUERN_ARG_DIFF_WEIGHTS)
      return invalidArguments("rounding is set for argument ", arg,
                              "; it must be dst (17), diff_src (129) or diff_weights (161)");
    if (mode == quern_rounding_mode_environment)
      unwrap(attr)->changeUncomputed().roundingModes.erase(arg);
    else
      unwrap(attr)->changeUncomputed().roundingModes[arg] = mode;
    return {};
  });
}

quern_status_t quern_primitive_attr_get_rounding(quern_primitive_attr_t attr, int arg,
                                                 quern_rounding_mode_t *mode) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr, "mode", mode);
    const UncomputedAttributes *kept = unwrap(attr)->uncomputed.get();
    *mode =
        kept && kept->roundingModes.contains(arg) ? quern_rounding_mode_stochastic : quern_rounding_mode_environment;
    return {};
  });
}

quern_status_t quern_primitive_attr_set_precomputed_reductions(quern_primitive_attr_t attr, int arg, int mask,
                                                               int groupCount, const quern_dims_t groups,
                                                               quern_data_type_t type) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("attr", attr);
    if (arg != QUERN_ARG_SRC)
      return invalidArguments("precomputed reductions are set for argument ", arg, "; it must be src (1)");
    Attributes checked;
    quern_primitive_attr_t kept = nullptr;
    wrap(&checked, &kept);
    if (quern_primitive_attr_set_zero_points(kept, arg, mask, groupCount, groups, type) != quern_success)
      return invalidArguments("precomputed reductions: ", quern_get_last_error_message());
    unwrap(attr)->changeUncomputed().precomputedReductions[arg] = checked.zeroPoints[arg];
    return {};
  });
}

} // extern "C"
