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
 * If memory, disk and packs lack a kernel, but a pack has the kernel of its family (one kernel for all sizes),
 * quern_primitive_create() returns with the family kernel, and a library thread compiles the specialized kernel.
 * Executions that start after it is ready use it. QUERN_TIERS selects `both` (the default), `specialized` (families are
 * ignored) or `family` (problems that a family covers are not compiled).
 */

/** Kernels that a primitive may run. */
typedef enum QUERN_INT {
  quern_tiers_default = 0,     /**< the choice of QUERN_TIERS */
  quern_tiers_both = 1,        /**< first the kernel of the family, then the specialized kernel */
  quern_tiers_specialized = 2, /**< only the specialized kernel */
  quern_tiers_family = 3       /**< only the kernel of the family, if there is one */
} quern_tiers_t;

/**
 * Returns the kernels that primitives with these attributes may run.
 * @param attr The attributes.
 * @param tiers Receives the choice.
 * @return quern_success; quern_invalid_arguments: a pointer is null.
 */
QUERN_API quern_status_t quern_primitive_attr_get_tiers(
        const_quern_primitive_attr_t attr, quern_tiers_t *tiers) QUERN_NOEXCEPT;

/**
 * Sets the kernels that primitives with these attributes may run. The choice is not part of the problem: its text and
 * its kernels are the same. With the deterministic attribute, quern_tiers_both means quern_tiers_specialized, so the
 * kernel of a primitive never changes.
 *
 * @param attr The attributes to modify.
 * @param tiers The choice.
 * @return quern_success; quern_invalid_arguments: the value is unknown.
 */
QUERN_API quern_status_t quern_primitive_attr_set_tiers(
        quern_primitive_attr_t attr, quern_tiers_t tiers) QUERN_NOEXCEPT;

/**
 * Waits until executions of a primitive run its specialized kernel. Returns at once if they already do; compiles the
 * kernel on the calling thread if no library thread has started to compile it.
 *
 * @param primitive A primitive.
 * @return quern_success; quern_not_required: the primitive keeps the kernel of its family. If the kernel cannot be
 *         created, the statuses of quern_primitive_create().
 */
QUERN_API quern_status_t quern_primitive_wait_specialized(const_quern_primitive_t primitive) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_TIERS_H */
