//===- quern/quern_handle.hpp - Errors, handles, engine and stream in C++ -===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The C++ API is header-only, on top of the C API, and needs C++17. Classes are reference-counted handles: copies share
// one object. A failure throws quern::error with the status and the library's message. The thread-safety is that of the
// C functions.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_HANDLE_HPP
#define QUERN_HANDLE_HPP

#include "quern/quern.h"

#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace quern {

/// Exception that a failing call throws. what() returns the action followed by the library's message.
struct error : public std::exception {
  quern_status_t status;         ///< status of the call
  const char *message = nullptr; ///< the text that what() returns

  /// Creates an error with its status and text.
  error(quern_status_t status, std::string text)
      : status(status), text(std::make_shared<const std::string>(std::move(text))) {
    message = this->text->c_str();
  }
  /// Returns the text.
  const char *what() const noexcept override { return message; }

  /// Throws an error with `action` if `status` is not quern_success.
  static void wrap_c_api(quern_status_t status, const char *action) {
    if (status != quern_success)
      throw error(status, std::string(action) + ": " + quern_get_last_error_message());
  }

private:
  std::shared_ptr<const std::string> text; ///< shared by copies, so copying an error cannot fail
};

/// Statuses of calls that return one instead of throwing; see quern_status_t.
enum class status {
  success = quern_success,
  out_of_memory = quern_out_of_memory,
  invalid_arguments = quern_invalid_arguments,
  unimplemented = quern_unimplemented,
  last_impl_reached = quern_last_impl_reached,
  runtime_error = quern_runtime_error,
  not_required = quern_not_required,
  internal_error = quern_internal_error
};

template <typename T> struct handle_traits;

/// A reference-counted C handle.
template <typename T, typename traits = handle_traits<T>> class handle {
public:
  handle() = default;
  /// Takes ownership of `object`; if `weak`, only refers to it.
  explicit handle(T object, bool weak = false) { reset(object, weak); }
  /// Replaces the object like the constructor.
  void reset(T object, bool weak = false) {
    if (weak)
      data.reset(object, [](T) {});
    else
      data.reset(object, [](T owned) { traits::destructor(owned); });
  }
  /// Returns the C handle. Throws if empty, unless `allow_empty`.
  T get(bool allow_empty = false) const {
    if (!data && !allow_empty)
      throw error(quern_invalid_arguments, "object is not initialized");
    return data.get();
  }
  /// Returns the C handle; null if empty.
  explicit operator T() const { return get(true); }
  /// Returns true if not empty.
  explicit operator bool() const { return get(true) != nullptr; }
  /// Returns true if both share one object.
  bool operator==(const handle &other) const { return data == other.data; }
  /// Returns true if they do not share one object.
  bool operator!=(const handle &other) const { return !(*this == other); }

private:
  std::shared_ptr<std::remove_pointer_t<T>> data;
};

template <> struct handle_traits<quern_engine_t> {
  static quern_status_t destructor(quern_engine_t p) { return quern_engine_destroy(p); }
};
template <> struct handle_traits<quern_stream_t> {
  static quern_status_t destructor(quern_stream_t p) { return quern_stream_destroy(p); }
};

/// A CPU or a device.
struct engine : public handle<quern_engine_t> {
  /// Kinds of engines; see quern_engine_kind_t.
  enum class kind { any = quern_any_engine, cpu = quern_cpu, gpu = quern_gpu };
  using handle::handle;
  /// See quern_engine_create().
  engine(kind akind, size_t index) {
    quern_engine_t created = nullptr;
    error::wrap_c_api(quern_engine_create(&created, static_cast<quern_engine_kind_t>(akind), index),
            "could not create an engine");
    reset(created);
  }
  /// See quern_engine_get_count().
  static size_t get_count(kind akind) { return quern_engine_get_count(static_cast<quern_engine_kind_t>(akind)); }
  /// Returns the kind of the engine.
  kind get_kind() const {
    quern_engine_kind_t value;
    error::wrap_c_api(quern_engine_get_kind(get(), &value), "could not get the kind of an engine");
    return static_cast<kind>(value);
  }
};

/// A queue of executions on an engine.
struct stream : public handle<quern_stream_t> {
  /// Flags of a stream; see quern_stream_flags_t.
  enum class flags : unsigned {
    in_order = quern_stream_in_order,
    out_of_order = quern_stream_out_of_order,
    default_flags = quern_stream_default_flags,
    profiling = quern_stream_profiling
  };
  using handle::handle;
  /// See quern_stream_create().
  explicit stream(const engine &aengine, flags aflags = flags::default_flags) {
    quern_stream_t created = nullptr;
    error::wrap_c_api(
            quern_stream_create(&created, aengine.get(), static_cast<unsigned>(aflags)), "could not create a stream");
    reset(created);
  }
  /// Returns the engine of the stream.
  engine get_engine() const {
    quern_engine_t found = nullptr;
    error::wrap_c_api(quern_stream_get_engine(get(), &found), "could not get the engine of a stream");
    return engine(found, true);
  }
  /// Waits until all executions have finished.
  stream &wait() {
    error::wrap_c_api(quern_stream_wait(get()), "could not wait on a stream");
    return *this;
  }
};

/// Combines flags.
inline stream::flags operator|(stream::flags a, stream::flags b) {
  return static_cast<stream::flags>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

/// See quern_fpmath_mode_t.
enum class fpmath_mode {
  strict = quern_fpmath_mode_strict,
  bf16 = quern_fpmath_mode_bf16,
  f16 = quern_fpmath_mode_f16,
  any = quern_fpmath_mode_any,
  tf32 = quern_fpmath_mode_tf32
};

/// See quern_set_default_fpmath_mode().
inline void set_default_fpmath_mode(fpmath_mode mode) {
  error::wrap_c_api(quern_set_default_fpmath_mode(static_cast<quern_fpmath_mode_t>(mode)),
          "could not set the default fpmath mode");
}
/// See quern_get_default_fpmath_mode().
inline fpmath_mode get_default_fpmath_mode() {
  quern_fpmath_mode_t mode;
  error::wrap_c_api(quern_get_default_fpmath_mode(&mode), "could not get the default fpmath mode");
  return static_cast<fpmath_mode>(mode);
}
/// See quern_set_num_threads().
inline void set_num_threads(int count) {
  error::wrap_c_api(quern_set_num_threads(count), "could not set the number of threads");
}
/// See quern_get_num_threads().
inline int get_num_threads() {
  int count = 0;
  error::wrap_c_api(quern_get_num_threads(&count), "could not get the number of threads");
  return count;
}
/// See quern_version().
inline const quern_version_t *version() { return quern_version(); }

} // namespace quern

#endif // QUERN_HANDLE_HPP
