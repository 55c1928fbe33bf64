// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replaces oneDNN's header at the path that sources include.
#include "quern/dnnl_compat.hpp"
