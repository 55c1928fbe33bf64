// Input: weights with K contiguous, so the columns of a step are not. Checks that columns are loaded one by one, and
// that the last one is loaded again in place of columns past the end.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s
// RUN: quern-opt %s --check --target=avx512_core_bf16
// RUN: quern-opt %s --check --target=avx512_core_vnni
// RUN: quern-opt %s --check --target=avx512_core
// RUN: quern-opt %s --check --target=avx2
// RUN: quern-opt %s --check --target=sse42
// CHECK: plan = <contraction, rows = 5, columns = 24, products = 2, dot = "fma", accumulators = 4
// CHECK: vector.from_elements
#m0 = affine_map<(n, g, o, k) -> (n, k)>
#m1 = affine_map<(n, g, o, k) -> (g, o, k)>
#m2 = affine_map<(n, g, o, k) -> (n, g, o)>
#m3 = affine_map<(n, o) -> (n, o)>
#m4 = affine_map<(n, o) -> (n, 0, o)>
#m5 = affine_map<(n, o) -> (0, o)>
#m6 = affine_map<(n, o) -> (n, 1, o)>
#m7 = affine_map<(n, o) -> (1, o)>
#m8 = affine_map<(n, o) -> (n, 2, o)>
#m9 = affine_map<(n, o) -> (2, o)>
#m10 = affine_map<(n, o) -> (n, 3, o)>
#m11 = affine_map<(n, o) -> (3, o)>
func.func @lstm(%x: memref<5x25xbf16> {quern.arg = "x"}, %h: memref<5x24xbf16> {quern.arg = "h"}, %w: memref<4x24x25xbf16> {quern.arg = "w"}, %u: memref<4x24x24xbf16> {quern.arg = "u"}, %b: memref<4x24xf32> {quern.arg = "b"}, %c: memref<5x24xf32> {quern.arg = "c"}, %cNext: memref<5x24xf32> {quern.arg = "cNext"}, %hNext: memref<5x24xbf16> {quern.arg = "hNext"}) {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<5x4x24xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<5x4x24xf32>)
  %wv1 = memref.subview %w[0, 0, 0] [4, 24, 25] [1, 1, 1] : memref<4x24x25xbf16> to memref<4x24x25xbf16, strided<[600, 25, 1]>>
  linalg.generic {indexing_maps = [#m0, #m1, #m2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %wv1 : memref<5x25xbf16>, memref<4x24x25xbf16, strided<[600, 25, 1]>>) outs(%sums : memref<5x4x24xf32>) {
  ^bb0(%av: bf16, %bv: bf16, %s: f32):
    %ax = arith.extf %av : bf16 to f32
    %bx = arith.extf %bv : bf16 to f32
    %p = arith.mulf %ax, %bx fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  %wv2 = memref.subview %u[0, 0, 0] [4, 24, 24] [1, 1, 1] : memref<4x24x24xbf16> to memref<4x24x24xbf16, strided<[576, 24, 1]>>
  linalg.generic {indexing_maps = [#m0, #m1, #m2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%h, %wv2 : memref<5x24xbf16>, memref<4x24x24xbf16, strided<[576, 24, 1]>>) outs(%sums : memref<5x4x24xf32>) {
  ^bb0(%av: bf16, %bv: bf16, %s: f32):
    %ax = arith.extf %av : bf16 to f32
    %bx = arith.extf %bv : bf16 to f32
    %p = arith.mulf %ax, %bx fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#m3, #m4, #m5, #m6, #m7, #m8, #m9, #m10, #m11, #m3, #m3], iterator_types = ["parallel", "parallel"]}
      ins(%c, %sums, %b, %sums, %b, %sums, %b, %sums, %b : memref<5x24xf32>, memref<5x4x24xf32>, memref<4x24xf32>, memref<5x4x24xf32>, memref<4x24xf32>, memref<5x4x24xf32>, memref<4x24xf32>, memref<5x4x24xf32>, memref<4x24xf32>) outs(%cNext, %hNext : memref<5x24xf32>, memref<5x24xbf16>) {
  ^bb0(%i1: f32, %i2: f32, %i3: f32, %i5: f32, %i6: f32, %i8: f32, %i9: f32, %i11: f32, %i12: f32, %out0: f32, %out1: bf16):
    %t4 = arith.addf %i2, %i3 fastmath<reassoc,contract> : f32
    %t7 = arith.addf %i5, %i6 fastmath<reassoc,contract> : f32
    %t10 = arith.addf %i8, %i9 fastmath<reassoc,contract> : f32
    %t13 = arith.addf %i11, %i12 fastmath<reassoc,contract> : f32
    %t14 = arith.negf %t4 : f32
    %t15 = math.exp %t14 : f32
    %t16 = arith.addf %t15, %one  : f32
    %t17 = arith.divf %one, %t16 : f32
    %t18 = arith.negf %t7 : f32
    %t19 = math.exp %t18 : f32
    %t20 = arith.addf %t19, %one  : f32
    %t21 = arith.divf %one, %t20 : f32
    %t22 = math.tanh %t10 : f32
    %t23 = arith.mulf %t21, %i1 fastmath<reassoc,contract> : f32
    %t24 = arith.mulf %t17, %t22 fastmath<reassoc,contract> : f32
    %t25 = arith.addf %t23, %t24 fastmath<reassoc,contract> : f32
    %t26 = arith.negf %t13 : f32
    %t27 = math.exp %t26 : f32
    %t28 = arith.addf %t27, %one  : f32
    %t29 = arith.divf %one, %t28 : f32
    %t30 = math.tanh %t25 : f32
    %t31 = arith.mulf %t29, %t30 fastmath<reassoc,contract> : f32
    %t32 = arith.truncf %t31 : f32 to bf16
    linalg.yield %t25, %t32 : f32, bf16
  }
  return
}
