//===- quern/quern_memory.hpp - Memory in C++ -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// memory::desc is a memory descriptor, memory a descriptor with a buffer. Layouts are named by their tags as strings
// ("abcd", "nchw", "aBcd16b", "any").
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

struct memory : public handle<quern_memory_t> {
  using dim = quern_dim_t;
  using dims = std::vector<dim>;

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
  /// Layouts by oneDNN's names; a string names any other.
  using format_tag = quern::format_tag;
  enum class format_kind {
    undef = quern_format_kind_undef,
    any = quern_format_kind_any,
    blocked = quern_blocked,
    sparse = quern_format_kind_sparse,
    host_scalar = quern_format_kind_host_scalar
  };
  enum class sparse_encoding {
    undef = quern_sparse_encoding_undef,
    csr = quern_csr,
    packed = quern_packed,
    coo = quern_coo
  };

  static quern_data_type_t convert_to_c(data_type type) { return static_cast<quern_data_type_t>(type); }
  static size_t data_type_size(data_type type) { return quern_data_type_size(static_cast<quern_data_type_t>(type)); }

  /// Shape, type and layout. Default-constructed, or with no dimensions, it is the zero descriptor: "no tensor".
  struct desc : public handle<quern_memory_desc_t> {
    desc() {
      quern_memory_desc_t zero = nullptr;
      error::wrap_c_api(quern_memory_desc_create_with_strides(&zero, 0, nullptr, quern_data_type_undef, nullptr),
              "could not create a zero memory descriptor");
      reset(zero);
    }
    explicit desc(quern_memory_desc_t owned) : handle(owned) {}
    /// Of a descriptor that something else owns.
    static desc copy_of(const_quern_memory_desc_t existing) {
      quern_memory_desc_t copy = nullptr;
      error::wrap_c_api(quern_memory_desc_clone(&copy, existing), "could not clone a memory descriptor");
      return desc(copy);
    }
    desc(const dims &adims, data_type type, const char *tag, bool allow_empty = false)
        : desc(make("could not create a memory descriptor by a tag", allow_empty, [&](quern_memory_desc_t *out) {
            return quern_memory_desc_create_with_string_tag(
                    out, rank(adims), adims.data(), static_cast<quern_data_type_t>(type), tag);
          })) {}
    desc(const dims &adims, data_type type, const std::string &tag, bool allow_empty = false)
        : desc(adims, type, tag.c_str(), allow_empty) {}
    desc(const dims &adims, data_type type, format_tag tag, bool allow_empty = false)
        : desc(tag == format_tag::undef ? dims() : adims, type, name_of(tag) ? name_of(tag) : "", allow_empty) {}
    /// Empty strides: dense row-major.
    desc(const dims &adims, data_type type, const dims &strides, bool allow_empty = false)
        : desc(make("could not create a memory descriptor by strides", allow_empty, [&](quern_memory_desc_t *out) {
            if (!strides.empty() && strides.size() != adims.size())
              throw error(quern_invalid_arguments, "dims and strides differ in number");
            return quern_memory_desc_create_with_strides(out, rank(adims), adims.data(),
                    static_cast<quern_data_type_t>(type), strides.empty() ? nullptr : strides.data());
          })) {}
    explicit desc(const std::vector<uint8_t> &blob)
        : desc(make("could not create a memory descriptor from a blob", false, [&](quern_memory_desc_t *out) {
            size_t size = 0;
            error::wrap_c_api(
                    quern_memory_desc_get_blob(nullptr, &size, desc().get()), "could not get the size of a blob");
            if (blob.size() < size)
              throw error(quern_invalid_arguments, "the blob is too short");
            return quern_memory_desc_create_with_blob(out, blob.data());
          })) {}

    /// One value on the host.
    static desc host_scalar(data_type type) {
      return desc(make("could not create a host scalar's descriptor", false, [&](quern_memory_desc_t *out) {
        return quern_memory_desc_create_host_scalar(out, static_cast<quern_data_type_t>(type));
      }));
    }

    /// Sparse tensors; `nnz` is the number of their values. No primitive takes one.
    static desc csr(const dims &adims, data_type type, dim nnz, data_type index_type, data_type pointer_type,
            bool allow_empty = false) {
      return desc(make("could not create a memory descriptor for CSR sparse encoding", allow_empty,
              [&](quern_memory_desc_t *out) {
                return quern_memory_desc_create_with_csr_encoding(out, rank(adims), adims.data(), convert_to_c(type),
                        nnz, convert_to_c(index_type), convert_to_c(pointer_type));
              }));
    }
    static desc coo(const dims &adims, data_type type, dim nnz, data_type index_type, bool allow_empty = false) {
      return desc(make("could not create a memory descriptor for COO sparse encoding", allow_empty,
              [&](quern_memory_desc_t *out) {
                return quern_memory_desc_create_with_coo_encoding(
                        out, rank(adims), adims.data(), convert_to_c(type), nnz, convert_to_c(index_type));
              }));
    }
    static desc packed(const dims &adims, data_type type, dim nnz, bool allow_empty = false) {
      return desc(make("could not create a memory descriptor for packed sparse encoding", allow_empty,
              [&](quern_memory_desc_t *out) {
                return quern_memory_desc_create_with_packed_encoding(
                        out, rank(adims), adims.data(), convert_to_c(type), nnz);
              }));
    }

    desc submemory_desc(const dims &adims, const dims &offsets, bool allow_empty = false) const {
      check_rank(adims), check_rank(offsets);
      return desc(make("could not create a submemory descriptor", allow_empty, [&](quern_memory_desc_t *out) {
        return quern_memory_desc_create_submemory(out, get(), adims.data(), offsets.data());
      }));
    }
    desc reshape(const dims &adims, bool allow_empty = false) const {
      return desc(make("could not reshape a memory descriptor", allow_empty, [&](quern_memory_desc_t *out) {
        return quern_memory_desc_reshape(out, get(), rank(adims), adims.data());
      }));
    }
    desc permute_axes(const std::vector<int> &permutation, bool allow_empty = false) const {
      check_rank(permutation);
      return desc(make("could not permute the axes of a memory descriptor", allow_empty, [&](quern_memory_desc_t *out) {
        return quern_memory_desc_permute_axes(out, get(), permutation.data());
      }));
    }

    int get_ndims() const { return query<int>(quern_query_ndims_s32); }
    dims get_dims() const { return query_dims(quern_query_dims); }
    dims get_strides() const { return query_dims(quern_query_strides); }
    dims get_padded_dims() const { return query_dims(quern_query_padded_dims); }
    dims get_padded_offsets() const { return query_dims(quern_query_padded_offsets); }
    /// Of the elements, or of another buffer of a sparse tensor.
    data_type get_data_type(int index = 0) const {
      return static_cast<data_type>(query<quern_data_type_t>(quern_query_data_type, index));
    }
    int get_num_handles() const { return query<int>(quern_query_num_handles_s32); }
    dim get_nnz() const { return query<dim>(quern_query_nnz_s64); }
    sparse_encoding get_sparse_encoding() const {
      return static_cast<sparse_encoding>(query<quern_sparse_encoding_t>(quern_query_sparse_encoding));
    }
    format_kind get_format_kind() const {
      return static_cast<format_kind>(query<quern_format_kind_t>(quern_query_format_kind));
    }
    dim get_submemory_offset() const { return query<dim>(quern_query_submemory_offset_s64); }
    int get_inner_nblks() const { return query<int>(quern_query_inner_nblks_s32); }
    dims get_inner_blks() const { return query_dims(quern_query_inner_blks, get_inner_nblks()); }
    dims get_inner_idxs() const { return query_dims(quern_query_inner_idxs, get_inner_nblks()); }
    size_t get_size(int index = 0) const { return quern_memory_desc_get_size_v2(get(), index); }
    bool is_zero() const { return get_ndims() == 0; }
    std::vector<uint8_t> get_blob() const {
      size_t size = 0;
      error::wrap_c_api(quern_memory_desc_get_blob(nullptr, &size, get()), "could not get the size of a blob");
      std::vector<uint8_t> blob(size);
      error::wrap_c_api(quern_memory_desc_get_blob(blob.data(), &size, get()), "could not get a blob");
      return blob;
    }
    bool operator==(const desc &other) const { return quern_memory_desc_equal(get(true), other.get(true)) != 0; }
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
  /// `buffer` is the caller's, QUERN_MEMORY_ALLOCATE or QUERN_MEMORY_NONE.
  memory(const desc &md, const engine &aengine, void *buffer) {
    quern_memory_t created = nullptr;
    error::wrap_c_api(
            quern_memory_create(&created, md.get(), aengine.get(), buffer), "could not create a memory object");
    reset(created);
  }
  memory(const desc &md, const engine &aengine) : memory(md, aengine, QUERN_MEMORY_ALLOCATE) {}
  /// One for each buffer of a sparse tensor.
  memory(const desc &md, const engine &aengine, std::vector<void *> buffers) {
    quern_memory_t created = nullptr;
    error::wrap_c_api(
            quern_memory_create_v2(&created, md.get(), aengine.get(), static_cast<int>(buffers.size()), buffers.data()),
            "could not create a memory object");
    reset(created);
  }

  /// A host scalar; `value` is of the descriptor's type, of which only the size is checked.
  template <typename T,
          typename = std::enable_if_t<std::is_trivially_copyable<T>::value && !std::is_base_of<engine, T>::value>>
  memory(const desc &md, T value) {
    check_size<T>(md);
    quern_memory_t created = nullptr;
    error::wrap_c_api(quern_memory_create_host_scalar(&created, md.get(), &value), "could not create a host scalar");
    reset(created);
  }
  template <typename T> T get_host_scalar_value() const {
    check_size<T>(get_desc());
    T value{};
    error::wrap_c_api(quern_memory_get_host_scalar_value(get(), &value), "could not get the value of a host scalar");
    return value;
  }
  template <typename T> void set_host_scalar_value(T value) const {
    check_size<T>(get_desc());
    error::wrap_c_api(quern_memory_set_host_scalar_value(get(), &value), "could not set the value of a host scalar");
  }

  desc get_desc() const {
    const_quern_memory_desc_t found = nullptr;
    quern_memory_desc_t copy = nullptr;
    error::wrap_c_api(quern_memory_get_memory_desc(get(), &found), "could not get the descriptor of a memory");
    error::wrap_c_api(quern_memory_desc_clone(&copy, found), "could not clone a memory descriptor");
    return desc(copy);
  }
  engine get_engine() const {
    quern_engine_t found = nullptr;
    error::wrap_c_api(quern_memory_get_engine(get(), &found), "could not get the engine of a memory");
    return engine(found, true);
  }
  /// `index` counts the buffers of a sparse tensor.
  void *get_data_handle(int index = 0) const {
    void *data = nullptr;
    error::wrap_c_api(quern_memory_get_data_handle_v2(get(), &data, index), "could not get the buffer of a memory");
    return data;
  }
  void set_data_handle(void *data, int index = 0) const {
    error::wrap_c_api(quern_memory_set_data_handle_v2(get(), data, index), "could not set a buffer");
  }
  template <typename T = void> T *map_data(int index = 0) const {
    void *data = nullptr;
    error::wrap_c_api(quern_memory_map_data_v2(get(), &data, index), "could not map a memory");
    return static_cast<T *>(data);
  }
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
