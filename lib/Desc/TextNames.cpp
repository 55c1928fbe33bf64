//===- TextNames.cpp - Names of execution arguments -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One table for both directions. The numbers are oneDNN's; an argument that is not in the table is written as a number.
//
//===----------------------------------------------------------------------===//
#include "Desc/TextNames.h"

#include "Desc/TextForm.h"

namespace quern {
namespace {

struct ArgumentName {
  int32_t argument;
  std::string_view name;
};
constexpr ArgumentName argumentNames[] = {
    {1, "src"},
    {2, "src_1"},
    {3, "src_2"},
    {4, "attention"},
    {17, "dst"},
    {18, "dst_1"},
    {19, "dst_2"},
    {33, "weights"},
    {34, "weights_1"},
    {35, "weights_2"},
    {36, "weights_3"},
    {41, "bias"},
    {64, "workspace"},
    {96, "seq_lengths"},
    {129, "diff_src"},
    {145, "diff_dst"},
    {130, "diff_src_1"},
    {146, "diff_dst_1"},
    {161, "diff_weights"},
    {162, "diff_weights_1"},
    {169, "diff_bias"},
};

} // namespace

std::optional<int32_t> plainArgumentFromName(std::string_view name) {
  for (const ArgumentName &entry : argumentNames)
    if (entry.name == name)
      return entry.argument;
  return std::nullopt;
}

std::string nameOfArgument(int32_t argument) {
  int32_t plain = argument % postOpArgumentBase, postOp = argument / postOpArgumentBase - 1;
  for (const ArgumentName &entry : argumentNames) {
    if (entry.argument != plain)
      continue;
    std::string name(entry.name);
    if (postOp < 0)
      return name;
    if (postOp < static_cast<int32_t>(maxPostOps))
      return "post" + std::to_string(postOp) + "." + name;
  }
  return std::to_string(argument);
}

} // namespace quern
