//===- Transforms.h - Target-independent IR-to-IR passes ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each pass is a plain function, for the compiler, which runs a fixed list without a pass manager, and a registered
// pass, for quern-opt and embedders. Only lowerNaively() is not registered. Passes depend only on the IR and the
// target, never on descriptors or primitive names.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TRANSFORMS_TRANSFORMS_H
#define QUERN_TRANSFORMS_TRANSFORMS_H

#include "Desc/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace quern {

/// Returns true if a multiply-add is one instruction.
inline bool hasFma(const Target &target) { return !target.isX86() || target.has(CpuIsa::Avx2); }
/// Returns true if instructions convert between f16 and f32.
inline bool hasHalfConversions(const Target &target) { return target.isAArch64() || target.has(CpuIsa::Avx2); }
/// Returns true if an instruction multiplies and adds groups of four bytes that are all signed or all unsigned.
inline bool hasSameSignDots(const Target &target) { return target.has(CpuIsa::NeonDotprod) || target.has(CpuIsa::Sve); }

/// Description of the option of passes that expand operations for a target.
constexpr const char *targetOptionText = "Target, such as avx2, neon_bf16, sve:vl=256 or spirv64";

enum class ExpMethod {
  Polynomial, ///< has an error below one ULP
  /// Uses 32 entries and degree 2, in fewer instructions. The error is below 2.5 ULP for |x| <= 12, below 6 ULP at the
  /// ends of the range. Only for f32 on AVX-512.
  Table,
};

/// Replaces exp, exp2, expm1, tanh, log, log2, log1p, erf, erfc and powf on f32 and f64 (scalars and vectors of rank 1,
/// any length) by arithmetic that needs no library, accurate to 3 ULP; also fma if the target has none. Denormal
/// arguments and results, zeros, infinities and NaN are handled. A target without f64 keeps powf of f32, because its
/// expansion computes in f64. An exp or expm1 with the relaxation `nonpositive` promises an argument <= 0 or NaN, and
/// is cheaper; an exp with fastmath<afn> may use ExpMethod::Table; an exp with the relaxation `unrounded` uses the two
/// terms of its argument, a sum, separately; the second must be tiny. Fails with a diagnostic on a math operation that
/// has neither an expansion nor an instruction. The result requires round-to-nearest and denormals.
mlir::LogicalResult expandMath(mlir::func::FuncOp function, const Target &target, ExpMethod exp);

/// Removes bf16, f16, 8-bit floats, f4E2M1FN and i4 from a function: they become i16 and i8 in memory and registers,
/// and conversions become integer arithmetic (F16C if the target has it). Rounds once, to nearest even, also from f64;
/// NaN stays NaN if the type has one; denormals are kept; f4E2M1FN saturates, values too large for f8E4M3FN become NaN,
/// and f8E8M0FNU stores only the exponent. The AVX-512 BF16 conversion, which flushes denormals, is used for vectors
/// without any. Fails with a diagnostic on arithmetic in a narrow type.
mlir::LogicalResult expandNarrowFloats(mlir::func::FuncOp function, const Target &target);

/// Shortens the operations that round a float to the nearest integer of a range (clamp, round to even, convert; NaN
/// becomes 0), on vectors that fill a register. The result is the same.
void expandSaturation(mlir::func::FuncOp function, const Target &target);

/// Replaces sums of four adjacent bytes (an add-reduction along dim 1 of Nx4 words that a vector of bytes was extended
/// and cast to) by instructions on the bytes, if these fill a register. The result is the same.
void expandByteSums(mlir::func::FuncOp function, const Target &target);

/// Replaces products of elements that are packed in 32-bit lanes (an adding vector.contract of k or lanes x k, lanes x
/// k and lanes) by the target's instruction for a register: pairs of bf16, which truncf may have rounded from f32,
/// groups of four bytes (unsigned by signed; on AArch64 also of equal signs), or pairs extended from 16 bits. Also
/// replaces products of two rows by patches of two columns, by separate operations if the target has no instruction.
/// The instruction determines the order of a lane's sum, and pairs of bf16 flush denormals.
void expandDots(mlir::func::FuncOp function, const Target &target);

/// Provides the oracle of a schedule: turns a problem (linalg on static strided memrefs) in place into the kernel
/// `@<name>_kernel` that MLIR's linalg-to-loops creates, one scalar at a time. Its iteration space is 1; intermediates
/// are in scratch at problem size. With `widen`, values that the problem computes in f32 are computed and kept in f64,
/// and only its results are rounded.
mlir::LogicalResult lowerNaively(mlir::func::FuncOp problem, bool widen);

std::unique_ptr<mlir::Pass> createExpandMathPass();

/// Registers the expansions above as quern-expand-math and so on, as well as quern-pair-elements, quern-unpack-elements
/// (PackedElements.h) and quern-bind-shared-buffers (SharedBuffers.h). Idempotent.
void registerTransformPasses();

} // namespace quern

#endif // QUERN_TRANSFORMS_TRANSFORMS_H
