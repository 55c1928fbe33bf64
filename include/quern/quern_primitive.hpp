//===- quern/quern_primitive.hpp - Primitive descriptors and primitives in C++ ===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A primitive_desc is a verified problem; a primitive is its kernel. Every primitive can be created from its text form;
// most also have their own class.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVE_HPP
#define QUERN_PRIMITIVE_HPP

#include "quern/quern_attr.hpp"
#include "quern/quern_launch.h"
#include "quern/quern_mlir.h"

#include <exception>
#include <unordered_map>

namespace quern {

template <> struct handle_traits<quern_primitive_desc_t> {
  static quern_status_t destructor(quern_primitive_desc_t p) { return quern_primitive_desc_destroy(p); }
};
template <> struct handle_traits<quern_primitive_t> {
  static quern_status_t destructor(quern_primitive_t p) { return quern_primitive_destroy(p); }
};

/// See quern_prop_kind_t.
enum class prop_kind {
  undef = quern_prop_kind_undef,
  forward_training = quern_forward_training,
  forward_inference = quern_forward_inference,
  forward = quern_forward,
  backward = quern_backward,
  backward_data = quern_backward_data,
  backward_weights = quern_backward_weights
};

/// Properties of descriptors; see quern_query_t.
enum class query {
  undef = quern_query_undef,
  engine = quern_query_engine,
  primitive_kind = quern_query_primitive_kind,
  num_of_inputs_s32 = quern_query_num_of_inputs_s32,
  num_of_outputs_s32 = quern_query_num_of_outputs_s32,
  time_estimate_f64 = quern_query_time_estimate_f64,
  memory_consumption_s64 = quern_query_memory_consumption_s64,
  scratchpad_engine = quern_query_scratchpad_engine,
  impl_info_str = quern_query_impl_info_str,
  reorder_src_engine = quern_query_reorder_src_engine,
  reorder_dst_engine = quern_query_reorder_dst_engine,
  prop_kind = quern_query_prop_kind,
  cache_blob_id_size_s64 = quern_query_cache_blob_id_size_s64,
  cache_blob_id = quern_query_cache_blob_id,
  strides = quern_query_strides,
  flags = quern_query_flags,
  alg_kind = quern_query_alg_kind,
  alpha_f32 = quern_query_alpha_f32,
  beta_f32 = quern_query_beta_f32,
  axis_s32 = quern_query_axis_s32,
  cell_kind = quern_query_cell_kind,
  direction = quern_query_direction,
  activation_kind = quern_query_activation_kind,
  src_md = quern_query_src_md,
  diff_src_md = quern_query_diff_src_md,
  weights_md = quern_query_weights_md,
  diff_weights_md = quern_query_diff_weights_md,
  dst_md = quern_query_dst_md,
  diff_dst_md = quern_query_diff_dst_md,
  workspace_md = quern_query_workspace_md,
  scratchpad_md = quern_query_scratchpad_md,
  exec_arg_md = quern_query_exec_arg_md,
  ndims_s32 = quern_query_ndims_s32,
  dims = quern_query_dims,
  data_type = quern_query_data_type,
  submemory_offset_s64 = quern_query_submemory_offset_s64,
  padded_dims = quern_query_padded_dims,
  padded_offsets = quern_query_padded_offsets,
  format_kind = quern_query_format_kind,
  inner_nblks_s32 = quern_query_inner_nblks_s32,
  inner_blks = quern_query_inner_blks,
  inner_idxs = quern_query_inner_idxs,
  sparse_encoding = quern_query_sparse_encoding,
  nnz_s64 = quern_query_nnz_s64,
  num_handles_s32 = quern_query_num_handles_s32
};

/// Descriptor of any primitive. Empty if its creation failed and `allow_empty` was set.
struct primitive_desc : public handle<quern_primitive_desc_t> {
  primitive_desc() = default;
  using handle::handle;
  /// Creates the descriptor from its text form; see docs/text-form.md.
  primitive_desc(const engine &aengine, const std::string &line, bool allow_empty = false) {
    quern_primitive_desc_t created = nullptr;
    accept(quern_primitive_desc_create_from_text(&created, aengine.get(), line.c_str()), created, allow_empty);
  }
  /// Creates the descriptor of a function in MLIR; see quern_primitive_desc_create_from_mlir(). "": the only public
  /// one.
  static primitive_desc from_mlir(const engine &aengine, const std::string &module, const std::string &function = "",
          const primitive_attr &attr = primitive_attr(), bool allow_empty = false) {
    primitive_desc made;
    quern_primitive_desc_t created = nullptr;
    made.accept(quern_primitive_desc_create_from_mlir(&created, aengine.get(), module.data(), module.size(),
                        function.empty() ? nullptr : function.c_str(), attr.get()),
            created, allow_empty);
    return made;
  }
  /// Returns the text form of the problem.
  std::string text() const {
    const char *line = nullptr;
    error::wrap_c_api(quern_primitive_desc_get_text(get(), &line), "could not get the text form");
    return line;
  }
  /// Returns the engine.
  engine get_engine() const { return engine(query<quern_engine_t>(quern_query_engine), true); }
  /// Returns the name of the implementation, which the descriptor owns.
  const char *impl_info_str() const { return query<const char *>(quern_query_impl_info_str); }
  /// Returns the kind of the primitive.
  primitive_kind get_kind() const {
    return static_cast<primitive_kind>(query<quern_primitive_kind_t>(quern_query_primitive_kind));
  }
  /// Returns the propagation kind.
  prop_kind get_prop_kind() const { return static_cast<prop_kind>(query<quern_prop_kind_t>(quern_query_prop_kind)); }
  /// Returns the algorithm.
  algorithm get_algorithm() const { return static_cast<algorithm>(query<quern_alg_kind_t>(quern_query_alg_kind)); }
  /// Returns the axis; -1 if the primitive has none.
  int get_axis() const {
    int axis = -1;
    return quern_primitive_desc_query(get(), quern_query_axis_s32, 0, &axis) == quern_success ? axis : -1;
  }
  /// Returns a copy of a queried memory descriptor; the zero descriptor if there is no such tensor.
  memory::desc query_md(quern_query_t what, int index = 0) const {
    const_quern_memory_desc_t found = quern_primitive_desc_query_md(get(), what, index);
    return found ? memory::desc::copy_of(found) : memory::desc();
  }
  /// Like the other query_md().
  memory::desc query_md(quern::query what, int index = 0) const {
    return query_md(static_cast<quern_query_t>(what), index);
  }
  /// Returns the descriptor of source `index`.
  memory::desc src_desc(int index = 0) const { return query_md(quern_query_src_md, index); }
  /// Returns the descriptor of result `index`.
  memory::desc dst_desc(int index = 0) const { return query_md(quern_query_dst_md, index); }
  /// Returns the descriptor of the gradient of source `index`.
  memory::desc diff_src_desc(int index = 0) const { return query_md(quern_query_diff_src_md, index); }
  /// Returns the descriptor of the gradient of result `index`.
  memory::desc diff_dst_desc(int index = 0) const { return query_md(quern_query_diff_dst_md, index); }
  /// Returns the descriptor of weights `index`, counting only those that exist.
  memory::desc weights_desc(int index = 0) const { return query_md(quern_query_weights_md, index); }
  /// Returns the descriptor of the gradient of weights `index`.
  memory::desc diff_weights_desc(int index = 0) const { return query_md(quern_query_diff_weights_md, index); }
  /// Returns the descriptor of the workspace.
  memory::desc workspace_desc() const { return query_md(quern_query_workspace_md); }
  /// Returns the descriptor of the scratchpad. In scratchpad mode user, fetches or compiles the kernel.
  memory::desc scratchpad_desc() const {
    const_quern_memory_desc_t found = nullptr;
    error::wrap_c_api(quern_primitive_desc_query(get(), quern_query_scratchpad_md, 0, &found),
            "could not get the scratchpad descriptor");
    return query_md(quern_query_scratchpad_md);
  }
  /// Returns the value of a query whose name ends in _s64.
  memory::dim query_s64(quern::query what) const { return query<memory::dim>(static_cast<quern_query_t>(what)); }
  /// Returns the scratch of an execution in bytes; fetches or compiles the kernel. In scratchpad mode user, returns 0.
  int64_t memory_consumption() const { return query<int64_t>(quern_query_memory_consumption_s64); }
  /// Returns the key of the kernel.
  std::vector<uint8_t> get_cache_blob_id() const {
    const uint8_t *id = query<const uint8_t *>(quern_query_cache_blob_id);
    return std::vector<uint8_t>(id, id + query<int64_t>(quern_query_cache_blob_id_size_s64));
  }
  /// Returns a copy of the attributes.
  primitive_attr get_primitive_attr() const {
    const_quern_primitive_attr_t found = nullptr;
    quern_primitive_attr_t copy = nullptr;
    error::wrap_c_api(quern_primitive_desc_get_attr(get(), &found), "could not get the attributes");
    error::wrap_c_api(quern_primitive_attr_clone(&copy, found), "could not clone attributes");
    return primitive_attr(copy);
  }
  /// Moves to the next implementation; returns false if there is none.
  bool next_impl() {
    const quern_status_t status = quern_primitive_desc_next_impl(get());
    if (status == quern_last_impl_reached)
      return false;
    error::wrap_c_api(status, "could not move to the next implementation");
    return true;
  }

protected:
  /// Returns the C handles of descriptors.
  static std::vector<const_quern_memory_desc_t> handles_of(const std::vector<memory::desc> &descs) {
    std::vector<const_quern_memory_desc_t> handles;
    for (const memory::desc &desc : descs)
      handles.push_back(desc.get());
    return handles;
  }
  /// Takes ownership of `created`, or throws if `status` is a failure and not `allow_empty`. `created` is a reference
  /// because the call that returns `status` sets it, and the order of evaluation of arguments is unspecified.
  void accept(quern_status_t status, const quern_primitive_desc_t &created, bool allow_empty) {
    if (!allow_empty)
      error::wrap_c_api(status, "could not create a primitive descriptor");
    if (created)
      reset(created);
  }
  /// Returns a queried value.
  template <typename T> T query(quern_query_t what) const {
    T value{};
    error::wrap_c_api(quern_primitive_desc_query(get(), what, 0, &value), "could not query a primitive descriptor");
    return value;
  }
};

/// Alias for sources written for dnnl.hpp.
using primitive_desc_base = primitive_desc;

/// A problem with its kernel.
struct primitive : public handle<quern_primitive_t> {
  /// Kind of a primitive.
  using kind = primitive_kind;
  primitive() = default;
  using handle::handle;
  /// See quern_primitive_create().
  primitive(const quern::primitive_desc &pd) {
    quern_primitive_t created = nullptr;
    error::wrap_c_api(quern_primitive_create(&created, pd.get()), "could not create a primitive");
    reset(created);
  }
  /// See quern_primitive_create_from_cache_blob().
  primitive(const quern::primitive_desc &pd, const std::vector<uint8_t> &cache_blob) {
    quern_primitive_t created = nullptr;
    error::wrap_c_api(quern_primitive_create_from_cache_blob(&created, pd.get(), cache_blob.size(), cache_blob.data()),
            "could not create a primitive from a cache blob");
    reset(created);
  }
  /// See quern_primitive_get_cache_blob().
  std::vector<uint8_t> get_cache_blob() const {
    size_t size = 0;
    error::wrap_c_api(quern_primitive_get_cache_blob(get(), &size, nullptr), "could not get the size of a cache blob");
    std::vector<uint8_t> blob(size);
    error::wrap_c_api(quern_primitive_get_cache_blob(get(), &size, blob.data()), "could not get a cache blob");
    return blob;
  }
  /// Returns the descriptor, which the primitive owns.
  const_quern_primitive_desc_t get_primitive_desc() const {
    const_quern_primitive_desc_t found = nullptr;
    error::wrap_c_api(quern_primitive_get_primitive_desc(get(), &found), "could not get the descriptor of a primitive");
    return found;
  }
  /// Returns the kind.
  kind get_kind() const {
    quern_primitive_kind_t found;
    error::wrap_c_api(quern_primitive_desc_query(get_primitive_desc(), quern_query_primitive_kind, 0, &found),
            "could not get the kind of a primitive");
    return static_cast<kind>(found);
  }
  /// See quern_primitive_get_info().
  quern_primitive_info_t info() const {
    quern_primitive_info_t result;
    error::wrap_c_api(quern_primitive_get_info(get(), &result), "could not get what a primitive is");
    return result;
  }
  /// Returns the QUERN_ARG_ values in the order of the buffers of a launch.
  std::vector<int> launch_arguments() const {
    int count = 0;
    error::wrap_c_api(quern_primitive_get_launch_counts(get(), &count, nullptr, nullptr),
            "could not get the arguments of a launch");
    std::vector<int> arguments(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i)
      error::wrap_c_api(
              quern_primitive_get_launch_argument(get(), i, &arguments[static_cast<size_t>(i)], nullptr, nullptr),
              "could not get an argument of a launch");
    return arguments;
  }
  /// Memory that an execution needs in addition to its arguments, in bytes.
  struct launch_memory {
    size_t scratch_bytes, ///< separate memory of each concurrent call
            shared_bytes; ///< memory that all calls share
  };
  /// See quern_primitive_get_launch_memory(). `data` may be null if the launch takes no sizes.
  launch_memory get_launch_memory(const quern_launch_data_t *data = nullptr) const {
    launch_memory memory;
    error::wrap_c_api(quern_primitive_get_launch_memory(get(), data, &memory.scratch_bytes, &memory.shared_bytes),
            "could not get the memory of a launch");
    return memory;
  }
  /// Calls visitor(const quern_launch_call_t &) for each call of an execution, in order. An exception ends the visit
  /// and is rethrown.
  template <typename Visitor> void visit_launch(const quern_launch_data_t &data, Visitor &&visitor) const {
    struct Visit {
      Visitor &visitor;
      std::exception_ptr thrown;
    } visit{visitor, nullptr};
    const auto tell = [](void *context, const quern_launch_call_t *call) noexcept -> quern_status_t {
      try {
        static_cast<Visit *>(context)->visitor(*call);
        return quern_success;
      } catch (...) {
        static_cast<Visit *>(context)->thrown = std::current_exception();
        return quern_runtime_error;
      }
    };
    const quern_status_t status = quern_primitive_visit_launch(get(), &data, tell, &visit);
    if (visit.thrown)
      std::rethrow_exception(visit.thrown);
    error::wrap_c_api(status, "could not visit the launch of a primitive");
  }
  /// Executes the primitive on the arguments, by QUERN_ARG_ value; see quern_primitive_execute().
  void execute(const stream &astream, const std::unordered_map<int, memory> &args) const {
    std::vector<quern_exec_arg_t> list;
    list.reserve(args.size());
    for (const auto &arg : args)
      list.push_back({arg.first, arg.second.get(true)});
    error::wrap_c_api(quern_primitive_execute(get(), astream.get(), static_cast<int>(list.size()), list.data()),
            "could not execute a primitive");
  }
};

/// A forward softmax; see quern_softmax_forward_primitive_desc_create().
struct softmax_forward : public primitive {
  /// Descriptor of the primitive.
  struct primitive_desc : public quern::primitive_desc {
    primitive_desc() = default;
    /// With `allow_empty`, a failure leaves the descriptor empty.
    primitive_desc(const engine &aengine, prop_kind prop, algorithm alg, const memory::desc &src,
            const memory::desc &dst, int axis, const primitive_attr &attr = primitive_attr(),
            bool allow_empty = false) {
      quern_primitive_desc_t created = nullptr;
      accept(quern_softmax_forward_primitive_desc_create(&created, aengine.get(), static_cast<quern_prop_kind_t>(prop),
                     static_cast<quern_alg_kind_t>(alg), src.get(), dst.get(), axis, attr.get()),
              created, allow_empty);
    }
  };
  softmax_forward() = default;
  softmax_forward(const primitive_desc &pd) : primitive(pd) {}
  softmax_forward(const primitive_desc &pd, const std::vector<uint8_t> &cache_blob) : primitive(pd, cache_blob) {}
};

/// The gradient of a softmax; see quern_softmax_backward_primitive_desc_create().
struct softmax_backward : public primitive {
  /// Descriptor of the primitive.
  struct primitive_desc : public quern::primitive_desc {
    primitive_desc() = default;
    /// With `allow_empty`, a failure leaves the descriptor empty.
    primitive_desc(const engine &aengine, algorithm alg, const memory::desc &diff_src, const memory::desc &diff_dst,
            const memory::desc &dst, int axis, const softmax_forward::primitive_desc &hint,
            const primitive_attr &attr = primitive_attr(), bool allow_empty = false) {
      quern_primitive_desc_t created = nullptr;
      accept(quern_softmax_backward_primitive_desc_create(&created, aengine.get(), static_cast<quern_alg_kind_t>(alg),
                     diff_src.get(), diff_dst.get(), dst.get(), axis, hint.get(true), attr.get()),
              created, allow_empty);
    }
  };
  softmax_backward() = default;
  softmax_backward(const primitive_desc &pd) : primitive(pd) {}
};

/// A function of each element; see quern_eltwise_forward_primitive_desc_create().
struct eltwise_forward : public primitive {
  /// Descriptor of the primitive.
  struct primitive_desc : public quern::primitive_desc {
    primitive_desc() = default;
    /// With `allow_empty`, a failure leaves the descriptor empty.
    primitive_desc(const engine &aengine, prop_kind prop, algorithm alg, const memory::desc &src,
            const memory::desc &dst, float alpha, float beta, const primitive_attr &attr = primitive_attr(),
            bool allow_empty = false) {
      quern_primitive_desc_t created = nullptr;
      accept(quern_eltwise_forward_primitive_desc_create(&created, aengine.get(), static_cast<quern_prop_kind_t>(prop),
                     static_cast<quern_alg_kind_t>(alg), src.get(), dst.get(), alpha, beta, attr.get()),
              created, allow_empty);
    }
    /// With `allow_empty`, a failure leaves the descriptor empty.
    primitive_desc(const engine &aengine, prop_kind prop, algorithm alg, const memory::desc &src,
            const memory::desc &dst, float alpha, const primitive_attr &attr = primitive_attr(),
            bool allow_empty = false)
        : primitive_desc(aengine, prop, alg, src, dst, alpha, 0.0f, attr, allow_empty) {}
    /// With `allow_empty`, a failure leaves the descriptor empty.
    primitive_desc(const engine &aengine, prop_kind prop, algorithm alg, const memory::desc &src,
            const memory::desc &dst, const primitive_attr &attr = primitive_attr(), bool allow_empty = false)
        : primitive_desc(aengine, prop, alg, src, dst, 0.0f, 0.0f, attr, allow_empty) {}
    /// Returns alpha.
    float get_alpha() const { return query<float>(quern_query_alpha_f32); }
    /// Returns beta.
    float get_beta() const { return query<float>(quern_query_beta_f32); }
  };
  eltwise_forward() = default;
  eltwise_forward(const primitive_desc &pd) : primitive(pd) {}
  eltwise_forward(const primitive_desc &pd, const std::vector<uint8_t> &cache_blob) : primitive(pd, cache_blob) {}
};

/// The gradient of an eltwise function; see quern_eltwise_backward_primitive_desc_create().
struct eltwise_backward : public primitive {
  /// Descriptor of the primitive.
  struct primitive_desc : public quern::primitive_desc {
    primitive_desc() = default;
    /// Creates a descriptor. `data` is the source of forward, or its result for an algorithm that ends in
    /// use_dst_for_bwd. With `allow_empty`, a failure leaves the descriptor empty.
    primitive_desc(const engine &aengine, algorithm alg, const memory::desc &diff_src, const memory::desc &diff_dst,
            const memory::desc &data, float alpha, float beta, const eltwise_forward::primitive_desc &hint,
            const primitive_attr &attr = primitive_attr(), bool allow_empty = false) {
      quern_primitive_desc_t created = nullptr;
      accept(quern_eltwise_backward_primitive_desc_create(&created, aengine.get(), static_cast<quern_alg_kind_t>(alg),
                     diff_src.get(), diff_dst.get(), data.get(), alpha, beta, hint.get(true), attr.get()),
              created, allow_empty);
    }
    /// With `allow_empty`, a failure leaves the descriptor empty.
    primitive_desc(const engine &aengine, algorithm alg, const memory::desc &diff_src, const memory::desc &diff_dst,
            const memory::desc &data, float alpha, const eltwise_forward::primitive_desc &hint,
            const primitive_attr &attr = primitive_attr(), bool allow_empty = false)
        : primitive_desc(aengine, alg, diff_src, diff_dst, data, alpha, 0.0f, hint, attr, allow_empty) {}
    /// With `allow_empty`, a failure leaves the descriptor empty.
    primitive_desc(const engine &aengine, algorithm alg, const memory::desc &diff_src, const memory::desc &diff_dst,
            const memory::desc &data, const eltwise_forward::primitive_desc &hint,
            const primitive_attr &attr = primitive_attr(), bool allow_empty = false)
        : primitive_desc(aengine, alg, diff_src, diff_dst, data, 0.0f, 0.0f, hint, attr, allow_empty) {}
    /// Returns alpha.
    float get_alpha() const { return query<float>(quern_query_alpha_f32); }
    /// Returns beta.
    float get_beta() const { return query<float>(quern_query_beta_f32); }
  };
  eltwise_backward() = default;
  eltwise_backward(const primitive_desc &pd) : primitive(pd) {}
  eltwise_backward(const primitive_desc &pd, const std::vector<uint8_t> &cache_blob) : primitive(pd, cache_blob) {}
};

/// A copy into another layout or type; see quern_reorder_primitive_desc_create().
struct reorder : public primitive {
  /// Descriptor of the primitive.
  struct primitive_desc : public quern::primitive_desc {
    primitive_desc() = default;
    /// Takes ownership of a C descriptor.
    explicit primitive_desc(quern_primitive_desc_t owned) : quern::primitive_desc(owned) {}
    /// With `allow_empty`, a failure leaves the descriptor empty.
    primitive_desc(const engine &src_engine, const memory::desc &src, const engine &dst_engine, const memory::desc &dst,
            const primitive_attr &attr = primitive_attr(), bool allow_empty = false) {
      quern_primitive_desc_t created = nullptr;
      accept(quern_reorder_primitive_desc_create(
                     &created, src.get(), src_engine.get(), dst.get(), dst_engine.get(), attr.get()),
              created, allow_empty);
    }
    /// Uses the descriptors and engines of two memory objects.
    primitive_desc(const memory &src, const memory &dst, const primitive_attr &attr = primitive_attr(),
            bool allow_empty = false)
        : primitive_desc(src.get_engine(), src.get_desc(), dst.get_engine(), dst.get_desc(), attr, allow_empty) {}
    /// Returns the engine of the source.
    engine get_src_engine() const { return engine(query<quern_engine_t>(quern_query_reorder_src_engine), true); }
    /// Returns the engine of the destination.
    engine get_dst_engine() const { return engine(query<quern_engine_t>(quern_query_reorder_dst_engine), true); }
  };
  reorder() = default;
  reorder(const primitive_desc &pd) : primitive(pd) {}
  reorder(const primitive_desc &pd, const std::vector<uint8_t> &cache_blob) : primitive(pd, cache_blob) {}
  /// Creates the reorder between two memory objects.
  reorder(const memory &src, const memory &dst, const primitive_attr &attr = primitive_attr())
      : primitive(primitive_desc(src, dst, attr)) {}

  using primitive::execute;
  /// Executes a reorder whose attributes need no further arguments.
  void execute(const stream &astream, const memory &src, const memory &dst) const {
    primitive::execute(astream, {{QUERN_ARG_FROM, src}, {QUERN_ARG_TO, dst}});
  }
};

/// dst = src0 alg src1, element by element; see quern_binary_primitive_desc_create().
struct binary : public primitive {
  /// Descriptor of the primitive.
  struct primitive_desc : public quern::primitive_desc {
    primitive_desc() = default;
    /// With `allow_empty`, a failure leaves the descriptor empty.
    primitive_desc(const engine &aengine, algorithm alg, const memory::desc &src0, const memory::desc &src1,
            const memory::desc &dst, const primitive_attr &attr = primitive_attr(), bool allow_empty = false) {
      quern_primitive_desc_t created = nullptr;
      accept(quern_binary_primitive_desc_create(&created, aengine.get(), static_cast<quern_alg_kind_t>(alg), src0.get(),
                     src1.get(), dst.get(), attr.get()),
              created, allow_empty);
    }
    /// Creates a select with the condition `src2`; see quern_binary_primitive_desc_create_v2().
    primitive_desc(const engine &aengine, algorithm alg, const memory::desc &src0, const memory::desc &src1,
            const memory::desc &src2, const memory::desc &dst, const primitive_attr &attr = primitive_attr(),
            bool allow_empty = false) {
      quern_primitive_desc_t created = nullptr;
      accept(quern_binary_primitive_desc_create_v2(&created, aengine.get(), static_cast<quern_alg_kind_t>(alg),
                     src0.get(), src1.get(), src2.get(), dst.get(), attr.get()),
              created, allow_empty);
    }
    /// Returns the descriptor of the first source.
    memory::desc src0_desc() const { return src_desc(0); }
    /// Returns the descriptor of the second source.
    memory::desc src1_desc() const { return src_desc(1); }
    /// Returns the descriptor of the condition of a select.
    memory::desc src2_desc() const { return src_desc(2); }
  };
  binary() = default;
  binary(const primitive_desc &pd) : primitive(pd) {}
  binary(const primitive_desc &pd, const std::vector<uint8_t> &cache_blob) : primitive(pd, cache_blob) {}
};

/// A weighted sum of tensors of one shape; see quern_sum_primitive_desc_create().
struct sum : public primitive {
  /// Descriptor of the primitive.
  struct primitive_desc : public quern::primitive_desc {
    primitive_desc() = default;
    /// With `allow_empty`, a failure leaves the descriptor empty.
    primitive_desc(const engine &aengine, const memory::desc &dst, const std::vector<float> &scales,
            const std::vector<memory::desc> &srcs, const primitive_attr &attr = primitive_attr(),
            bool allow_empty = false)
        : primitive_desc(aengine, dst.get(), scales, srcs, attr, allow_empty) {}
    /// The result has the type of the first source and a layout chosen from those of the sources.
    primitive_desc(const engine &aengine, const std::vector<float> &scales, const std::vector<memory::desc> &srcs,
            const primitive_attr &attr = primitive_attr(), bool allow_empty = false)
        : primitive_desc(aengine, const_quern_memory_desc_t(), scales, srcs, attr, allow_empty) {}

  private:
    primitive_desc(const engine &aengine, const_quern_memory_desc_t dst, const std::vector<float> &scales,
            const std::vector<memory::desc> &srcs, const primitive_attr &attr, bool allow_empty) {
      if (scales.size() != srcs.size())
        error::wrap_c_api(quern_invalid_arguments, "counts of scales and sources are not equal");
      const std::vector<const_quern_memory_desc_t> descs = handles_of(srcs);
      quern_primitive_desc_t created = nullptr;
      accept(quern_sum_primitive_desc_create(&created, aengine.get(), dst, static_cast<int>(descs.size()),
                     scales.data(), descs.data(), attr.get()),
              created, allow_empty);
    }
  };
  sum() = default;
  sum(const primitive_desc &pd) : primitive(pd) {}
  sum(const primitive_desc &pd, const std::vector<uint8_t> &cache_blob) : primitive(pd, cache_blob) {}
};

/// A concatenation of tensors along one dimension; see quern_concat_primitive_desc_create().
struct concat : public primitive {
  /// Descriptor of the primitive.
  struct primitive_desc : public quern::primitive_desc {
    primitive_desc() = default;
    /// With `allow_empty`, a failure leaves the descriptor empty.
    primitive_desc(const engine &aengine, const memory::desc &dst, int concat_dimension,
            const std::vector<memory::desc> &srcs, const primitive_attr &attr = primitive_attr(),
            bool allow_empty = false)
        : primitive_desc(aengine, dst.get(), concat_dimension, srcs, attr, allow_empty) {}
    /// The result has the type of the first source and a layout chosen from those of the sources.
    primitive_desc(const engine &aengine, int concat_dimension, const std::vector<memory::desc> &srcs,
            const primitive_attr &attr = primitive_attr(), bool allow_empty = false)
        : primitive_desc(aengine, const_quern_memory_desc_t(), concat_dimension, srcs, attr, allow_empty) {}

  private:
    primitive_desc(const engine &aengine, const_quern_memory_desc_t dst, int concat_dimension,
            const std::vector<memory::desc> &srcs, const primitive_attr &attr, bool allow_empty) {
      const std::vector<const_quern_memory_desc_t> descs = handles_of(srcs);
      quern_primitive_desc_t created = nullptr;
      accept(quern_concat_primitive_desc_create(&created, aengine.get(), dst, static_cast<int>(descs.size()),
                     concat_dimension, descs.data(), attr.get()),
              created, allow_empty);
    }
  };
  concat() = default;
  concat(const primitive_desc &pd) : primitive(pd) {}
  concat(const primitive_desc &pd, const std::vector<uint8_t> &cache_blob) : primitive(pd, cache_blob) {}
};

/// See quern_compile(). An empty target means this machine.
inline std::string compile(const std::string &line, quern_code_form_t form, const std::string &target = "") {
  quern_blob_t blob = nullptr;
  error::wrap_c_api(
          quern_compile(line.c_str(), target.empty() ? nullptr : target.c_str(), form, &blob), "could not compile");
  const void *data = nullptr;
  size_t size = 0;
  std::unique_ptr<quern_blob, quern_status_t (*)(quern_blob_t)> owner(blob, quern_blob_destroy);
  error::wrap_c_api(quern_blob_get_data(blob, &data, &size), "could not read a blob");
  return std::string(static_cast<const char *>(data), size);
}

} // namespace quern

#endif // QUERN_PRIMITIVE_HPP
