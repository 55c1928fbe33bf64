// Input: gates whose sums are separated by an open stride. Checks that no accumulator is addressed by a multiple of
// that stride, which is not a known number.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx2 | FileCheck %s
// RUN: quern-opt %s --schedule --target=spirv64 | FileCheck %s
// RUN: quern-opt %s --check --target=avx512_core --sizes=48,16
// RUN: quern-opt %s --check --sizes=60,20 --target=avx2
// RUN: not quern-opt %s --quern-schedule-contraction=target=avx2 2>&1 | FileCheck %s --check-prefix=REFUSED
// CHECK: plan = <rows
// CHECK-NOT: arith.constant -
// REFUSED: a product has open sizes other than its rows', its columns' and those along K
#lhs = affine_map<(i, g, j, k) -> (i, k)>
#rhs = affine_map<(i, g, j, k) -> (k, g, j)>
#sum = affine_map<(i, g, j, k) -> (i, g, j)>
func.func @gates(%lhs: memref<16x8xf32>, %rhs: memref<8x3x16xf32>, %sum: memref<16x3x16xf32, strided<[?, ?, 1]>>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%sum : memref<16x3x16xf32, strided<[?, ?, 1]>>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #sum], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%lhs, %rhs : memref<16x8xf32>, memref<8x3x16xf32>) outs(%sum : memref<16x3x16xf32, strided<[?, ?, 1]>>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b fastmath<contract> : f32
    %s = arith.addf %c, %p fastmath<contract, reassoc> : f32
    linalg.yield %s : f32
  }
  return
}
