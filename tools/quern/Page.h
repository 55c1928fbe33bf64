//===- Page.h - A trace as a page of HTML ---------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The page is one file without external references. The texts are visible without scripts; a script highlights related
// lines.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TOOL_PAGE_H
#define QUERN_TOOL_PAGE_H

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace quern {

/// The data of one problem for one target.
struct PageKernel {
  nlohmann::json trace;    ///< from quern_form_trace, with measurements if they were requested
  std::string explanation; ///< quern_explain()
};

/// Returns the page. Kernels are in adjacent columns, with equal stages next to each other.
std::string pageOf(const std::vector<PageKernel> &kernels);

} // namespace quern

#endif // QUERN_TOOL_PAGE_H
