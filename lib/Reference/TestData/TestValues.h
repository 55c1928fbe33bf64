//===- TestValues.h - What test data is drawn from -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Shared by the test data of each primitive.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_REFERENCE_TESTDATA_TESTVALUES_H
#define QUERN_REFERENCE_TESTDATA_TESTVALUES_H

#include "Reference/TestData/TestData.h"

namespace quern::testdata {

/// SplitMix64's output function.
uint64_t mix(uint64_t x);
/// A sum of three uniform values: mean 0, standard deviation 2.
double bell(uint64_t bits);
/// The largest finite value of a floating type.
double largestOf(DataType type);
/// A denormal of a floating type.
double denormalOf(DataType type, uint64_t bits);
/// NaN, infinities, -0, the type's largest values, and denormals; of a floating type.
double specialOf(DataType type, uint64_t bits);
/// Of the whole type, small ones and the ends of types more often than others.
double integerOf(DataType type, uint64_t bits);
/// From 1/8 to 16, never 0. Designed: powers of two.
double scaleOf(FillKind kind, uint64_t bits);

} // namespace quern::testdata

namespace quern {

/// Of primitives whose results are exact, whatever they are given.
void fillExactInput(int32_t argument, const TensorDesc &tensor, FillKind kind, uint64_t seed, void *buffer);
// One function for each primitive with data of its own, in Reference/<Name>/TestData.cpp.
void fillBinaryInput(const PrimitiveDesc &desc, int32_t argument, const TensorDesc &tensor, FillKind kind,
                     uint64_t seed, void *buffer);
/// The probability, the seed or the offset of dropout: one number. Dense and designed data have probabilities that keep
/// some elements, and designed ones scale these by a power of two; special data have those beyond 0 and 1, and NaN.
void fillDropoutInput(int32_t argument, const TensorDesc &tensor, FillKind kind, uint64_t seed, void *buffer);
void fillGemmInput(const PrimitiveDesc &desc, int32_t argument, const TensorDesc &tensor, FillKind kind, uint64_t seed,
                   void *buffer);
void fillRnnInput(const PrimitiveDesc &desc, int32_t argument, const TensorDesc &tensor, FillKind kind, uint64_t seed,
                  void *buffer);

} // namespace quern

#endif // QUERN_REFERENCE_TESTDATA_TESTVALUES_H
