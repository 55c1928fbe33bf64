// Input: a product with an open number of rows. Checks that the number is loaded once per call, that the space is the
// number of chunks of 64 rows, and that a chunk has blocks of four rows, then of two and one for the remaining rows.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s --implicit-check-not=alloc --implicit-check-not=linalg.
// RUN: quern-opt %s --codegen --target=avx512_core | FileCheck %s --check-prefix=ASM
// RUN: quern-opt %s --check --sizes=61,61
// RUN: quern-opt %s --check --sizes=3,3 --target=sse42
// RUN: not quern-opt %s --check 2>&1 | FileCheck %s --check-prefix=NAIVE
// NAIVE: error: sizes: @product has more than 0
// Sizes 0 and 1 are the numbers of rows of a and of dst. The caller ensures that they are equal.
// CHECK: func.func @product_kernel({{.*}}%[[SIZES:[^:]*]]: memref<?xindex> {quern.sizes}
// CHECK-SAME: factors = [0, 64]
// CHECK-SAME: plan = <contraction, rows = "?", columns = 128, products = 1, dot = "fma", accumulators = 1, k_loops = 1, block_rows = 4, block_vectors = 4, lower_blocks, tiles = 2, tile_width = 64, chunks = "ceil(size 0 / 64)", epilogue_ops = {{[0-9]+}}, epilogue_place = "over scratch">
// CHECK-SAME: space = 2
// CHECK: %[[ROWS:.*]] = memref.load %[[SIZES]][%c0]
// CHECK: %[[END:.*]] = arith.minsi %{{.*}}, %[[ROWS]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[FOURS:.*]] step %c4 {
// CHECK-COUNT-16: math.fma
// CHECK: scf.for %{{.*}} = %[[FOURS]] to %[[TWOS:.*]] step %c2 {
// CHECK-COUNT-8: math.fma
// CHECK: scf.for %{{.*}} = %[[TWOS]] to %[[END]] step %c1 {
// CHECK-COUNT-4: math.fma
// CHECK-NOT: math.fma
// ASM: movq{{.*}}24(%rdi)
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
func.func @product(%a: memref<?x96xf32>, %b: memref<96x128xf32>, %dst: memref<?x128xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %a, %c0 : memref<?x96xf32>
  %sums = memref.alloc(%n) : memref<?x128xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<?x128xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<?x96xf32>, memref<96x128xf32>) outs(%sums : memref<?x128xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%sums : memref<?x128xf32>) outs(%dst : memref<?x128xf32>) {
  ^bb0(%s: f32, %out: f32):
    %t = math.tanh %s : f32
    linalg.yield %t : f32
  }
  return
}
