// Input: two products of different states and weights, with panels of 64 columns and sums that start from a bias.
// Checks that the bias is loaded as the start and that one loop over K serves both products. A panel of 128 KiB is read
// from L2, so it is read by as few blocks of rows as the registers allow, and it is prefetched, by the first block from
// a greater distance.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s --implicit-check-not=alloc --implicit-check-not=linalg.
// RUN: quern-opt %s --check --target=avx512_core
// RUN: quern-opt %s --check --target=avx2
// RUN: quern-opt %s --check --target=sse42
// CHECK: plan = <contraction, rows = 16, columns = 512, products = 2, dot = "fma", accumulators = 1, k_loops = 1, block_rows = 6, block_vectors = 4, short_block_rows = 5, tiles = 8, tile_width = 64, chunks = 1, prefetches
// CHECK-COUNT-4: vector.load %arg4
// CHECK: scf.for %{{.*}} = %c0 to %c2 step %c1 iter_args
// CHECK: memref.prefetch {{.*}} locality<3>
// CHECK: memref.prefetch {{.*}} locality<2>
// CHECK: vector.load
// CHECK-COUNT-24: math.fma
// CHECK: scf.for %{{.*}} = %c0 to %c2 step %c1 iter_args
// CHECK-NOT: locality<2>
// CHECK: memref.prefetch {{.*}} locality<3>
// CHECK-NOT: locality<2>
// CHECK-COUNT-20: math.fma
#x = affine_map<(n, p, v, k) -> (n, k)>
#w = affine_map<(n, p, v, k) -> (p, k, v)>
#acc = affine_map<(n, p, v, k) -> (n, p * 64 + v)>
#state = affine_map<(n, o) -> (n, o)>
#bias = affine_map<(n, o) -> (o)>
func.func @gru_output(%x: memref<16x512xf32>, %rh: memref<16x512xf32>, %w: memref<8x512x64xf32>, %u: memref<8x512x64xf32>, %b: memref<512xf32>, %update: memref<16x512xf32>, %h: memref<16x512xf32>, %hNext: memref<16x512xf32>) {
  %sums = memref.alloc() : memref<16x512xf32>
  linalg.generic {indexing_maps = [#bias, #state], iterator_types = ["parallel", "parallel"]} ins(%b : memref<512xf32>) outs(%sums : memref<16x512xf32>) {
  ^bb0(%v: f32, %out: f32):
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #acc], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %w : memref<16x512xf32>, memref<8x512x64xf32>) outs(%sums : memref<16x512xf32>) {
  ^bb0(%av: f32, %bv: f32, %s: f32):
    %p = arith.mulf %av, %bv fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #acc], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%rh, %u : memref<16x512xf32>, memref<8x512x64xf32>) outs(%sums : memref<16x512xf32>) {
  ^bb0(%av: f32, %bv: f32, %s: f32):
    %p = arith.mulf %av, %bv fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#state, #state, #state, #state], iterator_types = ["parallel", "parallel"]}
      ins(%sums, %update, %h : memref<16x512xf32>, memref<16x512xf32>, memref<16x512xf32>) outs(%hNext : memref<16x512xf32>) {
  ^bb0(%g: f32, %z: f32, %hPrev: f32, %out: f32):
    %cand = math.tanh %g : f32
    %delta = arith.subf %hPrev, %cand : f32
    %zd = arith.mulf %z, %delta fastmath<reassoc,contract> : f32
    %hNew = arith.addf %zd, %cand fastmath<reassoc,contract> : f32
    linalg.yield %hNew : f32
  }
  return
}
