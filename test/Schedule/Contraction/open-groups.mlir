// Input: blocked factors with an open K but no open number of panels: with a known number of panels, and with columns
// that overlap the groups along K. Checks that the contraction recipe refuses them, and that the results are correct if
// another recipe accepts them.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx2 | FileCheck %s --implicit-check-not=contraction:
// RUN: quern-opt %s --check --sizes=33,40,33 --target=avx2
// RUN: not quern-opt %s --quern-schedule-contraction=target=avx2 2>&1 | FileCheck %s --check-prefix=REFUSED
// CHECK: plan = <rows
// REFUSED: a product
#x = affine_map<(n, p, c, k) -> (n, k)>
#w = affine_map<(n, p, c, k) -> (p, k, c)>
#sums = affine_map<(n, p, c, k) -> (n, p * 8 + c)>
!x = memref<7x?xf32, strided<[?, 1]>>
!w = memref<3x?x8xf32, strided<[800, 8, 1]>>
func.func @known(%x: !x, %w: !w, %sums: memref<7x24xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%sums : memref<7x24xf32>)
  linalg.generic {indexing_maps = [#x, #w, #sums], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : !x, !w) outs(%sums : memref<7x24xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  return
}
