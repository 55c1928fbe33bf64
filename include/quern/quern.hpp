//===- quern/quern.hpp - The C++ API --------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The C++ API: C++17, header-only on top of quern.h, in the form of oneDNN's dnnl.hpp.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_HPP
#define QUERN_HPP

#include "quern/quern_attr.hpp"
#include "quern/quern_handle.hpp"
#include "quern/quern_memory.hpp"
#include "quern/quern_primitive.hpp"
#include "quern/quern_rnn.hpp"
#include "quern/quern_rnn_backward.hpp"
#include "quern/quern_settings.hpp"

#endif // QUERN_HPP
