//===- Dots.h - How one step along K is computed -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A step multiplies one element of lhs with a vector of rhs, or as many elements as lie packed in a lane. Where the
// target has an instruction for what is packed, the step is one vector.contract, which Transforms/X86/ExpandDots
// turns into it; elsewhere each of the packed elements is converted and multiplied by itself.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_DOTS_H
#define QUERN_SCHEDULE_CONTRACTION_DOTS_H

#include "Schedule/Contraction/Chain.h"
#include "Schedule/Contraction/Contraction.h"
#include "Transforms/X86/MatrixInstructions.h"

namespace quern::contractions {

enum class Dot {
  MulAdd, ///< each element: converted, multiplied, added
  Fma,    ///< each element: converted, multiplied and added at once
  /// Fma of f32 rounded to bf16, which Rounded gives where pairs lie together: what a product rounds follows from no
  /// layout.
  RoundedFma,
  Pairs,   ///< two bf16 into an f32
  Rounded, ///< two f32, rounded to bf16, into an f32; or bf16 of lhs
  Quads,   ///< four and four bytes, of signs that the target multiplies, into an i32
  /// Four and four bytes: those of lhs plus 128, unsigned, where they are signed, and minus 128 otherwise; what that
  /// adds to a sum is the same for all rows.
  Shifted,
  PairPatches,  ///< two rows by two columns, four bf16 of each, into f32
  BytePatches,  ///< likewise eight bytes, of the same sign or unsigned by signed, into i32
  Halves,       ///< four bytes of any kind, widened to 16 bits and multiplied in pairs, into an i32
  PairMatrices, ///< Pairs, 16 steps at once in registers of a matrix
  ByteMatrices, ///< four bytes of any kind into an i32, likewise
};

/// By vectors.
Dot chooseDot(const Product &product, const ContractionStrategy &strategy);
/// By matrices, if they can: what is packed as pairs or fours in both factors, and lies side by side along K in lhs.
std::optional<Dot> chooseMatrixDot(const Product &product, Dot byVectors);
/// Whether copies of both factors can be of bf16 in pairs, made of two steps along K.
bool makesPairs(const Product &product, const ContractionStrategy &strategy);
/// The lanes of two vectors of a factor's elements, in pairs of bf16.
mlir::Value makePairs(mlir::OpBuilder &b, const Product &product, mlir::Value first, mlir::Value second);
/// A vector of a factor's elements as its conversions make them.
mlir::Value convert(mlir::OpBuilder &b, const Product::Factor &factor, mlir::Value v);
/// What the instruction of a matrix product wants to know.
matrices::Elements elementsOf(const Product &product);
const char *nameOf(Dot dot);
inline bool isPackedDot(Dot dot) { return dot >= Dot::Pairs; }
/// Whether sums are those of pairs of rows while they are added to (see Patches.cpp).
inline bool isPatch(Dot dot) { return dot == Dot::PairPatches || dot == Dot::BytePatches; }
inline int64_t rowsOfDot(Dot dot) { return isPatch(dot) ? 2 : 1; }
/// Whether elements of f32 are rounded to bf16 on the way.
inline bool isRounded(Dot dot) { return dot == Dot::Rounded || dot == Dot::RoundedFma; }

/// Vector registers that one vector of rhs takes during a step.
int64_t registersOfRhs(const Product &product, Dot dot);

/// A vector of rhs, loaded (for patches also a half of one, which is a register), as the dots of a step want it: what
/// is packed as it is, or one converted vector for each packed element.
llvm::SmallVector<mlir::Value, 4> prepareRhs(mlir::OpBuilder &b, const Product &product, Dot dot, mlir::Value loaded,
                                             int64_t lanes);

/// The elements of a lane of rhs that are multiplied, the others zero.
mlir::Value keepTaken(mlir::OpBuilder &b, const Product &product, mlir::Value packed, int64_t lanes);

/// The elements of lhs of a step, loaded, in the same form.
llvm::SmallVector<mlir::Value, 4> prepareLhs(mlir::OpBuilder &b, const Product &product, Dot dot,
                                             llvm::ArrayRef<mlir::Value> loaded, int64_t lanes);

/// The same of several steps whose elements lie side by side: what is loaded of all, as one vector that dots want, and
/// of that the elements of a step.
mlir::Value prepareLhsOfSteps(mlir::OpBuilder &b, const Product &product, Dot dot, mlir::Value loaded);
llvm::SmallVector<mlir::Value, 4> lhsOfStep(mlir::OpBuilder &b, const Product &product, Dot dot, mlir::Value prepared,
                                            int64_t step, int64_t lanes);

/// Of two rows, each of which has what is packed at the same steps, those of one, as patches want them.
mlir::Value patchOfLhs(mlir::OpBuilder &b, const Product &product, mlir::Value first, mlir::Value second, int64_t step);
/// The sums of two rows as two vectors of patches, [[row 0, row 1] of columns 0 and 1], and so on; and back.
using RowPair = std::pair<mlir::Value, mlir::Value>;
RowPair patchesOf(mlir::OpBuilder &b, mlir::Location loc, RowPair rows);
RowPair rowsOf(mlir::OpBuilder &b, mlir::Location loc, RowPair patches);
/// patches + lhs · rhs.
mlir::Value accumulatePatches(mlir::OpBuilder &b, const Product &product, mlir::Value lhs, mlir::Value rhs,
                              mlir::Value patches);

/// What Dot::Shifted adds to every element of lhs, in the form of prepareLhs().
llvm::SmallVector<mlir::Value, 4> prepareShift(mlir::OpBuilder &b, const Product &product, int64_t lanes);

/// sum + lhs · rhs, lane by lane.
mlir::Value accumulate(mlir::OpBuilder &b, const Product &product, Dot dot, llvm::ArrayRef<mlir::Value> lhs,
                       llvm::ArrayRef<mlir::Value> rhs, mlir::Value sum);

} // namespace quern::contractions

#endif // QUERN_SCHEDULE_CONTRACTION_DOTS_H
