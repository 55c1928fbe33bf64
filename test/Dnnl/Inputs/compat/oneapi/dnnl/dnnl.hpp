// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stands where sources look for oneDNN's header.
#include "quern/dnnl_compat.hpp"
