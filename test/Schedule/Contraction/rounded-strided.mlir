// Input: a product of f32 whose op allows its factors to be rounded to bf16, and whose K has no pairs. Checks that each
// factor is rounded separately, like in the dots of the other layout, because all kernels of a problem use the same
// factors.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core_bf16 | FileCheck %s
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s --check-prefix=STRICT --implicit-check-not=bf16
// RUN: quern-opt %s --check
// CHECK: plan = <contraction, rows = 20, columns = 32, products = 1, dot = "fma of factors rounded to bf16", accumulators = 1
// CHECK: %[[SHORT:.*]] = arith.truncf {{.*}} : vector<16xf32> to vector<16xbf16>
// CHECK-NEXT: %[[RHS:.*]] = arith.extf %[[SHORT]]
// CHECK: arith.truncf
// CHECK: arith.truncf
// CHECK-NEXT: %[[LHS:.*]] = arith.extf
// CHECK-NEXT: math.fma %[[LHS]], %[[RHS]]
// STRICT: plan = <contraction, rows = 20, columns = 32, products = 1, dot = "fma", accumulators = 1
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @rounded(%a: memref<20x31xf32, strided<[62, 2]>>, %b: memref<31x32xf32>, %c: memref<20x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<20x32xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<20x31xf32, strided<[62, 2]>>, memref<31x32xf32>) outs(%c : memref<20x32xf32>) attrs = {quern.relax = #quern.relax<bf16>} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  return
}
