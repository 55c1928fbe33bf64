//===- Frame.h - Memory objects for one execution ---------------*- C++ -*-===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The memory objects for an execution with a problem's own descriptors. Does not depend on Python.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PYTHON_FRAME_H
#define QUERN_PYTHON_FRAME_H

#include "quern/quern.h"

#include <vector>

namespace quern::python {

/// A memory object for each of some arguments. Consecutive executions set their buffers.
class Frame {
public:
  Frame() = default;
  Frame(Frame &&other) noexcept : list(std::move(other.list)) { other.list.clear(); }
  Frame &operator=(Frame &&other) noexcept {
    list.swap(other.list);
    return *this;
  }
  Frame(const Frame &) = delete;
  Frame &operator=(const Frame &) = delete;
  ~Frame() {
    for (const quern_exec_arg_t &argument : list)
      quern_memory_destroy(argument.memory);
  }

  quern_status_t add(quern_engine_t engine, const_quern_primitive_desc_t problem, int index) {
    const_quern_memory_desc_t desc = quern_primitive_desc_query_md(problem, quern_query_exec_arg_md, index);
    quern_memory_t memory = nullptr;
    const quern_status_t status = quern_memory_create(&memory, desc, engine, QUERN_MEMORY_NONE);
    if (status == quern_success)
      list.push_back({index, memory});
    return status;
  }

  quern_status_t set(size_t position, void *data) { return quern_memory_set_data_handle(list[position].memory, data); }

  quern_status_t execute(const_quern_primitive_t primitive, quern_stream_t stream) const {
    return quern_primitive_execute(primitive, stream, static_cast<int>(list.size()), list.data());
  }

  const std::vector<quern_exec_arg_t> &arguments() const { return list; }

private:
  std::vector<quern_exec_arg_t> list;
};

} // namespace quern::python

#endif // QUERN_PYTHON_FRAME_H
