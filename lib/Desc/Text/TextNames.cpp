//===- TextNames.cpp - Names of execution arguments -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One table serves both directions. The numbers are oneDNN's; an argument that is not in the table is printed as a
// number.
//
//===----------------------------------------------------------------------===//
#include "Desc/Text/TextNames.h"

#include "Desc/Text/TextForm.h"

#include <charconv>

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
    {97, "alpha"},
    {98, "beta"},
    {99, "src_offset"},
    {100, "weights_offset"},
    {101, "dst_offset"},
    {129, "diff_src"},
    {145, "diff_dst"},
    {130, "diff_src_1"},
    {146, "diff_dst_1"},
    {161, "diff_weights"},
    {162, "diff_weights_1"},
    {169, "diff_bias"},
    {507, "dropout.offset"},
    {509, "dropout.mask"},
    {510, "dropout.probability"},
    {511, "dropout.seed"},
};

constexpr std::string_view sourcesPrefix = "srcs.";

/// Returns an empty string for an argument without a name.
std::string nameOfPlainArgument(int32_t argument) {
  int32_t source = argument - sourcesArgumentBase;
  if (source >= 0 && source < static_cast<int32_t>(maxSources))
    return std::string(sourcesPrefix) + std::to_string(source);
  for (const ArgumentName &entry : argumentNames)
    if (entry.argument == argument)
      return std::string(entry.name);
  return {};
}

} // namespace

std::optional<int32_t> plainArgumentFromName(std::string_view name) {
  int32_t source = 0;
  if (name.starts_with(sourcesPrefix)) {
    std::from_chars(name.data() + sourcesPrefix.size(), name.data() + name.size(), source);
    int32_t argument = source >= 0 && source < static_cast<int32_t>(maxSources) ? sourcesArgumentBase + source : 0;
    return nameOfPlainArgument(argument) == name ? std::optional(argument) : std::nullopt;
  }
  for (const ArgumentName &entry : argumentNames)
    if (entry.name == name)
      return entry.argument;
  return std::nullopt;
}

std::string nameOfArgument(int32_t argument) {
  int32_t plain = argument % postOpArgumentBase, postOp = argument / postOpArgumentBase - 1;
  std::string name = nameOfPlainArgument(plain);
  if (name.empty() || postOp >= static_cast<int32_t>(maxPostOps))
    return std::to_string(argument);
  return postOp < 0 ? name : "post" + std::to_string(postOp) + "." + name;
}

} // namespace quern
