//===- Split.h - Few long rows in chunks ---------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// If rows are long and too few for the threads, each is split into chunks of equal length, and each sweep becomes a
// separate kernel over rows × chunks. A reduction writes one partial result per chunk to shared scratch; later sweeps
// combine them in order. Chunks depend only on the problem and the target, so results are bitwise identical for every
// number of threads.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_ROWS_CPU_SPLIT_H
#define QUERN_SCHEDULE_ROWS_CPU_SPLIT_H

#include <cstdint>

namespace quern::schedule::rows {

struct RowPlan;

/// The chunks of a row; by default there is one.
struct RowSplit {
  bool wanted = false;     ///< true if rows may be split: no value may then wait in a thread's scratch
  int64_t chunkLength = 0; ///< row positions of a chunk; the last chunk may be shorter
  int64_t chunks = 1;      ///< chunks of each row
};

/// Returns true if the rows of `plan`, whose lanes, vector dim and sweeps are chosen, are known to be few and long and
/// may be split: nothing is written once per row, and an operand that may share memory with a destination has the same
/// addresses.
bool shouldSplit(const RowPlan &plan);

/// Chooses the chunks of an otherwise complete plan, and the offsets of partial results in shared scratch.
void layOutSplit(RowPlan &plan);

/// Returns the time of one iteration of a sweep on one core in ns: the larger of the time for operations and for bytes.
double nsOfChunk(const RowPlan &plan, int sweep);

} // namespace quern::schedule::rows

#endif // QUERN_SCHEDULE_ROWS_CPU_SPLIT_H
