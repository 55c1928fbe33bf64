//===- Loading.cpp - Initialization when the library is loaded ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Support/Forks.h"

namespace {

[[gnu::constructor]] void onLoad() { quern::forks::install(); }

} // namespace
