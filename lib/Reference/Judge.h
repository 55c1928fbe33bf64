//===- Judge.h - Is a result right? --------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Compares an output buffer with the exact values of a reference. Thresholds follow oneDNN's conformance tests for
// designed data, whose exact answer is known to the threshold, and add a criterion for dense random data, where errors
// of long sums show. An error is reported in units of its threshold: 1 or less is right. Where a result must be exact
// (Criterion), an error is 0 or infinite.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_REFERENCE_JUDGE_H
#define QUERN_REFERENCE_JUDGE_H

#include "Reference/Reference.h"

namespace quern {

/// Designed: |got - exact| <= threshold * |exact|, absolute where |exact| < 1e-5.
/// Dense: |got - exact| <= threshold * max(|exact|, magnitude).
/// Where scales or post-ops follow, that is the tolerance of what they start from; ReferenceOutput::range carries it
/// through them. An output of 16 bits or less is what some value that close rounds to, or (designed data) differs from
/// the rounded exact value by less than eps(f32).
enum class DataKind { Designed, Dense };

/// Whether results of a primitive are exact: every operation rounds in an order that its page gives.
bool hasExactResults(PrimitiveKind kind);

/// The threshold of the arithmetic behind an output of this problem: 0 where results are exact; of softmax 10 eps(f32),
/// 10 eps(f64) if the output is f64, times 5 for a logarithm, times 4 for backward softmax; of an RNN 4 eps(f32) log2(K
/// T), K the number of products in a gate, times 2 where directions are summed. Narrow states of RNNs and gradients are
/// what ReferenceOutput::possibleOf says.
double thresholdOf(const PrimitiveDesc &desc, DataType outputType);

struct Verdict {
  bool isRight = true;
  double worst = 0; ///< largest error in units of its threshold; infinity where NaN or infinity is misplaced
  /// Over the elements that are finite on both sides; of integers, from the rounded exact value.
  double maxAbsError = 0;
  int64_t wrong = 0;            ///< how many elements exceed their threshold
  int64_t position = -1;        ///< of the worst element, row-major; -1: no element
  double expected = 0, got = 0; ///< there; `expected` is not rounded
  double threshold = 0;

  /// "worst error 0.31 of the threshold 1.19e-06 at [3, 17]: got 0.25, expected 0.2500001".
  std::string describe(const TensorDesc &desc) const;
};

/// `results` has the buffers of the outputs by argument, among them that of `expected`.
Verdict judge(const PrimitiveDesc &desc, const ReferenceOutput &expected, const ReferenceInputs &results,
              DataKind data);
/// `buffer` holds `expected.desc`.
Verdict judge(const PrimitiveDesc &desc, const ReferenceOutput &expected, const void *buffer, DataKind data);

} // namespace quern

#endif // QUERN_REFERENCE_JUDGE_H
