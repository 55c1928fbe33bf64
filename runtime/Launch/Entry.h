//===- Entry.h - A launch as the C interface shows it --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What quern_primitive_get_entry() hands out: an artifact's launch with functions for entries, in memory that stays where it is.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_LAUNCH_ENTRY_H
#define QUERN_RUNTIME_LAUNCH_ENTRY_H

#include "Artifact/Artifact.h"

#include "quern/quern_ext.h"

#include <deque>
#include <span>

namespace quern {

class Entry {
public:
  Entry() = default;
  Entry(const Entry &) = delete;
  Entry &operator=(const Entry &) = delete;
  /// `functions` of the artifact's entries.
  Result<void> take(const Artifact &artifact, std::span<void *const> functions);

  /// All but scratch; without a version.
  const quern_entry_t &view() const { return entry; }
  std::span<const quern_entry_step_t> steps() const { return {entry.steps, static_cast<size_t>(entry.step_count)}; }
  std::span<const quern_entry_argument_t> arguments() const { return argumentList; }

private:
  quern_entry_value_t keep(const Polynomial &polynomial);
  quern_entry_buffer_t keep(const StepBuffer &buffer);

  quern_entry_t entry{};
  std::vector<quern_entry_step_t> stepList;
  std::vector<quern_entry_argument_t> argumentList;
  std::vector<quern_entry_loop_t> loopList;
  std::vector<quern_entry_value_t> regionList;
  std::vector<quern_entry_derived_size_t> derivedList;
  std::deque<std::vector<quern_entry_factor_t>> factors; ///< of the steps that have some
  std::deque<std::vector<quern_entry_buffer_t>> buffers; ///< of the steps that name some
  std::deque<std::vector<quern_entry_term_t>> terms;
  std::deque<std::vector<uint32_t>> symbols;
};

} // namespace quern

#endif // QUERN_RUNTIME_LAUNCH_ENTRY_H
