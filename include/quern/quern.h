/*===- quern/quern.h - The C API -------------------------------------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * Everything in C. The C++ API, header-only over this one, is quern.hpp.
 *
 * In short: engine -> memory descriptors -> primitive descriptor (a verified
 * problem) -> primitive (its kernel, from a cache or compiled) -> execute on a
 * stream with memory objects by argument index. Statuses everywhere; the
 * reason of a failure is in quern_get_last_error_message().
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_H
#define QUERN_H

#include "quern/kernel_abi.h"
#include "quern/quern_attr.h"
#include "quern/quern_common.h"
#include "quern/quern_ext.h"
#include "quern/quern_gemm.h"
#include "quern/quern_memory.h"
#include "quern/quern_primitive.h"
#include "quern/quern_query.h"
#include "quern/quern_rnn.h"
#include "quern/quern_types.h"

#endif /* QUERN_H */
