//===- Page.h - A trace as a page of HTML ---------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One file with everything in it: a browser asks nobody for anything. The texts are there without scripts; with them,
// what belongs together lights up.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TOOL_PAGE_H
#define QUERN_TOOL_PAGE_H

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace quern {

/// What is shown of one problem for one target.
struct PageKernel {
  nlohmann::json trace;    ///< quern_form_trace, and what was measured
  std::string explanation; ///< quern_explain()
};

/// Kernels stand side by side, each stage of the one beside that of the other.
std::string pageOf(const std::vector<PageKernel> &kernels);

} // namespace quern

#endif // QUERN_TOOL_PAGE_H
