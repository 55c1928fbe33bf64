// Input: 13 panels of 16 columns in tiles of 64, so three of the last tile's four vectors have no columns. Checks that
// those vectors read the tile's first panel instead of memory past the buffer (one select each, and no mask along K)
// and that the epilogue skips them.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s --implicit-check-not=vector.maskedload
// RUN: quern-opt %s --check --target=avx512_core
// RUN: quern-opt %s --check --target=avx2
// RUN: quern-opt %s --check --target=sse42
// CHECK: plan = <contraction, rows = 5, columns = 200, products = 1, dot = "fma", accumulators = 1, k_loops = 1, block_rows = 5, block_vectors = 4, tiles = 4, tile_width = 64
// CHECK-SAME: epilogue_place = "over scratch", tail = "masked">
// CHECK: %[[TILE:.*]] = arith.muli %{{.*}}, %c1280
// CHECK: %[[NEXT:.*]] = arith.addi %[[TILE]], %c640
// CHECK: %[[THIRD:.*]] = arith.select %{{.*}}, %[[NEXT]], %[[TILE]] : index
// CHECK: %[[FOURTH:.*]] = arith.select %{{.*}}, %{{.*}}, %[[TILE]] : index
// CHECK: scf.for %[[K:.*]] = %c0 to %c20 step %c1 iter_args
// CHECK: %[[STEP:.*]] = arith.muli %[[K]], %c16
// CHECK: %[[AT:.*]] = arith.addi %[[THIRD]], %[[STEP]]
// CHECK: vector.load %{{.*}}[%[[AT]]]
// CHECK: %[[AT:.*]] = arith.addi %[[FOURTH]], %[[STEP]]
// CHECK: vector.load %{{.*}}[%[[AT]]]
// CHECK: scf.yield
// CHECK: %[[VECTORS:.*]] = arith.minsi %{{.*}}, %c4
// CHECK: scf.for %{{.*}} = %c0 to %[[VECTORS]] step %c1 {
// CHECK: vector.maskedstore
#x = affine_map<(n, p, v, k) -> (n, k)>
#w = affine_map<(n, p, v, k) -> (p, k, v)>
#s = affine_map<(n, p, v, k) -> (n, p * 16 + v)>
#id = affine_map<(n, o) -> (n, o)>
func.func @product(%x: memref<5x20xf32> {quern.arg = "x"}, %w: memref<13x20x16xf32> {quern.arg = "w"}, %dst: memref<5x200xf32> {quern.arg = "dst"}) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %sums = memref.alloc() : memref<5x208xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<5x208xf32>)
  linalg.generic {indexing_maps = [#x, #w, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<5x20xf32>, memref<13x20x16xf32>) outs(%sums : memref<5x208xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b fastmath<reassoc,contract> : f32
    %r = arith.addf %sum, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  %live = memref.subview %sums[0, 0] [5, 200] [1, 1] : memref<5x208xf32> to memref<5x200xf32, strided<[208, 1]>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%live : memref<5x200xf32, strided<[208, 1]>>) outs(%dst : memref<5x200xf32>) {
  ^bb0(%v: f32, %out: f32):
    %n = arith.negf %v : f32
    %e = math.exp %n : f32
    %d = arith.addf %e, %one : f32
    %q = arith.divf %one, %d : f32
    linalg.yield %q : f32
  }
  return
}
