// Input: the first function of a GRU cell in bf16: update and reset gates, from panels that hold three gates. K is odd,
// so the last pair is half full, and the number of columns is not a multiple of the panel. Checks that two gates are
// summed, that the last pair is a separate product that reads one element of a row, and that the two results have
// different types.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core_bf16 | FileCheck %s
// RUN: quern-opt %s --check --target=avx512_core_bf16
// RUN: quern-opt %s --check --target=avx512_core_vnni
// RUN: quern-opt %s --check --target=avx512_core
// RUN: quern-opt %s --check --target=avx2
// RUN: quern-opt %s --check --target=sse42
// CHECK: plan = <contraction, rows = 7, columns = 41, products = 4, dot = "dots of bf16 pairs", accumulators = 2
// CHECK: vector.maskedstore {{.*}} : memref<287xf32>
// CHECK: vector.maskedstore {{.*}} : memref<287xbf16>
#m0 = affine_map<(n, p, g, v, k, j) -> (n, k * 2 + j + 0)>
#m1 = affine_map<(n, p, g, v, k, j) -> (p, k, g, v, j)>
#m2 = affine_map<(n, p, g, v, k, j) -> (n, g, p * 32 + v)>
#m3 = affine_map<(n, p, g, v, k, j) -> (n, k * 2 + j + 24)>
#m4 = affine_map<(n, p, g, v, k, j) -> (n, k * 2 + j + 40)>
#m5 = affine_map<(n, o) -> (n, o)>
#m6 = affine_map<(n, o) -> (n, 0, o)>
#m7 = affine_map<(n, o) -> (0, o)>
#m8 = affine_map<(n, o) -> (n, 1, o)>
#m9 = affine_map<(n, o) -> (1, o)>
func.func @gru1(%x: memref<7x25xbf16> {quern.arg = "x"}, %h: memref<7x41xbf16> {quern.arg = "h"}, %w: memref<2x13x3x32x2xbf16> {quern.arg = "w"}, %u: memref<2x21x3x32x2xbf16> {quern.arg = "u"}, %b: memref<3x41xf32> {quern.arg = "b"}, %update: memref<7x41xf32> {quern.arg = "update"}, %rh: memref<7x41xbf16> {quern.arg = "rh"}) {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<7x2x64xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<7x2x64xf32>)
  %wv1 = memref.subview %w[0, 0, 0, 0, 0] [2, 12, 2, 32, 2] [1, 1, 1, 1, 1] : memref<2x13x3x32x2xbf16> to memref<2x12x2x32x2xbf16, strided<[2496, 192, 64, 2, 1]>>
  linalg.generic {indexing_maps = [#m0, #m1, #m2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%x, %wv1 : memref<7x25xbf16>, memref<2x12x2x32x2xbf16, strided<[2496, 192, 64, 2, 1]>>) outs(%sums : memref<7x2x64xf32>) {
  ^bb0(%av: bf16, %bv: bf16, %s: f32):
    %ax = arith.extf %av : bf16 to f32
    %bx = arith.extf %bv : bf16 to f32
    %p = arith.mulf %ax, %bx fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  %wv2 = memref.subview %w[0, 12, 0, 0, 0] [2, 1, 2, 32, 1] [1, 1, 1, 1, 1] : memref<2x13x3x32x2xbf16> to memref<2x1x2x32x1xbf16, strided<[2496, 192, 64, 2, 1], offset: 2304>>
  linalg.generic {indexing_maps = [#m3, #m1, #m2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%x, %wv2 : memref<7x25xbf16>, memref<2x1x2x32x1xbf16, strided<[2496, 192, 64, 2, 1], offset: 2304>>) outs(%sums : memref<7x2x64xf32>) {
  ^bb0(%av: bf16, %bv: bf16, %s: f32):
    %ax = arith.extf %av : bf16 to f32
    %bx = arith.extf %bv : bf16 to f32
    %p = arith.mulf %ax, %bx fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  %wv3 = memref.subview %u[0, 0, 0, 0, 0] [2, 20, 2, 32, 2] [1, 1, 1, 1, 1] : memref<2x21x3x32x2xbf16> to memref<2x20x2x32x2xbf16, strided<[4032, 192, 64, 2, 1]>>
  linalg.generic {indexing_maps = [#m0, #m1, #m2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%h, %wv3 : memref<7x41xbf16>, memref<2x20x2x32x2xbf16, strided<[4032, 192, 64, 2, 1]>>) outs(%sums : memref<7x2x64xf32>) {
  ^bb0(%av: bf16, %bv: bf16, %s: f32):
    %ax = arith.extf %av : bf16 to f32
    %bx = arith.extf %bv : bf16 to f32
    %p = arith.mulf %ax, %bx fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  %wv4 = memref.subview %u[0, 20, 0, 0, 0] [2, 1, 2, 32, 1] [1, 1, 1, 1, 1] : memref<2x21x3x32x2xbf16> to memref<2x1x2x32x1xbf16, strided<[4032, 192, 64, 2, 1], offset: 3840>>
  linalg.generic {indexing_maps = [#m4, #m1, #m2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%h, %wv4 : memref<7x41xbf16>, memref<2x1x2x32x1xbf16, strided<[4032, 192, 64, 2, 1], offset: 3840>>) outs(%sums : memref<7x2x64xf32>) {
  ^bb0(%av: bf16, %bv: bf16, %s: f32):
    %ax = arith.extf %av : bf16 to f32
    %bx = arith.extf %bv : bf16 to f32
    %p = arith.mulf %ax, %bx fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  %live = memref.subview %sums[0, 0, 0] [7, 2, 41] [1, 1, 1] : memref<7x2x64xf32> to memref<7x2x41xf32, strided<[128, 64, 1]>>
  linalg.generic {indexing_maps = [#m6, #m7, #m8, #m9, #m5, #m5, #m5], iterator_types = ["parallel", "parallel"]}
      ins(%live, %b, %live, %b, %h : memref<7x2x41xf32, strided<[128, 64, 1]>>, memref<3x41xf32>, memref<7x2x41xf32, strided<[128, 64, 1]>>, memref<3x41xf32>, memref<7x41xbf16>) outs(%update, %rh : memref<7x41xf32>, memref<7x41xbf16>) {
  ^bb0(%i1: f32, %i2: f32, %i8: f32, %i9: f32, %i15: bf16, %out0: f32, %out1: bf16):
    %t3 = arith.addf %i1, %i2 fastmath<reassoc,contract> : f32
    %t4 = arith.negf %t3 : f32
    %t5 = math.exp %t4 : f32
    %t6 = arith.addf %t5, %one  : f32
    %t7 = arith.divf %one, %t6 : f32
    %t10 = arith.addf %i8, %i9 fastmath<reassoc,contract> : f32
    %t11 = arith.negf %t10 : f32
    %t12 = math.exp %t11 : f32
    %t13 = arith.addf %t12, %one  : f32
    %t14 = arith.divf %one, %t13 : f32
    %w16 = arith.extf %i15 : bf16 to f32
    %t17 = arith.mulf %t14, %w16 fastmath<reassoc,contract> : f32
    %t18 = arith.truncf %t17 : f32 to bf16
    linalg.yield %t7, %t18 : f32, bf16
  }
  return
}
