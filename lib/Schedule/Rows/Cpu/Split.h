//===- Split.h - Few long rows in chunks ---------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Where the rows are too few for the threads and long, each is cut into chunks of one length, and each sweep becomes a
// kernel of its own over rows × chunks. A reduction leaves one partial result for each chunk in shared scratch; whoever
// needs it in a later sweep combines them in their order. Chunks depend on the problem and the target alone: results
// are the same bits for every number of threads.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_ROWS_CPU_SPLIT_H
#define QUERN_SCHEDULE_ROWS_CPU_SPLIT_H

#include <cstdint>

namespace quern::rows {

struct RowPlan;

/// The cut of a row; not cut by default.
struct RowSplit {
  bool wanted = false;     ///< nothing may wait in scratch of a thread from sweep to sweep
  int64_t chunkLength = 0; ///< row positions; the last chunk may be shorter
  int64_t chunks = 1;      ///< of each row
};

/// Whether the rows of `plan`, whose lanes, vector dim and sweeps are chosen, are known to be few and long, and may
/// be cut: nothing is written once per row, and no operand that may be a destination's memory is read elsewhere than
/// that destination is written.
bool shouldSplit(const RowPlan &plan);

/// Chooses the chunks of a plan that is complete but for them, and gives the reductions their places in shared scratch.
void layOutSplit(RowPlan &plan);

/// What one iteration of a sweep takes on one core, in ns: its operations, or its bytes where they are more.
double nsOfChunk(const RowPlan &plan, int sweep);

} // namespace quern::rows

#endif // QUERN_SCHEDULE_ROWS_CPU_SPLIT_H
