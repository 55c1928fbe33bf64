/*===- quern/quern_memory.h - Memory descriptors and memory ----------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * A memory descriptor has a shape, a type and a layout. A memory object is a
 * descriptor with a buffer on an engine.
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_MEMORY_H
#define QUERN_MEMORY_H

#include "quern/quern_query.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Memory descriptors ------------------------------------------------ */

/**
 * Creates a memory descriptor from strides.
 * @param memory_desc Receives the descriptor, which the caller owns (quern_memory_desc_destroy()).
 * @param ndims Number of dimensions, 0 to QUERN_MAX_NDIMS; 0 creates the zero descriptor (no tensor).
 * @param dims Sizes in elements, outermost first; null if `ndims` is 0. QUERN_RUNTIME_DIM_VAL for an open size.
 * @param data_type Element type.
 * @param strides Distances in elements between consecutive indices of each dimension; null: dense row-major.
 * @return quern_success; quern_invalid_arguments: `ndims` is out of range, a size is negative, a product overflows
 *         int64, a type is unknown, or a stride is negative.
 */
QUERN_API quern_status_t quern_memory_desc_create_with_strides(quern_memory_desc_t *memory_desc, int ndims,
        const quern_dims_t dims, quern_data_type_t data_type, const quern_dims_t strides) QUERN_NOEXCEPT;

/**
 * Creates the descriptor of a sparse matrix in CSR format. Its buffers are values, column indices and row pointers. No
 * primitive supports sparse tensors.
 *
 * @param memory_desc Receives the descriptor, which the caller owns (quern_memory_desc_destroy()).
 * @param ndims Number of dimensions, 0 to QUERN_MAX_NDIMS; 0 creates the zero descriptor (no tensor).
 * @param dims Sizes in elements, outermost first; null if `ndims` is 0. QUERN_RUNTIME_DIM_VAL for an open size.
 * @param data_type Type of the values.
 * @param nnz Number of values; QUERN_RUNTIME_DIM_VAL if open.
 * @param indices_dt Type of the column indices.
 * @param pointers_dt Type of the row pointers.
 * @return quern_success; quern_invalid_arguments: `ndims` is out of range, a size is negative, a product overflows
 *         int64, a type is unknown, or `nnz` is negative; quern_unimplemented: more than two dimensions.
 */
QUERN_API quern_status_t quern_memory_desc_create_with_csr_encoding(quern_memory_desc_t *memory_desc, int ndims,
        const quern_dims_t dims, quern_data_type_t data_type, quern_dim_t nnz, quern_data_type_t indices_dt,
        quern_data_type_t pointers_dt) QUERN_NOEXCEPT;

/**
 * Creates the descriptor of a sparse tensor in COO format. Its buffers are the values and, for each dimension, their
 * indices.
 *
 * @param memory_desc Receives the descriptor, which the caller owns (quern_memory_desc_destroy()).
 * @param ndims Number of dimensions, 0 to QUERN_MAX_NDIMS; 0 creates the zero descriptor (no tensor).
 * @param dims Sizes in elements, outermost first; null if `ndims` is 0. QUERN_RUNTIME_DIM_VAL for an open size.
 * @param data_type Type of the values.
 * @param nnz Number of values; QUERN_RUNTIME_DIM_VAL if open.
 * @param indices_dt Type of the indices.
 * @return quern_success; quern_invalid_arguments: `ndims` is out of range, a size is negative, a product overflows
 *         int64, a type is unknown, or `nnz` is negative; quern_unimplemented: more than two dimensions.
 */
QUERN_API quern_status_t quern_memory_desc_create_with_coo_encoding(quern_memory_desc_t *memory_desc, int ndims,
        const quern_dims_t dims, quern_data_type_t data_type, quern_dim_t nnz,
        quern_data_type_t indices_dt) QUERN_NOEXCEPT;

/**
 * Creates the descriptor of a sparse tensor whose encoding the primitive chooses. No memory object can be created from
 * it.
 *
 * @param memory_desc Receives the descriptor, which the caller owns (quern_memory_desc_destroy()).
 * @param ndims Number of dimensions, 0 to QUERN_MAX_NDIMS; 0 creates the zero descriptor (no tensor).
 * @param dims Sizes in elements, outermost first; null if `ndims` is 0. QUERN_RUNTIME_DIM_VAL for an open size.
 * @param data_type Type of the values.
 * @param nnz Number of values; QUERN_RUNTIME_DIM_VAL if open.
 * @return quern_success; quern_invalid_arguments: `ndims` is out of range, a size is negative, a product overflows
 *         int64, a type is unknown, or `nnz` is negative.
 */
QUERN_API quern_status_t quern_memory_desc_create_with_packed_encoding(quern_memory_desc_t *memory_desc, int ndims,
        const quern_dims_t dims, quern_data_type_t data_type, quern_dim_t nnz) QUERN_NOEXCEPT;

/**
 * Creates the descriptor of one value that is stored in the memory object: a scale or a zero point.
 * @param memory_desc Receives the descriptor, which the caller owns (quern_memory_desc_destroy()).
 * @param data_type Type of the value.
 * @return quern_success; quern_invalid_arguments: the type is unknown, undefined or boolean.
 */
QUERN_API quern_status_t quern_memory_desc_create_host_scalar(
        quern_memory_desc_t *memory_desc, quern_data_type_t data_type) QUERN_NOEXCEPT;

/**
 * Creates a memory descriptor from the name of a layout.
 * @param memory_desc Receives the descriptor, which the caller owns (quern_memory_desc_destroy()).
 * @param ndims Number of dimensions, 0 to QUERN_MAX_NDIMS; 0 creates the zero descriptor (no tensor).
 * @param dims Sizes in elements, outermost first; null if `ndims` is 0. QUERN_RUNTIME_DIM_VAL for an open size.
 * @param data_type Element type.
 * @param tag Letters from the outermost dimension to the innermost, a capital for a blocked dimension ("abcd",
 *         "aBcd16b", "ABcd4b16a4b"); an alias ("nchw", "ldigo"); or "any" to let the primitive choose.
 * @return quern_success; quern_invalid_arguments: `ndims` is out of range, a size is negative, a product overflows
 *         int64, a type is unknown, or the tag is malformed or does not fit `ndims`.
 */
QUERN_API quern_status_t quern_memory_desc_create_with_string_tag(quern_memory_desc_t *memory_desc, int ndims,
        const quern_dims_t dims, quern_data_type_t data_type, const char *tag) QUERN_NOEXCEPT;

/**
 * Changes the element type of a descriptor in place.
 * @param memory_desc The descriptor to modify.
 * @param data_type The new type.
 * @return quern_success; quern_invalid_arguments: the type is unknown or the result is invalid; quern_unimplemented:
 *         the tensor is sparse. The descriptor is unchanged on failure.
 */
QUERN_API quern_status_t quern_memory_desc_set_data_type(
        quern_memory_desc_t memory_desc, quern_data_type_t data_type) QUERN_NOEXCEPT;

/**
 * Creates the descriptor of a region of a tensor. Memory objects of the region use the parent's buffer.
 * @param memory_desc Receives the descriptor, which the caller owns (quern_memory_desc_destroy()).
 * @param parent_memory_desc The whole tensor.
 * @param dims Sizes of the region in elements, one per dimension of the parent.
 * @param offsets First index of the region in each dimension.
 * @return quern_success; quern_invalid_arguments: the region exceeds the parent; quern_unimplemented: the parent has no
 *         layout, open sizes or compensation, or the region cuts a block.
 */
QUERN_API quern_status_t quern_memory_desc_create_submemory(quern_memory_desc_t *memory_desc,
        const_quern_memory_desc_t parent_memory_desc, const quern_dims_t dims,
        const quern_dims_t offsets) QUERN_NOEXCEPT;

/**
 * Creates the descriptor of the same elements with another shape. Only dense groups of dimensions can be split or
 * merged.
 *
 * @param out_memory_desc Receives the descriptor, which the caller owns (quern_memory_desc_destroy()).
 * @param in_memory_desc The present descriptor.
 * @param ndims New number of dimensions.
 * @param dims New sizes in elements.
 * @return quern_success; quern_invalid_arguments: the numbers of elements differ, or the layout does not allow the
 *         shape.
 */
QUERN_API quern_status_t quern_memory_desc_reshape(quern_memory_desc_t *out_memory_desc,
        const_quern_memory_desc_t in_memory_desc, int ndims, const quern_dims_t dims) QUERN_NOEXCEPT;

/**
 * Creates the descriptor of the same elements with permuted dimensions: out.dims[permutation[d]] = in.dims[d]. Moves no
 * data.
 *
 * @param out_memory_desc Receives the descriptor, which the caller owns (quern_memory_desc_destroy()).
 * @param in_memory_desc The present descriptor.
 * @param permutation New position of each dimension; ndims entries.
 * @return quern_success; quern_invalid_arguments: it is not a permutation, or the descriptor has no strides.
 */
QUERN_API quern_status_t quern_memory_desc_permute_axes(quern_memory_desc_t *out_memory_desc,
        const_quern_memory_desc_t in_memory_desc, const int *permutation) QUERN_NOEXCEPT;

/**
 * Creates a descriptor from the bytes of quern_memory_desc_get_blob() and validates them.
 * @param memory_desc Receives the descriptor, which the caller owns (quern_memory_desc_destroy()).
 * @param blob As many bytes as quern_memory_desc_get_blob() reports.
 * @return quern_success; quern_invalid_arguments or quern_unimplemented: the bytes are not a valid descriptor.
 */
QUERN_API quern_status_t quern_memory_desc_create_with_blob(
        quern_memory_desc_t *memory_desc, const uint8_t *blob) QUERN_NOEXCEPT;

/**
 * Returns the bytes of a descriptor. They are valid for the same version of the library.
 * @param blob Receives the bytes; null: only the size is written.
 * @param size Bytes that `blob` has room for. Receives the size in bytes. May be null if `blob` is not, which then must
 *         be large enough.
 * @param memory_desc A memory descriptor.
 * @return quern_success; quern_invalid_arguments: `blob` is too short, or both `blob` and `size` are null.
 */
QUERN_API quern_status_t quern_memory_desc_get_blob(
        uint8_t *blob, size_t *size, const_quern_memory_desc_t memory_desc) QUERN_NOEXCEPT;

/**
 * Copies a memory descriptor.
 * @param memory_desc Receives the copy, which the caller owns (quern_memory_desc_destroy()).
 * @param existing_memory_desc The descriptor to copy.
 * @return quern_success; quern_invalid_arguments: a pointer is null.
 */
QUERN_API quern_status_t quern_memory_desc_clone(
        quern_memory_desc_t *memory_desc, const_quern_memory_desc_t existing_memory_desc) QUERN_NOEXCEPT;

/**
 * Destroys a memory descriptor.
 * @param memory_desc A memory descriptor or null.
 * @return quern_success.
 */
QUERN_API quern_status_t quern_memory_desc_destroy(quern_memory_desc_t memory_desc) QUERN_NOEXCEPT;

/**
 * Queries a property of a memory descriptor.
 * @param memory_desc A memory descriptor.
 * @param what The property, from quern_query_ndims_s32 to quern_query_inner_idxs, or quern_query_strides.
 * @param result Receives the value; quern_query_t gives its type. A pointer in it is owned by the descriptor.
 * @return quern_success; quern_invalid_arguments: the descriptor has no strides or blocks; quern_unimplemented: the
 *         query is not for memory descriptors.
 */
QUERN_API quern_status_t quern_memory_desc_query(
        const_quern_memory_desc_t memory_desc, quern_query_t what, void *result) QUERN_NOEXCEPT;

/**
 * Like quern_memory_desc_query(), but also for the buffers of a sparse tensor.
 * @param memory_desc A memory descriptor.
 * @param what The property, including quern_query_sparse_encoding, quern_query_nnz_s64 and quern_query_num_handles_s32.
 * @param index Number of the buffer for quern_query_data_type; 0 for other queries.
 * @param result Receives the value; quern_query_t gives its type. A pointer in it is owned by the descriptor.
 * @return quern_success; quern_invalid_arguments: the descriptor has no strides, blocks or such buffer, or is not
 *         sparse; quern_unimplemented: the query is not for memory descriptors.
 */
QUERN_API quern_status_t quern_memory_desc_query_v2(
        const_quern_memory_desc_t memory_desc, quern_query_t what, int index, void *result) QUERN_NOEXCEPT;

/**
 * Compares two descriptors. Strides of dims of size 1 are ignored.
 * @param lhs,rhs Memory descriptors or null.
 * @return 1 if they are equal or both are null; 0 otherwise.
 */
QUERN_API int quern_memory_desc_equal(const_quern_memory_desc_t lhs, const_quern_memory_desc_t rhs) QUERN_NOEXCEPT;

/**
 * Returns the size of a tensor in bytes, including padding and appended compensation.
 * @param memory_desc A memory descriptor or null.
 * @return The size; 0 for null, zero and `any` descriptors; QUERN_RUNTIME_SIZE_VAL if it is open.
 */
QUERN_API size_t quern_memory_desc_get_size(const_quern_memory_desc_t memory_desc) QUERN_NOEXCEPT;

/**
 * Returns the size of buffer `index` in bytes. A dense tensor has one buffer; buffer 0 of a sparse tensor holds its
 * values.
 *
 * @param memory_desc A memory descriptor or null.
 * @param index Number of the buffer.
 * @return The size; 0 for a buffer that does not exist and for packed sparse tensors.
 */
QUERN_API size_t quern_memory_desc_get_size_v2(const_quern_memory_desc_t memory_desc, int index) QUERN_NOEXCEPT;

/**
 * Returns the size of an element in bytes.
 * @param data_type A type.
 * @return The size; 1 for 4-bit types; 0 for an unknown type.
 */
QUERN_API size_t quern_data_type_size(quern_data_type_t data_type) QUERN_NOEXCEPT;

/* --- Memory ------------------------------------------------------------ */

/**
 * Creates a memory object.
 * @param memory Receives the object, which the caller owns (quern_memory_destroy()).
 * @param memory_desc The descriptor, with a layout and without open sizes.
 * @param engine The engine of the buffer; may be destroyed before the object.
 * @param handle A caller-owned buffer of at least quern_memory_desc_get_size() bytes that outlives its uses;
 *         QUERN_MEMORY_ALLOCATE; or QUERN_MEMORY_NONE to set a buffer later. For a sparse tensor, a caller-owned buffer
 *         becomes the first one; the others are set separately.
 * @return quern_success; quern_invalid_arguments: the layout is `any` or packed, a dim, stride or offset is open, it is
 *         a host scalar, or the engine cannot use the buffer; quern_out_of_memory; quern_runtime_error: the device
 *         fails.
 */
QUERN_API quern_status_t quern_memory_create(quern_memory_t *memory, const_quern_memory_desc_t memory_desc,
        quern_engine_t engine, void *handle) QUERN_NOEXCEPT;

/**
 * Like quern_memory_create(), but with one handle per buffer.
 * @param memory Receives the object, which the caller owns (quern_memory_destroy()).
 * @param memory_desc The descriptor, with a layout and without open sizes.
 * @param engine The engine of the buffers; may be destroyed before the object.
 * @param nhandles Number of handles: the number of buffers, or 1.
 * @param handles The handles; the array is read during the call only.
 * @return As quern_memory_create(); quern_invalid_arguments also if `nhandles` does not fit the descriptor.
 */
QUERN_API quern_status_t quern_memory_create_v2(quern_memory_t *memory, const_quern_memory_desc_t memory_desc,
        quern_engine_t engine, int nhandles, void **handles) QUERN_NOEXCEPT;

/**
 * Creates a memory object that holds one value. It has no engine and no handle.
 * @param memory Receives the object, which the caller owns (quern_memory_destroy()).
 * @param memory_desc A descriptor of quern_memory_desc_create_host_scalar().
 * @param scalar_ptr The value, of the descriptor's type; copied.
 * @return quern_success; quern_invalid_arguments: the descriptor is not a host scalar.
 */
QUERN_API quern_status_t quern_memory_create_host_scalar(
        quern_memory_t *memory, const_quern_memory_desc_t memory_desc, void *scalar_ptr) QUERN_NOEXCEPT;

/**
 * Returns the value of a host scalar.
 * @param memory A host scalar.
 * @param value Receives the value, of the descriptor's type.
 * @return quern_success; quern_invalid_arguments: the memory is not a host scalar.
 */
QUERN_API quern_status_t quern_memory_get_host_scalar_value(const_quern_memory_t memory, void *value) QUERN_NOEXCEPT;

/**
 * Sets the value of a host scalar.
 * @param memory A host scalar.
 * @param value The value, of the descriptor's type; copied.
 * @return quern_success; quern_invalid_arguments: the memory is not a host scalar.
 */
QUERN_API quern_status_t quern_memory_set_host_scalar_value(quern_memory_t memory, const void *value) QUERN_NOEXCEPT;

/**
 * Returns the descriptor of a memory object.
 * @param memory A memory object.
 * @param memory_desc Receives the descriptor, which the memory object owns.
 * @return quern_success; quern_invalid_arguments: a pointer is null.
 */
QUERN_API quern_status_t quern_memory_get_memory_desc(
        const_quern_memory_t memory, const_quern_memory_desc_t *memory_desc) QUERN_NOEXCEPT;

/**
 * Returns the engine of a memory object.
 * @param memory A memory object.
 * @param engine Receives the engine, which the memory object owns; null for a host scalar.
 * @return quern_success; quern_invalid_arguments: a pointer is null.
 */
QUERN_API quern_status_t quern_memory_get_engine(const_quern_memory_t memory, quern_engine_t *engine) QUERN_NOEXCEPT;

/**
 * Makes the first buffer accessible to the host. On a CPU the result is the buffer itself; for memory that only a
 * device can access, it is a copy. The object is modified: do not map the same object from several threads.
 *
 * @param memory A memory object.
 * @param mapped_ptr Receives the pointer, valid until quern_memory_unmap_data(); null for an empty tensor.
 * @return quern_success; quern_invalid_arguments: the buffer is already mapped; quern_out_of_memory: no memory for the
 *         copy; quern_runtime_error: the device fails.
 */
QUERN_API quern_status_t quern_memory_map_data(const_quern_memory_t memory, void **mapped_ptr) QUERN_NOEXCEPT;

/**
 * Ends the access of quern_memory_map_data() and writes a copy back to the device.
 * @param memory A memory object.
 * @param mapped_ptr The pointer that quern_memory_map_data() returned.
 * @return quern_success; quern_invalid_arguments: the pointer is another one; quern_runtime_error: the device fails.
 */
QUERN_API quern_status_t quern_memory_unmap_data(const_quern_memory_t memory, void *mapped_ptr) QUERN_NOEXCEPT;

/**
 * Returns the first buffer of a memory object.
 * @param memory A memory object.
 * @param handle Receives the buffer; null if there is none.
 * @return quern_success; quern_invalid_arguments: the memory is a host scalar.
 */
QUERN_API quern_status_t quern_memory_get_data_handle(const_quern_memory_t memory, void **handle) QUERN_NOEXCEPT;

/**
 * Replaces the first buffer of a memory object, and frees the present one if the library allocated it. No execution may
 * be using the memory.
 *
 * @param memory A memory object.
 * @param handle A caller-owned buffer that outlives its uses, or QUERN_MEMORY_NONE.
 * @return quern_success; quern_invalid_arguments: the handle is QUERN_MEMORY_ALLOCATE, the engine cannot use it, or the
 *         memory is a host scalar.
 */
QUERN_API quern_status_t quern_memory_set_data_handle(quern_memory_t memory, void *handle) QUERN_NOEXCEPT;

/**
 * Like quern_memory_map_data(), for a given buffer.
 * @param memory A memory object.
 * @param mapped_ptr Receives the pointer, valid until quern_memory_unmap_data_v2(); null for an empty buffer.
 * @param index Number of the buffer.
 * @return As quern_memory_map_data(); quern_invalid_arguments also if the buffer does not exist.
 */
QUERN_API quern_status_t quern_memory_map_data_v2(
        const_quern_memory_t memory, void **mapped_ptr, int index) QUERN_NOEXCEPT;

/**
 * Like quern_memory_unmap_data(), for a given buffer.
 * @param memory A memory object.
 * @param mapped_ptr The pointer that quern_memory_map_data_v2() returned.
 * @param index Number of the buffer.
 * @return As quern_memory_unmap_data(); quern_invalid_arguments also if the buffer does not exist.
 */
QUERN_API quern_status_t quern_memory_unmap_data_v2(
        const_quern_memory_t memory, void *mapped_ptr, int index) QUERN_NOEXCEPT;

/**
 * Like quern_memory_get_data_handle(), for a given buffer.
 * @param memory A memory object.
 * @param handle Receives the buffer; null if there is none.
 * @param index Number of the buffer.
 * @return As quern_memory_get_data_handle(); quern_invalid_arguments also if the buffer does not exist.
 */
QUERN_API quern_status_t quern_memory_get_data_handle_v2(
        const_quern_memory_t memory, void **handle, int index) QUERN_NOEXCEPT;

/**
 * Like quern_memory_set_data_handle(), for a given buffer.
 * @param memory A memory object.
 * @param handle A caller-owned buffer that outlives its uses, or QUERN_MEMORY_NONE.
 * @param index Number of the buffer.
 * @return As quern_memory_set_data_handle(); quern_invalid_arguments also if the buffer does not exist.
 */
QUERN_API quern_status_t quern_memory_set_data_handle_v2(quern_memory_t memory, void *handle, int index) QUERN_NOEXCEPT;

/**
 * Destroys a memory object, and frees the buffers that the library allocated. On a device, waits for the executions
 * that use them.
 *
 * @param memory A memory object or null.
 * @return quern_success.
 */
QUERN_API quern_status_t quern_memory_destroy(quern_memory_t memory) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_MEMORY_H */
