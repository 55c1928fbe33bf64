//===- Judge.h - Comparison of results with a reference -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Compares an output buffer with the exact values of a reference. For designed data, the thresholds are those of
// oneDNN's conformance tests; dense random data, whose long sums accumulate errors, has an additional criterion. Errors
// are reported in units of their threshold: at most 1 is correct. If a result must be exact (Criterion), its error is 0
// or infinite.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_REFERENCE_JUDGE_H
#define QUERN_REFERENCE_JUDGE_H

#include "Reference/Reference.h"

namespace quern {

/// Criteria for an element:
///   Designed: |got - exact| <= threshold * |exact|, or <= threshold if |exact| < 1e-5.
///   Dense: |got - exact| <= threshold * max(|exact|, magnitude), or a smallest denormal for each term if greater.
/// If scales or post-ops follow, this is the tolerance of the value before them, and ReferenceOutput::range propagates
/// it. An output that is neither f32 nor f64 must be the rounding of some value within the tolerance or, for designed
/// data, differ from the rounded exact value by less than eps(f32).
enum class DataKind { Designed, Dense };

/// Returns true if the results of a primitive are exact, because its page specifies the order of all roundings.
bool hasExactResults(PrimitiveKind kind);

/// Returns the threshold for an output of this problem: 0 if results are exact, otherwise 10 eps(f32), or 10 eps(f64)
/// if the output is f64. softmax: times 5 for a logarithm; times 4 for backward. RNN: 4 eps(f32) ceil(log2(K T)), where
/// K is the number of products per element of a gate; times 2 if directions are summed. An MLIR function: eps of the
/// output's type. Narrow states of RNNs and their gradients are judged by ReferenceOutput::possibleOf instead.
double thresholdOf(const PrimitiveDesc &desc, DataType outputType);

struct Verdict {
  bool isRight = true;
  double worst = 0; ///< largest error in units of its threshold; infinity if NaN or infinity is misplaced
  /// Largest difference over the elements that are finite on both sides; for integers, from the rounded exact value.
  double maxAbsError = 0;
  int64_t wrong = 0;            ///< number of elements that exceed their threshold
  int64_t position = -1;        ///< position of the worst element, row-major; -1: no elements
  double expected = 0, got = 0; ///< values at `position`; `expected` is not rounded
  double threshold = 0;

  /// Returns a text such as "worst error 0.31 of the threshold 1.19e-06 at [3, 17]: got 0.25, expected 0.2500001".
  std::string describe(const TensorDesc &desc) const;
};

/// Compares the results for one output with the expected ones. `results` has the buffers of all outputs by argument.
Verdict judge(const PrimitiveDesc &desc, const ReferenceOutput &expected, const ReferenceInputs &results,
              DataKind data);
/// Like the function above, for a single output, in a buffer with the layout `expected.desc`.
Verdict judge(const PrimitiveDesc &desc, const ReferenceOutput &expected, const void *buffer, DataKind data);

} // namespace quern

#endif // QUERN_REFERENCE_JUDGE_H
