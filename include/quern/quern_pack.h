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
 * A pack is a file of kernels that `quern pack build` writes. A kernel that is neither in the memory cache nor in the
 * disk cache is searched in the packs that the program has added, then in those of QUERN_PACKS (paths separated by
 * colons), then in the installed packs. Kernels of packs are not written to the disk cache. A pack is machine code: add
 * only packs that you would load as a library.
 */

/**
 * Adds a pack file. It stays mapped until the process ends: replace it by renaming, and do not write into it. A path
 * that was added before is not opened again. Existing primitives keep their kernels.
 *
 * @param path Path of the file, zero-terminated.
 * @return quern_success; quern_invalid_arguments: the pack is of another build of Quern; quern_runtime_error: the file
 *         cannot be read, is damaged or is not a pack.
 */
QUERN_API quern_status_t quern_add_pack(const char *path) QUERN_NOEXCEPT;

/**
 * Adds a pack in memory, of any alignment.
 * @param data The bytes, which are not copied. The caller owns them and must leave them unchanged until
 *         quern_remove_pack_data().
 * @param size Size in bytes.
 * @return As quern_add_pack().
 */
QUERN_API quern_status_t quern_add_pack_data(const void *data, size_t size) QUERN_NOEXCEPT;

/**
 * Removes a pack of quern_add_pack_data(). No thread reads the bytes after this call; kernels that were loaded from
 * them remain valid.
 *
 * @param data The address that was added.
 * @return quern_success; quern_invalid_arguments: no pack was added at this address.
 */
QUERN_API quern_status_t quern_remove_pack_data(const void *data) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_PACK_H */
