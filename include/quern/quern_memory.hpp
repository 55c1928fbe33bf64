//===- quern/quern_memory.hpp - Memory in C++ -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// memory::desc is a memory descriptor, memory a descriptor with a buffer. Strings or format tags name layouts ("abcd",
// "nchw", "aBcd16b", "any").
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_MEMORY_HPP
#define QUERN_MEMORY_HPP

#include "quern/quern_format_tags.hpp"
#include "quern/quern_handle.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace quern {

template <> struct handle_traits<quern_memory_desc_t> {
  static quern_status_t destructor(quern_memory_desc_t p) { return quern_memory_desc_destroy(p); }
};
template <> struct handle_traits<quern_memory_t> {
  static quern_status_t destructor(quern_memory_t p) { return quern_memory_destroy(p); }
};

/// A memory descriptor with a buffer on an engine.
struct memory : public handle<quern_memory_t> {
  /// Size, stride or offset in elements.
  using dim = quern_dim_t;
  /// One value per dimension, outermost first.
  using dims = std::vector<dim>;

  /// See quern_data_type_t.
  enum class data_type {
    undef = quern_data_type_undef,
    f16 = quern_f16,
    bf16 = quern_bf16,
    f32 = quern_f32,
    s32 = quern_s32,
    s8 = quern_s8,
    u8 = quern_u8,
    f64 = quern_f64,
    boolean = quern_boolean,
    f8_e5m2 = quern_f8_e5m2,
    f8_e4m3 = quern_f8_e4m3,
    s4 = quern_s4,
    u4 = quern_u4,
    e8m0 = quern_e8m0,
    f4_e2m1 = quern_f4_e2m1,
    f4_e3m0 = quern_f4_e3m0,
    s64 = quern_s64
  };
  /// Layouts with names of oneDNN; strings can name further ones.
  using format_tag = quern::format_tag;
  /// See quern_format_kind_t.
  enum class format_kind {
    undef = quern_format_kind_undef,
    any = quern_format_kind_any,
    blocked = quern_blocked,
    sparse = quern_format_kind_sparse,
    host_scalar = quern_format_kind_host_scalar
  };
  /// See quern_sparse_encoding_t.
  enum class sparse_encoding {
    undef = quern_sparse_encoding_undef,
    csr = quern_csr,
    packed = quern_packed,
    coo = quern_coo
  };

  /// Returns the C value of a type.
  static quern_data_type_t convert_to_c(data_type type) { return static_cast<quern_data_type_t>(type); }
  /// Returns the size of an element in bytes; 1 for 4-bit types.
  static size_t data_type_size(data_type type) { return quern_data_type_size(static_cast<quern_data_type_t>(type)); }

  /// Shape, type and layout of a tensor. Without dimensions it is the zero descriptor (no tensor).
  struct desc : public handle<quern_memory_desc_t> {
    /// Creates the zero descriptor.
    desc() {
      quern_memory_desc_t zero = nullptr;
      error::wrap_c_api(quern_memory_desc_create_with_strides(&zero, 0, nullptr, quern_data_type_undef, nullptr),
              "could not create a zero memory descriptor");
      reset(zero);
    }
    /// Takes ownership of a C descriptor.
    explicit desc(quern_memory_desc_t owned) : handle(owned) {}
    /// Copies a C descriptor.
    static desc copy_of(const_quern_memory_desc_t existing) {
      quern_memory_desc_t copy = nullptr;
      error::wrap_c_api(quern_memory_desc_clone(&copy, existing), "could not clone a memory descriptor");
      return desc(copy);
    }
    /// Creates a descriptor from the name of a layout. With `allow_empty`, a failure leaves it empty.
    desc(const dims &adims, data_type type, const char *tag, bool allow_empty = false)
        : desc(make("could not create a memory descriptor by a tag", allow_empty, [&](quern_memory_desc_t *out) {
            return quern_memory_desc_create_with_string_tag(
                    out, rank(adims), adims.data(), static_cast<quern_data_type_t>(type), tag);
          })) {}
    /// Creates a descriptor from the name of a layout.
    desc(const dims &adims, data_type type, const std::string &tag, bool allow_empty = false)
        : desc(adims, type, tag.c_str(), allow_empty) {}
    /// Creates a descriptor from a format tag; format_tag::undef: the zero descriptor.
    desc(const dims &adims, data_type type, format_tag tag, bool allow_empty = false)
        : desc(tag == format_tag::undef ? dims() : adims, type, name_of(tag) ? name_of(tag) : "", allow_empty) {}
    /// Creates a descriptor from strides in elements; empty strides: dense row-major.
    desc(const dims &adims, data_type type, const dims &strides, bool allow_empty = false)
        : desc(make("could not create a memory descriptor by strides", allow_empty, [&](quern_memory_desc_t *out) {
            if (!strides.empty() && strides.size() != adims.size())
              throw error(quern_invalid_arguments, "dims and strides differ in number");
            return quern_memory_desc_create_with_strides(out, rank(adims), adims.data(),
                    static_cast<quern_data_type_t>(type), strides.empty() ? nullptr : strides.data());
          })) {}
    /// Creates a descriptor from the bytes that get_blob() returned.
    explicit desc(const std::vector<uint8_t> &blob)
        : desc(make("could not create a memory descriptor from a blob", false, [&](quern_memory_desc_t *out) {
            size_t size = 0;
            error::wrap_c_api(
                    quern_memory_desc_get_blob(nullptr, &size, desc().get()), "could not get the size of a blob");
            if (blob.size() < size)
              throw error(quern_invalid_arguments, "the blob is too short");
            return quern_memory_desc_create_with_blob(out, blob.data());
          })) {}

    /// Creates the descriptor of a host scalar.
    static desc host_scalar(data_type type) {
      return desc(make("could not create a host scalar's descriptor", false, [&](quern_memory_desc_t *out) {
        return quern_memory_desc_create_host_scalar(out, static_cast<quern_data_type_t>(type));
      }));
    }

    /// Creates the descriptor of a sparse matrix with `nnz` values in CSR format. No primitive supports it.
    static desc csr(const dims &adims, data_type type, dim nnz, data_type index_type, data_type pointer_type,
            bool allow_empty = false) {
      return desc(make("could not create a memory descriptor for CSR sparse encoding", allow_empty,
              [&](quern_memory_desc_t *out) {
                return quern_memory_desc_create_with_csr_encoding(out, rank(adims), adims.data(), convert_to_c(type),
                        nnz, convert_to_c(index_type), convert_to_c(pointer_type));
              }));
    }
    /// Like csr(), in COO format.
    static desc coo(const dims &adims, data_type type, dim nnz, data_type index_type, bool allow_empty = false) {
      return desc(make("could not create a memory descriptor for COO sparse encoding", allow_empty,
              [&](quern_memory_desc_t *out) {
                return quern_memory_desc_create_with_coo_encoding(
                        out, rank(adims), adims.data(), convert_to_c(type), nnz, convert_to_c(index_type));
              }));
    }
    /// Like csr(), with an encoding that a primitive chooses.
    static desc packed(const dims &adims, data_type type, dim nnz, bool allow_empty = false) {
      return desc(make("could not create a memory descriptor for packed sparse encoding", allow_empty,
              [&](quern_memory_desc_t *out) {
                return quern_memory_desc_create_with_packed_encoding(
                        out, rank(adims), adims.data(), convert_to_c(type), nnz);
              }));
    }

    /// See quern_memory_desc_create_submemory().
    desc submemory_desc(const dims &adims, const dims &offsets, bool allow_empty = false) const {
      check_rank(adims), check_rank(offsets);
      return desc(make("could not create a submemory descriptor", allow_empty, [&](quern_memory_desc_t *out) {
        return quern_memory_desc_create_submemory(out, get(), adims.data(), offsets.data());
      }));
    }
    /// See quern_memory_desc_reshape().
    desc reshape(const dims &adims, bool allow_empty = false) const {
      return desc(make("could not reshape a memory descriptor", allow_empty, [&](quern_memory_desc_t *out) {
        return quern_memory_desc_reshape(out, get(), rank(adims), adims.data());
      }));
    }
    /// See quern_memory_desc_permute_axes().
    desc permute_axes(const std::vector<int> &permutation, bool allow_empty = false) const {
      check_rank(permutation);
      return desc(make("could not permute the axes of a memory descriptor", allow_empty, [&](quern_memory_desc_t *out) {
        return quern_memory_desc_permute_axes(out, get(), permutation.data());
      }));
    }

    /// Returns the number of dimensions.
    int get_ndims() const { return query<int>(quern_query_ndims_s32); }
    /// Returns the sizes in elements.
    dims get_dims() const { return query_dims(quern_query_dims); }
    /// Returns the strides in elements; empty without a blocked layout.
    dims get_strides() const { return query_dims(quern_query_strides); }
    /// Returns the sizes including padding, in elements.
    dims get_padded_dims() const { return query_dims(quern_query_padded_dims); }
    /// Returns the first index of the data within the padding, per dimension.
    dims get_padded_offsets() const { return query_dims(quern_query_padded_offsets); }
    /// Returns the type of the elements, or of buffer `index` of a sparse tensor.
    data_type get_data_type(int index = 0) const {
      return static_cast<data_type>(query<quern_data_type_t>(quern_query_data_type, index));
    }
    /// Returns the number of buffers.
    int get_num_handles() const { return query<int>(quern_query_num_handles_s32); }
    /// Returns the number of values of a sparse tensor; 0 for others.
    dim get_nnz() const { return query<dim>(quern_query_nnz_s64); }
    /// Returns the encoding of a sparse tensor; undef for others.
    sparse_encoding get_sparse_encoding() const {
      return static_cast<sparse_encoding>(query<quern_sparse_encoding_t>(quern_query_sparse_encoding));
    }
    /// Returns the format kind.
    format_kind get_format_kind() const {
      return static_cast<format_kind>(query<quern_format_kind_t>(quern_query_format_kind));
    }
    /// Returns the offset of the first element in the buffer, in elements.
    dim get_submemory_offset() const { return query<dim>(quern_query_submemory_offset_s64); }
    /// Returns the number of blocks.
    int get_inner_nblks() const { return query<int>(quern_query_inner_nblks_s32); }
    /// Returns the sizes of the blocks, outermost first.
    dims get_inner_blks() const { return query_dims(quern_query_inner_blks, get_inner_nblks()); }
    /// Returns the dimension of each block.
    dims get_inner_idxs() const { return query_dims(quern_query_inner_idxs, get_inner_nblks()); }
    /// Returns the size of a buffer in bytes; see quern_memory_desc_get_size_v2().
    size_t get_size(int index = 0) const { return quern_memory_desc_get_size_v2(get(), index); }
    /// Returns true for the zero descriptor.
    bool is_zero() const { return get_ndims() == 0; }
    /// Returns the serialized descriptor; see quern_memory_desc_get_blob().
    std::vector<uint8_t> get_blob() const {
      size_t size = 0;
      error::wrap_c_api(quern_memory_desc_get_blob(nullptr, &size, get()), "could not get the size of a blob");
      std::vector<uint8_t> blob(size);
      error::wrap_c_api(quern_memory_desc_get_blob(blob.data(), &size, get()), "could not get a blob");
      return blob;
    }
    /// See quern_memory_desc_equal().
    bool operator==(const desc &other) const { return quern_memory_desc_equal(get(true), other.get(true)) != 0; }
    /// Negation of operator==().
    bool operator!=(const desc &other) const { return !(*this == other); }

  private:
    static int rank(const dims &adims) { return static_cast<int>(std::min<size_t>(adims.size(), QUERN_MAX_NDIMS + 1)); }
    template <typename Values> void check_rank(const Values &values) const {
      if (values.size() != static_cast<size_t>(get_ndims()))
        throw error(quern_invalid_arguments, "the number of values is not the number of dimensions");
    }
    template <typename Create> static quern_memory_desc_t make(const char *action, bool allow_empty, Create create) {
      quern_memory_desc_t created = nullptr;
      quern_status_t status = create(&created);
      if (!allow_empty)
        error::wrap_c_api(status, action);
      return created;
    }
    template <typename T> T query(quern_query_t what, int index = 0) const {
      T value{};
      return quern_memory_desc_query_v2(get(), what, index, &value) == quern_success ? value : T{};
    }
    dims query_dims(quern_query_t what) const { return query_dims(what, get_ndims()); }
    dims query_dims(quern_query_t what, int count) const {
      const dim *values = query<const dim *>(what);
      return values ? dims(values, values + count) : dims();
    }
  };

  memory() = default;
  using handle::handle;
  /// Creates a memory object. `buffer` is a caller-owned buffer, QUERN_MEMORY_ALLOCATE or QUERN_MEMORY_NONE; see
  /// quern_memory_create().
  memory(const desc &md, const engine &aengine, void *buffer) {
    quern_memory_t created = nullptr;
    error::wrap_c_api(
            quern_memory_create(&created, md.get(), aengine.get(), buffer), "could not create a memory object");
    reset(created);
  }
  /// Allocates the buffers.
  memory(const desc &md, const engine &aengine) : memory(md, aengine, QUERN_MEMORY_ALLOCATE) {}
  /// Creates a memory object with one handle per buffer of a sparse tensor.
  memory(const desc &md, const engine &aengine, std::vector<void *> buffers) {
    quern_memory_t created = nullptr;
    error::wrap_c_api(
            quern_memory_create_v2(&created, md.get(), aengine.get(), static_cast<int>(buffers.size()), buffers.data()),
            "could not create a memory object");
    reset(created);
  }

  /// Creates a host scalar. `value` must have the descriptor's type; only its size is checked.
  template <typename T,
          typename = std::enable_if_t<std::is_trivially_copyable<T>::value && !std::is_base_of<engine, T>::value>>
  memory(const desc &md, T value) {
    check_size<T>(md);
    quern_memory_t created = nullptr;
    error::wrap_c_api(quern_memory_create_host_scalar(&created, md.get(), &value), "could not create a host scalar");
    reset(created);
  }
  /// Returns the value of a host scalar.
  template <typename T> T get_host_scalar_value() const {
    check_size<T>(get_desc());
    T value{};
    error::wrap_c_api(quern_memory_get_host_scalar_value(get(), &value), "could not get the value of a host scalar");
    return value;
  }
  /// Sets the value of a host scalar.
  template <typename T> void set_host_scalar_value(T value) const {
    check_size<T>(get_desc());
    error::wrap_c_api(quern_memory_set_host_scalar_value(get(), &value), "could not set the value of a host scalar");
  }

  /// Returns a copy of the descriptor.
  desc get_desc() const {
    const_quern_memory_desc_t found = nullptr;
    quern_memory_desc_t copy = nullptr;
    error::wrap_c_api(quern_memory_get_memory_desc(get(), &found), "could not get the descriptor of a memory");
    error::wrap_c_api(quern_memory_desc_clone(&copy, found), "could not clone a memory descriptor");
    return desc(copy);
  }
  /// Returns the engine.
  engine get_engine() const {
    quern_engine_t found = nullptr;
    error::wrap_c_api(quern_memory_get_engine(get(), &found), "could not get the engine of a memory");
    return engine(found, true);
  }
  /// Returns buffer `index`; see quern_memory_get_data_handle_v2().
  void *get_data_handle(int index = 0) const {
    void *data = nullptr;
    error::wrap_c_api(quern_memory_get_data_handle_v2(get(), &data, index), "could not get the buffer of a memory");
    return data;
  }
  /// See quern_memory_set_data_handle_v2().
  void set_data_handle(void *data, int index = 0) const {
    error::wrap_c_api(quern_memory_set_data_handle_v2(get(), data, index), "could not set a buffer");
  }
  /// See quern_memory_map_data_v2().
  template <typename T = void> T *map_data(int index = 0) const {
    void *data = nullptr;
    error::wrap_c_api(quern_memory_map_data_v2(get(), &data, index), "could not map a memory");
    return static_cast<T *>(data);
  }
  /// See quern_memory_unmap_data_v2().
  void unmap_data(void *data, int index = 0) const {
    error::wrap_c_api(quern_memory_unmap_data_v2(get(), data, index), "could not unmap a memory");
  }

private:
  template <typename T> static void check_size(const desc &md) {
    if (md.get_size() != sizeof(T))
      throw error(quern_invalid_arguments, "the value is not of the type of the host scalar");
  }
};

} // namespace quern

#endif // QUERN_MEMORY_HPP
