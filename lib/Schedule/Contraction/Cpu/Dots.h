//===- Dots.h - Computing one step along K --------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A step multiplies one element of lhs by a vector of rhs, or all elements that are packed in a lane. If the target has
// an instruction for the packed elements, the step is one vector.contract, which Transforms/X86/ExpandDots turns into
// it; otherwise each packed element is converted and multiplied separately.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_CPU_DOTS_H
#define QUERN_SCHEDULE_CONTRACTION_CPU_DOTS_H

#include "Schedule/Contraction/Chain.h"
#include "Schedule/Contraction/Contraction.h"
#include "Transforms/X86/MatrixInstructions.h"

namespace quern::schedule::contractions {

enum class Dot {
  MulAdd, ///< each element: converted, multiplied, added
  Fma,    ///< each element: converted, fused multiply-add
  /// Fma of f32 rounded to bf16, for layouts without the pairs that Rounded needs: which products round does not depend
  /// on the layout.
  RoundedFma,
  Pairs,   ///< two bf16 into an f32
  Rounded, ///< two f32, rounded to bf16, into an f32; lhs may be bf16
  Quads,   ///< four by four bytes, of signs that the target can multiply, into an i32
  /// Four by four bytes, after 128 is added to signed bytes of lhs, or subtracted from unsigned ones. The correction of
  /// the sums is the same for all rows.
  Shifted,
  PairPatches,  ///< two rows by two columns, four bf16 of each, into f32
  BytePatches,  ///< same for eight bytes, of the same sign or unsigned by signed, into i32
  Halves,       ///< four bytes of any sign, widened to 16 bits and multiplied in pairs, into an i32
  PairMatrices, ///< Pairs, 16 steps at once in matrix registers
  ByteMatrices, ///< four bytes of any sign into an i32, in matrix registers
};

/// Chooses the computation by vectors.
Dot chooseDot(const Product &product, const ContractionStrategy &strategy);
/// Returns the computation by matrix registers, if there is one: both factors are packed in pairs or fours, and lhs is
/// contiguous along K.
std::optional<Dot> chooseMatrixDot(const Product &product, Dot byVectors);
/// Returns true if both factors can be copied as bf16 pairs, each made of two steps along K.
bool makesPairs(const Product &product, const ContractionStrategy &strategy);
/// Interleaves the lanes of two vectors of a factor's elements as pairs of bf16.
mlir::Value makePairs(mlir::OpBuilder &b, const Product &product, mlir::Value first, mlir::Value second);
/// Applies the conversions of a factor to a vector of its elements.
mlir::Value convert(mlir::OpBuilder &b, const Product::Factor &factor, mlir::Value v);
/// Returns the element types that the instruction of a matrix product takes.
matrices::Elements elementsOf(const Product &product);
const char *nameOf(Dot dot);
inline bool isPackedDot(Dot dot) { return dot >= Dot::Pairs; }
/// Returns true if the sums of two rows are interleaved while they are accumulated (see Patches.cpp).
inline bool isPatch(Dot dot) { return dot == Dot::PairPatches || dot == Dot::BytePatches; }
inline int64_t rowsOfDot(Dot dot) { return isPatch(dot) ? 2 : 1; }
/// Returns true if f32 elements are rounded to bf16 before they are multiplied.
inline bool isRounded(Dot dot) { return dot == Dot::Rounded || dot == Dot::RoundedFma; }

/// Returns the number of registers that one vector of rhs occupies during a step.
int64_t registersOfRhs(const Product &product, Dot dot);

/// Converts a loaded vector of rhs (for patches also half of one, which is a register) to the operands of the dots of a
/// step: the packed elements unchanged, or one converted vector for each packed element.
llvm::SmallVector<mlir::Value, 4> prepareRhs(mlir::OpBuilder &b, const Product &product, Dot dot, mlir::Value loaded,
                                             int64_t lanes);

/// Returns a lane of rhs with the elements that are not multiplied set to zero.
mlir::Value keepTaken(mlir::OpBuilder &b, const Product &product, mlir::Value packed, int64_t lanes);

/// Converts the loaded lhs elements of a step to the same form.
llvm::SmallVector<mlir::Value, 4> prepareLhs(mlir::OpBuilder &b, const Product &product, Dot dot,
                                             llvm::ArrayRef<mlir::Value> loaded, int64_t lanes);

/// Like prepareLhs(), for several steps whose elements are contiguous. prepareLhsOfSteps() converts the elements of all
/// steps as one vector; lhsOfStep() extracts the elements of one step.
mlir::Value prepareLhsOfSteps(mlir::OpBuilder &b, const Product &product, Dot dot, mlir::Value loaded);
llvm::SmallVector<mlir::Value, 4> lhsOfStep(mlir::OpBuilder &b, const Product &product, Dot dot, mlir::Value prepared,
                                            int64_t step, int64_t lanes);

/// Combines the packed elements of two rows, each loaded for the same steps, into the patch operand of one step.
mlir::Value patchOfLhs(mlir::OpBuilder &b, const Product &product, mlir::Value first, mlir::Value second, int64_t step);
/// The sums of two rows as two vectors of patches, [[row 0, row 1] of columns 0 and 1], and so on; and the inverse.
using RowPair = std::pair<mlir::Value, mlir::Value>;
RowPair patchesOf(mlir::OpBuilder &b, mlir::Location loc, RowPair rows);
RowPair rowsOf(mlir::OpBuilder &b, mlir::Location loc, RowPair patches);
mlir::Value accumulatePatches(mlir::OpBuilder &b, const Product &product, mlir::Value lhs, mlir::Value rhs,
                              mlir::Value patches);

/// Returns the value that Dot::Shifted adds to every element of lhs, in the form of prepareLhs().
llvm::SmallVector<mlir::Value, 4> prepareShift(mlir::OpBuilder &b, const Product &product, int64_t lanes);

mlir::Value accumulate(mlir::OpBuilder &b, const Product &product, Dot dot, llvm::ArrayRef<mlir::Value> lhs,
                       llvm::ArrayRef<mlir::Value> rhs, mlir::Value sum);

} // namespace quern::schedule::contractions

#endif // QUERN_SCHEDULE_CONTRACTION_CPU_DOTS_H
