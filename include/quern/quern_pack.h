/*===- quern/quern_pack.h - Compiled kernels that ship with a program -----===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_PACK_H
#define QUERN_PACK_H

#include "quern/quern_common.h"
#include "quern/quern_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A pack is one file of kernels, made by `quern pack build`. What is neither in the memory cache nor on disk is looked
 * for in the packs that a program has added, then in those of QUERN_PACKS (files, separated by colons), then in the
 * installed ones, before a compiler is asked; nothing of it is written to disk. A pack is code: add none that you would
 * not load as a library.
 */

/**
 * Opens a file, which stays mapped until the process ends: replace it by renaming, do not write into it. A path that
 * was added before is not opened again. runtime_error if it cannot be read, is damaged or no pack; invalid_arguments if
 * it is of another build of Quern. Primitives that exist already stay as they are.
 */
QUERN_API quern_status_t quern_add_pack(const char *path) QUERN_NOEXCEPT;
/**
 * The same for a pack in memory, of any alignment, which is not copied: it belongs to the caller and must stay as it is
 * until quern_remove_pack_data().
 */
QUERN_API quern_status_t quern_add_pack_data(const void *data, size_t size) QUERN_NOEXCEPT;
/**
 * No thread reads the pack at `data` any more when this returns; kernels that came from it live on. invalid_arguments
 * if there is none.
 */
QUERN_API quern_status_t quern_remove_pack_data(const void *data) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_PACK_H */
