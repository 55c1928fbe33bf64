/*===- quern/quern_memory.h - Memory descriptors and memory ----------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * A memory descriptor is a value: shape, type and layout. A memory object is a
 * descriptor with a buffer on an engine.
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_MEMORY_H
#define QUERN_MEMORY_H

#include "quern/quern_query.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Memory descriptors ------------------------------------------------ */
/* invalid_arguments in all of them: ndims outside 0..12, a negative dimension, an overflow of int64, an unknown type.
 */

/** Strides count elements; null strides mean dense row-major. ndims 0 gives the zero descriptor ("no tensor"). */
QUERN_API quern_status_t quern_memory_desc_create_with_strides(quern_memory_desc_t *memory_desc, int ndims,
        const quern_dims_t dims, quern_data_type_t data_type, const quern_dims_t strides) QUERN_NOEXCEPT;

/**
 * Sparse tensors of `nnz` values; dims and nnz may be QUERN_RUNTIME_DIM_VAL. No primitive takes one. Of CSR (values,
 * column indices, row pointers) and COO (values, then their indices along each dimension) of at most two dimensions,
 * else `unimplemented`; a packed descriptor has no memory. ndims 0 gives the zero descriptor. invalid_arguments: a
 * negative nnz, an unknown type.
 */
QUERN_API quern_status_t quern_memory_desc_create_with_csr_encoding(quern_memory_desc_t *memory_desc, int ndims,
        const quern_dims_t dims, quern_data_type_t data_type, quern_dim_t nnz, quern_data_type_t indices_dt,
        quern_data_type_t pointers_dt) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_memory_desc_create_with_coo_encoding(quern_memory_desc_t *memory_desc, int ndims,
        const quern_dims_t dims, quern_data_type_t data_type, quern_dim_t nnz,
        quern_data_type_t indices_dt) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_memory_desc_create_with_packed_encoding(quern_memory_desc_t *memory_desc, int ndims,
        const quern_dims_t dims, quern_data_type_t data_type, quern_dim_t nnz) QUERN_NOEXCEPT;

/** One value on the host: a scale or zero point. invalid_arguments: the type is undefined or boolean. */
QUERN_API quern_status_t quern_memory_desc_create_host_scalar(
        quern_memory_desc_t *memory_desc, quern_data_type_t data_type) QUERN_NOEXCEPT;

/**
 * By the name of a layout: letters from the outermost dimension to the innermost, a capital for a blocked one ("abcd",
 * "aBcd16b", "ABcd4b16a4b"), an alias ("nchw", "ldigo"), or "any" where the primitive is to choose.
 */
QUERN_API quern_status_t quern_memory_desc_create_with_string_tag(quern_memory_desc_t *memory_desc, int ndims,
        const quern_dims_t dims, quern_data_type_t data_type, const char *tag) QUERN_NOEXCEPT;

/** Gives the descriptor itself another element type; everything else stays. */
QUERN_API quern_status_t quern_memory_desc_set_data_type(
        quern_memory_desc_t memory_desc, quern_data_type_t data_type) QUERN_NOEXCEPT;

/** The region of `dims` elements at `offsets` of the parent; shares the parent's buffer. */
QUERN_API quern_status_t quern_memory_desc_create_submemory(quern_memory_desc_t *memory_desc,
        const_quern_memory_desc_t parent_memory_desc, const quern_dims_t dims,
        const quern_dims_t offsets) QUERN_NOEXCEPT;

/** The same elements under another shape; splits and merges only dense groups of dimensions. */
QUERN_API quern_status_t quern_memory_desc_reshape(quern_memory_desc_t *out_memory_desc,
        const_quern_memory_desc_t in_memory_desc, int ndims, const quern_dims_t dims) QUERN_NOEXCEPT;

/** out.dims[permutation[d]] = in.dims[d]; moves no data. `permutation` has ndims entries. */
QUERN_API quern_status_t quern_memory_desc_permute_axes(quern_memory_desc_t *out_memory_desc,
        const_quern_memory_desc_t in_memory_desc, const int *permutation) QUERN_NOEXCEPT;

/** From the bytes that quern_memory_desc_get_blob() wrote; they are checked. */
QUERN_API quern_status_t quern_memory_desc_create_with_blob(
        quern_memory_desc_t *memory_desc, const uint8_t *blob) QUERN_NOEXCEPT;
/** With a null `blob` writes the size to `size`; otherwise `size` says how much room `blob` has. */
QUERN_API quern_status_t quern_memory_desc_get_blob(
        uint8_t *blob, size_t *size, const_quern_memory_desc_t memory_desc) QUERN_NOEXCEPT;

QUERN_API quern_status_t quern_memory_desc_clone(
        quern_memory_desc_t *memory_desc, const_quern_memory_desc_t existing_memory_desc) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_memory_desc_destroy(quern_memory_desc_t memory_desc) QUERN_NOEXCEPT;

/**
 * unimplemented: the query does not concern memory descriptors. invalid_arguments: strides or blocks of a descriptor
 * without them.
 */
QUERN_API quern_status_t quern_memory_desc_query(
        const_quern_memory_desc_t memory_desc, quern_query_t what, void *result) QUERN_NOEXCEPT;
/**
 * With the number of a buffer, of which quern_query_data_type is the only query beyond 0; the last three queries are
 * only here. invalid_arguments also: no such buffer, or a query of sparse tensors for another one.
 */
QUERN_API quern_status_t quern_memory_desc_query_v2(
        const_quern_memory_desc_t memory_desc, quern_query_t what, int index, void *result) QUERN_NOEXCEPT;
/** 1 if equal, 0 if not or if only one of them is null. Strides of dims of 1 do not matter. */
QUERN_API int quern_memory_desc_equal(const_quern_memory_desc_t lhs, const_quern_memory_desc_t rhs) QUERN_NOEXCEPT;
/**
 * Bytes, padding and appended compensation included; 0 for null, zero and `any` descriptors; QUERN_RUNTIME_SIZE_VAL if
 * not known.
 */
QUERN_API size_t quern_memory_desc_get_size(const_quern_memory_desc_t memory_desc) QUERN_NOEXCEPT;
/**
 * Bytes of buffer `index` of a sparse tensor (0: values), which others have one of; 0 where there is none, and of
 * packed ones.
 */
QUERN_API size_t quern_memory_desc_get_size_v2(const_quern_memory_desc_t memory_desc, int index) QUERN_NOEXCEPT;
/** Bytes of one element (1 for the packed 4-bit types); 0 for an unknown type. */
QUERN_API size_t quern_data_type_size(quern_data_type_t data_type) QUERN_NOEXCEPT;

/* --- Memory ------------------------------------------------------------ */

/**
 * `handle` is a buffer of the caller's (at least quern_memory_desc_get_size() bytes, alive as long as it is used),
 * QUERN_MEMORY_ALLOCATE, or QUERN_MEMORY_NONE to set one later. invalid_arguments: the descriptor is `any`, or has
 * dims, strides or an offset that are given only at execution: a memory is what gives them. Of a sparse tensor a buffer
 * of the caller's is the first one; the others are still to be set.
 */
QUERN_API quern_status_t quern_memory_create(quern_memory_t *memory, const_quern_memory_desc_t memory_desc,
        quern_engine_t engine, void *handle) QUERN_NOEXCEPT;
/** The same with an array of handles, one for each buffer: 1 unless the tensor is sparse. */
QUERN_API quern_status_t quern_memory_create_v2(quern_memory_t *memory, const_quern_memory_desc_t memory_desc,
        quern_engine_t engine, int nhandles, void **handles) QUERN_NOEXCEPT;
/** Of a host scalar's descriptor; copies the value. It has no engine, and no handle to ask for or set. */
QUERN_API quern_status_t quern_memory_create_host_scalar(
        quern_memory_t *memory, const_quern_memory_desc_t memory_desc, void *scalar_ptr) QUERN_NOEXCEPT;
/** Copies the value of a host scalar to where `value` points. */
QUERN_API quern_status_t quern_memory_get_host_scalar_value(const_quern_memory_t memory, void *value) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_memory_set_host_scalar_value(quern_memory_t memory, const void *value) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_memory_get_memory_desc(
        const_quern_memory_t memory, const_quern_memory_desc_t *memory_desc) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_memory_get_engine(const_quern_memory_t memory, quern_engine_t *engine) QUERN_NOEXCEPT;
/** The pointer through which the host reads and writes; null for an empty tensor. On a CPU it is the buffer itself. */
QUERN_API quern_status_t quern_memory_map_data(const_quern_memory_t memory, void **mapped_ptr) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_memory_unmap_data(const_quern_memory_t memory, void *mapped_ptr) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_memory_get_data_handle(const_quern_memory_t memory, void **handle) QUERN_NOEXCEPT;
/** Frees the buffer if the library had allocated it. Not while an execution uses the memory. */
QUERN_API quern_status_t quern_memory_set_data_handle(quern_memory_t memory, void *handle) QUERN_NOEXCEPT;
/** The same of a buffer of a sparse tensor. invalid_arguments also: no such buffer. */
QUERN_API quern_status_t quern_memory_map_data_v2(
        const_quern_memory_t memory, void **mapped_ptr, int index) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_memory_unmap_data_v2(
        const_quern_memory_t memory, void *mapped_ptr, int index) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_memory_get_data_handle_v2(
        const_quern_memory_t memory, void **handle, int index) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_memory_set_data_handle_v2(quern_memory_t memory, void *handle, int index) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_memory_destroy(quern_memory_t memory) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_MEMORY_H */
