/*===- quern/quern_tiers.h - Kernels of families, and of one problem ------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_TIERS_H
#define QUERN_TIERS_H

#include "quern/quern_common.h"
#include "quern/quern_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Where the kernel of a problem would have to be compiled and a pack has that of its family, one of open sizes,
 * quern_primitive_create() returns with that, and a thread of the library compiles the specialised one. The primitive
 * runs it from the next execution that begins after it is there. QUERN_TIERS chooses: both (the default), specialised
 * (as if there were no families) or family (no other kernel is made).
 */

typedef enum QUERN_INT {
  quern_tiers_default = 0, /**< as QUERN_TIERS says */
  quern_tiers_both = 1,
  quern_tiers_specialised = 2,
  quern_tiers_family = 3
} quern_tiers_t;

/**
 * Which kernels primitives with these attributes may run, in place of what QUERN_TIERS says. It belongs to the
 * primitive: the problem, its text and its kernels are the same. With the deterministic attribute quern_tiers_both is
 * quern_tiers_specialised, so that the kernel never changes.
 */
QUERN_API quern_status_t quern_primitive_attr_get_tiers(
        const_quern_primitive_attr_t attr, quern_tiers_t *tiers) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_primitive_attr_set_tiers(
        quern_primitive_attr_t attr, quern_tiers_t tiers) QUERN_NOEXCEPT;

/**
 * Returns when executions of the primitive run its specialised kernel, which is at once if they always have. Fails as
 * quern_primitive_create() would if the kernel cannot be made; not_required if it is to stay with its family.
 */
QUERN_API quern_status_t quern_primitive_wait_specialised(const_quern_primitive_t primitive) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_TIERS_H */
