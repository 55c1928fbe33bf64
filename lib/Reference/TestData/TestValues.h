//===- TestValues.h - Random values for test data -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Shared by the test data of all primitives.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_REFERENCE_TESTDATA_TESTVALUES_H
#define QUERN_REFERENCE_TESTDATA_TESTVALUES_H

#include "Reference/TestData/TestData.h"

namespace quern::testdata {

/// SplitMix64's output function.
uint64_t mix(uint64_t x);
/// Returns a sum of three uniform values: mean 0, standard deviation 2.
double bell(uint64_t bits);
/// Returns the largest finite value of a floating type.
double largestOf(DataType type);
/// Returns a denormal of a floating type.
double denormalOf(DataType type, uint64_t bits);
/// Returns NaN, an infinity, -0, one of the type's largest values, or a denormal of a floating type.
double specialOf(DataType type, uint64_t bits);
/// Returns an integer, which may exceed the type; small integers and the limits of types are more frequent.
double integerOf(DataType type, uint64_t bits);
/// Returns a value from 1/8 to 16. Designed: powers of two.
double scaleOf(FillKind kind, uint64_t bits);

} // namespace quern::testdata

namespace quern {

/// Fills an input of a primitive whose results are exact for any inputs.
void fillExactInput(int32_t argument, const TensorDesc &tensor, FillKind kind, uint64_t seed, void *buffer);
// One function for each primitive with its own data, in Reference/<Name>/TestData.cpp.
void fillBinaryInput(const PrimitiveDesc &desc, int32_t argument, const TensorDesc &tensor, FillKind kind,
                     uint64_t seed, void *buffer);
/// Fills the probability, the seed or the offset of dropout, which are one number each. Probabilities of dense and
/// designed data keep some elements, and designed ones scale them by a power of two; special data include probabilities
/// outside of [0, 1] and NaN.
void fillDropoutInput(int32_t argument, const TensorDesc &tensor, FillKind kind, uint64_t seed, void *buffer);
void fillGemmInput(const PrimitiveDesc &desc, int32_t argument, const TensorDesc &tensor, FillKind kind, uint64_t seed,
                   void *buffer);
void fillRnnInput(const PrimitiveDesc &desc, int32_t argument, const TensorDesc &tensor, FillKind kind, uint64_t seed,
                  void *buffer);

} // namespace quern

#endif // QUERN_REFERENCE_TESTDATA_TESTVALUES_H
