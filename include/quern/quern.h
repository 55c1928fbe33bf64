/*===- quern/quern.h - The C API -------------------------------------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * Includes the whole C API except quern_threadpool.h, quern_ze.h and
 * quern_xla.h. The C++ API, header-only on top of it, is quern.hpp.
 *
 * Usage: engine -> memory descriptors -> primitive descriptor (a verified
 * problem) -> primitive (its kernel, from a cache or compiled) -> execution on a
 * stream with memory objects by argument index. Functions return a status;
 * quern_get_last_error_message() returns the reason of a failure.
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
