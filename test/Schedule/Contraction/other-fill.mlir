// Checks that a contraction refuses a fill of a buffer that no product sums into. Another recipe may support both ops.
// REQUIRES: compiler
// RUN: not quern-opt %s --schedule --target=avx512_core 2>&1 | FileCheck %s
// CHECK: contraction: a fill is of a buffer that no product sums into
func.func @two(%x: memref<8x16xf32> {quern.arg = "x"}, %w: memref<16x32xf32> {quern.arg = "w"}, %y: memref<8x32xf32> {quern.arg = "y"}, %z: memref<5xf32> {quern.arg = "z"}) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<8x32xf32>)
  linalg.matmul ins(%x, %w : memref<8x16xf32>, memref<16x32xf32>) outs(%y : memref<8x32xf32>)
  linalg.fill ins(%zero : f32) outs(%z : memref<5xf32>)
  return
}
