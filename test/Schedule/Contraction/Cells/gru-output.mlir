// Input: the second function of a GRU cell: the third gate of the same panels, with x and r * h as rows. Checks that it
// has one accumulator.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s
// RUN: quern-opt %s --check --target=avx512_core_bf16
// RUN: quern-opt %s --check --target=avx512_core_vnni
// RUN: quern-opt %s --check --target=avx512_core
// RUN: quern-opt %s --check --target=avx2
// RUN: quern-opt %s --check --target=sse42
// CHECK: plan = <contraction, rows = 16, columns = 96, products = 2, dot = "fma", accumulators = 1, k_loops = 1, block_rows = {{[0-9]+}}, block_vectors = {{[0-9]+}}
#m0 = affine_map<(n, p, g, v, k) -> (n, k)>
#m1 = affine_map<(n, p, g, v, k) -> (p, k, g, v)>
#m2 = affine_map<(n, p, g, v, k) -> (n, g, p * 32 + v)>
#m3 = affine_map<(n, o) -> (n, o)>
#m4 = affine_map<(n, o) -> (n, 0, o)>
#m5 = affine_map<(n, o) -> (2, o)>
func.func @gru2(%x: memref<16x96xf32> {quern.arg = "x"}, %h: memref<16x96xf32> {quern.arg = "h"}, %w: memref<3x96x3x32xf32> {quern.arg = "w"}, %u: memref<3x96x3x32xf32> {quern.arg = "u"}, %b: memref<3x96xf32> {quern.arg = "b"}, %update: memref<16x96xf32> {quern.arg = "update"}, %hPrev: memref<16x96xf32> {quern.arg = "hPrev"}, %hNext: memref<16x96xf32> {quern.arg = "hNext"}) {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<16x1x96xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<16x1x96xf32>)
  %wv1 = memref.subview %w[0, 0, 2, 0] [3, 96, 1, 32] [1, 1, 1, 1] : memref<3x96x3x32xf32> to memref<3x96x1x32xf32, strided<[9216, 96, 32, 1], offset: 64>>
  linalg.generic {indexing_maps = [#m0, #m1, #m2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%x, %wv1 : memref<16x96xf32>, memref<3x96x1x32xf32, strided<[9216, 96, 32, 1], offset: 64>>) outs(%sums : memref<16x1x96xf32>) {
  ^bb0(%av: f32, %bv: f32, %s: f32):
    %p = arith.mulf %av, %bv fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  %wv2 = memref.subview %u[0, 0, 2, 0] [3, 96, 1, 32] [1, 1, 1, 1] : memref<3x96x3x32xf32> to memref<3x96x1x32xf32, strided<[9216, 96, 32, 1], offset: 64>>
  linalg.generic {indexing_maps = [#m0, #m1, #m2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%h, %wv2 : memref<16x96xf32>, memref<3x96x1x32xf32, strided<[9216, 96, 32, 1], offset: 64>>) outs(%sums : memref<16x1x96xf32>) {
  ^bb0(%av: f32, %bv: f32, %s: f32):
    %p = arith.mulf %av, %bv fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#m4, #m5, #m3, #m3, #m3], iterator_types = ["parallel", "parallel"]}
      ins(%sums, %b, %update, %hPrev : memref<16x1x96xf32>, memref<3x96xf32>, memref<16x96xf32>, memref<16x96xf32>) outs(%hNext : memref<16x96xf32>) {
  ^bb0(%i1: f32, %i2: f32, %i5: f32, %i6: f32, %out0: f32):
    %t3 = arith.addf %i1, %i2 fastmath<reassoc,contract> : f32
    %t4 = math.tanh %t3 : f32
    %t7 = arith.mulf %i5, %i6 fastmath<reassoc,contract> : f32
    %t8 = arith.subf %one, %i5 fastmath<reassoc,contract> : f32
    %t9 = arith.mulf %t8, %t4 fastmath<reassoc,contract> : f32
    %t10 = arith.addf %t7, %t9 fastmath<reassoc,contract> : f32
    linalg.yield %t10 : f32
  }
  return
}
