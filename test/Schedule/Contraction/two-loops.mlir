// Input: sums of two products and sums of one product each, with factors whose gates and columns are in rows of K.
// Checks that products which read the same rows share the steps of one loop over K, which carries the sums of both, and
// that sums start from a bias.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s --implicit-check-not=alloc --implicit-check-not=linalg.
// RUN: quern-opt %s --check --target=avx512_core
// RUN: quern-opt %s --check --target=avx2
// RUN: quern-opt %s --check --target=sse42
// CHECK: plan = <contraction, rows = 16, columns = 512, products = 4, dot = "fma", accumulators = 4, k_loops = 2, block_rows = 6, block_vectors = 4, short_block_rows = 5
// CHECK: %{{.*}}:18 = scf.for %{{.*}} = %c0 to %c512 step %c1 iter_args
// CHECK-COUNT-18: math.fma
// CHECK: %{{.*}}:18 = scf.for %{{.*}} = %c0 to %c512 step %c1 iter_args
// CHECK-COUNT-18: math.fma
#x = affine_map<(n, g, o, k) -> (n, k)>
#w = affine_map<(n, g, o, k) -> (k, g, o)>
#acc = affine_map<(n, g, o, k) -> (n, g, o)>
#x1 = affine_map<(n, o, k) -> (n, k)>
#w1 = affine_map<(n, o, k) -> (k, 2, o)>
#acc1 = affine_map<(n, o, k) -> (n, o)>
#id3 = affine_map<(n, g, o) -> (n, g, o)>
#bias3 = affine_map<(n, g, o) -> (g, o)>
#gateU = affine_map<(n, o) -> (n, 0, o)>
#gateR = affine_map<(n, o) -> (n, 1, o)>
#state = affine_map<(n, o) -> (n, o)>
#b2 = affine_map<(n, o) -> (2, o)>
#b3 = affine_map<(n, o) -> (3, o)>
func.func @lbr_gru_cell(%x: memref<16x512xf32>, %h: memref<16x512xf32>, %w: memref<512x3x512xf32>, %u: memref<512x3x512xf32>, %b: memref<4x512xf32>, %hNext: memref<16x512xf32>) {
  %one = arith.constant 1.0 : f32
  %wur = memref.subview %w[0, 0, 0] [512, 2, 512] [1, 1, 1] : memref<512x3x512xf32> to memref<512x2x512xf32, strided<[1536, 512, 1]>>
  %uur = memref.subview %u[0, 0, 0] [512, 2, 512] [1, 1, 1] : memref<512x3x512xf32> to memref<512x2x512xf32, strided<[1536, 512, 1]>>
  %bur = memref.subview %b[0, 0] [2, 512] [1, 1] : memref<4x512xf32> to memref<2x512xf32, strided<[512, 1]>>
  %ur = memref.alloc() : memref<16x2x512xf32>
  %ox = memref.alloc() : memref<16x512xf32>
  %oh = memref.alloc() : memref<16x512xf32>
  linalg.generic {indexing_maps = [#bias3, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%bur : memref<2x512xf32, strided<[512, 1]>>) outs(%ur : memref<16x2x512xf32>) {
  ^bb0(%v: f32, %out: f32):
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#b2, #state], iterator_types = ["parallel", "parallel"]} ins(%b : memref<4x512xf32>) outs(%ox : memref<16x512xf32>) {
  ^bb0(%v: f32, %out: f32):
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#b3, #state], iterator_types = ["parallel", "parallel"]} ins(%b : memref<4x512xf32>) outs(%oh : memref<16x512xf32>) {
  ^bb0(%v: f32, %out: f32):
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #acc], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %wur : memref<16x512xf32>, memref<512x2x512xf32, strided<[1536, 512, 1]>>) outs(%ur : memref<16x2x512xf32>) {
  ^bb0(%av: f32, %bv: f32, %s: f32):
    %p = arith.mulf %av, %bv fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#x1, #w1, #acc1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : memref<16x512xf32>, memref<512x3x512xf32>) outs(%ox : memref<16x512xf32>) {
  ^bb0(%av: f32, %bv: f32, %s: f32):
    %p = arith.mulf %av, %bv fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #acc], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%h, %uur : memref<16x512xf32>, memref<512x2x512xf32, strided<[1536, 512, 1]>>) outs(%ur : memref<16x2x512xf32>) {
  ^bb0(%av: f32, %bv: f32, %s: f32):
    %p = arith.mulf %av, %bv fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#x1, #w1, #acc1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%h, %u : memref<16x512xf32>, memref<512x3x512xf32>) outs(%oh : memref<16x512xf32>) {
  ^bb0(%av: f32, %bv: f32, %s: f32):
    %p = arith.mulf %av, %bv fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#gateU, #gateR, #state, #state, #state, #state], iterator_types = ["parallel", "parallel"]}
      ins(%ur, %ur, %ox, %oh, %h : memref<16x2x512xf32>, memref<16x2x512xf32>, memref<16x512xf32>, memref<16x512xf32>, memref<16x512xf32>) outs(%hNext : memref<16x512xf32>) {
  ^bb0(%gu: f32, %gr: f32, %gx: f32, %gh: f32, %hPrev: f32, %out: f32):
    %nu = arith.negf %gu : f32
    %eu = math.exp %nu : f32
    %du = arith.addf %eu, %one : f32
    %z = arith.divf %one, %du : f32
    %nr = arith.negf %gr : f32
    %er = math.exp %nr : f32
    %dr = arith.addf %er, %one : f32
    %r = arith.divf %one, %dr : f32
    %rh = arith.mulf %r, %gh fastmath<reassoc,contract> : f32
    %pre = arith.addf %gx, %rh fastmath<reassoc,contract> : f32
    %cand = math.tanh %pre : f32
    %delta = arith.subf %hPrev, %cand : f32
    %zd = arith.mulf %z, %delta fastmath<reassoc,contract> : f32
    %hNew = arith.addf %zd, %cand fastmath<reassoc,contract> : f32
    linalg.yield %hNew : f32
  }
  return
}
