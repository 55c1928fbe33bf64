/*===- quern/quern_ext.h - Additions of Quern to oneDNN's concepts --------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_EXT_H
#define QUERN_EXT_H

#include "quern/quern_cache.h"
#include "quern/quern_compile.h"
#include "quern/quern_event.h"
#include "quern/quern_info.h"
#include "quern/quern_launch.h"
#include "quern/quern_mlir.h"
#include "quern/quern_mlir_call.h"
#include "quern/quern_pack.h"
#include "quern/quern_remote.h"
#include "quern/quern_text.h"
#include "quern/quern_tiers.h"

#endif /* QUERN_EXT_H */
