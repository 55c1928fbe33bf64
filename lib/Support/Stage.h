//===- Stage.h - The stages from arguments to a result --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One enum for the stages, which dump flags, timings, error messages and tests share.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SUPPORT_STAGE_H
#define QUERN_SUPPORT_STAGE_H

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace quern {

/// The stages of a kernel, in the order in which it passes through them.
enum class Stage : int32_t { Verify, Key, Lookup, Emit, Schedule, Lower, Codegen, Load, Run };

inline constexpr std::array<std::string_view, 9> stageNames = {"verify", "key",     "lookup", "emit", "schedule",
                                                               "lower",  "codegen", "load",   "run"};

/// Returns the name in dumps and messages ("emit"); "unknown" for a value outside the enum.
constexpr std::string_view toString(Stage stage) {
  auto index = static_cast<size_t>(stage);
  return index < stageNames.size() ? stageNames[index] : "unknown";
}

/// Inverse of toString(); returns nothing for an unknown name.
constexpr std::optional<Stage> stageFromName(std::string_view name) {
  for (size_t i = 0; i < stageNames.size(); ++i)
    if (stageNames[i] == name)
      return static_cast<Stage>(i);
  return std::nullopt;
}

} // namespace quern

#endif // QUERN_SUPPORT_STAGE_H
