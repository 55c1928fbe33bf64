// Input: batched products with an epilogue; one factor is the same for the whole batch. Checks that the kernel of one
// product is placed in a loop over the batch and that each product's buffers start at its own offsets.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s --implicit-check-not=linalg.
// RUN: quern-opt %s --check
// RUN: quern-opt %s --check --target=sse42
// CHECK: func.func @scores_kernel
// CHECK-SAME: plan = <contraction, times = 3, {{.*}}problem = "scores"
// CHECK: %[[FIRST:.*]] = arith.divui
// CHECK: %[[LAST:.*]] = arith.divui
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[LAST]] step %c1{{.*}} {
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%{{.*}}], sizes: [640], strides: [1] : memref<1920xf32> to memref<640xf32, strided<[1], offset: ?>>
// CHECK: math.fma
// CHECK: func.func @heads_kernel
#lhs = affine_map<(b, m, n, k) -> (b, m, k)>
#rhs = affine_map<(b, m, n, k) -> (b, k, n)>
#out = affine_map<(b, m, n, k) -> (b, m, n)>
#id = affine_map<(b, m, n) -> (b, m, n)>
#column = affine_map<(b, m, n) -> (n)>
func.func @scores(%x: memref<3x20x32xf32> {quern.arg = "x"}, %w: memref<3x32x48xf32> {quern.arg = "w"}, %bias: memref<48xf32> {quern.arg = "bias"}, %y: memref<3x20x48xf32> {quern.arg = "y"}) {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<3x20x48xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<3x20x48xf32>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<3x20x32xf32>, memref<3x32x48xf32>) outs(%sums : memref<3x20x48xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b fastmath<contract> : f32
    %t = arith.addf %p, %s fastmath<reassoc,contract> : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%sums, %bias : memref<3x20x48xf32>, memref<48xf32>) outs(%y : memref<3x20x48xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  }
  return
}
// Nested batches; one factor is the same for all entries of the outer batch.
func.func @heads(%x: memref<2x3x20x16xf32> {quern.arg = "x"}, %w: memref<3x16x24xf32> {quern.arg = "w"}, %z: memref<2x3x20x24xf32> {quern.arg = "z"}) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%z : memref<2x3x20x24xf32>)
  linalg.generic {indexing_maps = [affine_map<(g, b, m, n, k) -> (g, b, m, k)>, affine_map<(g, b, m, n, k) -> (b, k, n)>, affine_map<(g, b, m, n, k) -> (g, b, m, n)>],
                  iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<2x3x20x16xf32>, memref<3x16x24xf32>) outs(%z : memref<2x3x20x24xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %p = arith.mulf %a, %b fastmath<contract> : f32
    %t = arith.addf %p, %s fastmath<reassoc,contract> : f32
    linalg.yield %t : f32
  }
  return
}
