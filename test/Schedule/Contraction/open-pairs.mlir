// Input: a product of bf16 with open sizes and plain weights. Checks that on targets with an instruction for pairs of
// bf16, pairs are built once, from two rows of weights, into the copy that all rows of a chunk read; for few rows in
// registers; and that after the last whole pair one row is paired with zeros. On other targets the copy is f32.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core_bf16 | FileCheck %s --implicit-check-not=linalg.
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s --check-prefix=WIDENED
// RUN: quern-opt %s --check --sizes=7,33,40,33,50,60,7,50,50
// RUN: quern-opt %s --check --sizes=200,301,301,301,130,130,200,130,131
// RUN: quern-opt %s --check --sizes=3,1,1,1,64,64,3,64,64
// RUN: quern-opt %s --check --sizes=200,301,301,301,130,130,200,130,131 --target=avx2
// CHECK: plan = <contraction, rows = "?", columns = "?", products = 1, dot = "dots of bf16 pairs", accumulators = 1, {{.*}}rhs = "copied in pairs", copied_steps = {{[0-9]+}}, long_steps = {{[0-9]+}}, few_rows = 8, rhs_of_few_rows = "read in place", wide_sums>
// CHECK-COUNT-4: memref.prefetch
// CHECK: arith.shli {{.*}} : vector<16xi32>
// CHECK: vector.contract
// WIDENED: products = 1, dot = "fma", accumulators = 1, {{.*}}rhs = "copied", copied_steps =
#x = affine_map<(n, o, k) -> (n, k)>
#w = affine_map<(n, o, k) -> (k, o)>
#sums = affine_map<(n, o, k) -> (n, o)>
!rows = memref<?x?xbf16, strided<[?, 1]>>
!sums = memref<?x?xf32, strided<[?, 1]>>
func.func @product(%x: !rows, %w: !rows, %sums: !sums) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%sums : !sums)
  linalg.generic {indexing_maps = [#x, #w, #sums], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : !rows, !rows) outs(%sums : !sums) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %fa = arith.extf %a : bf16 to f32
    %fb = arith.extf %b : bf16 to f32
    %p = arith.mulf %fa, %fb fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  return
}
