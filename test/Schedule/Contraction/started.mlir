// Input: sums that start from the result of an earlier product in a buffer, and activated gates as separate results.
// Checks that the initial sums are loaded, masked at the last columns.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s
// RUN: quern-opt %s --check --target=avx512_core_bf16
// RUN: quern-opt %s --check --target=avx512_core_vnni
// RUN: quern-opt %s --check --target=avx512_core
// RUN: quern-opt %s --check --target=avx2
// RUN: quern-opt %s --check --target=sse42
// CHECK: plan = <contraction, rows = 5, columns = 40, products = 2, dot = "fma", accumulators = 4
// CHECK: vector.maskedload {{.*}} : memref<800xf32>
#m0 = affine_map<(n, g, o) -> (n, g, o)>
#m1 = affine_map<(n, p, g, v, k) -> (n, k)>
#m2 = affine_map<(n, p, g, v, k) -> (p, k, g, v)>
#m3 = affine_map<(n, p, g, v, k) -> (n, g, p * 16 + v)>
#m4 = affine_map<(n, o) -> (n, o)>
#m5 = affine_map<(n, o) -> (n, 0, o)>
#m6 = affine_map<(n, o) -> (0, o)>
#m7 = affine_map<(n, o) -> (n, 1, o)>
#m8 = affine_map<(n, o) -> (1, o)>
#m9 = affine_map<(n, o) -> (n, 2, o)>
#m10 = affine_map<(n, o) -> (2, o)>
#m11 = affine_map<(n, o) -> (n, 3, o)>
#m12 = affine_map<(n, o) -> (3, o)>
func.func @lstm(%x: memref<5x24xf32> {quern.arg = "x"}, %h: memref<5x40xf32> {quern.arg = "h"}, %w: memref<3x24x4x16xf32> {quern.arg = "w"}, %u: memref<3x40x4x16xf32> {quern.arg = "u"}, %pre: memref<5x4x40xf32> {quern.arg = "pre"}, %b: memref<4x40xf32> {quern.arg = "b"}, %c: memref<5x40xf32> {quern.arg = "c"}, %cNext: memref<5x40xf32> {quern.arg = "cNext"}, %hNext: memref<5x40xf32> {quern.arg = "hNext"}, %gatesOut: memref<5x4x40xf32> {quern.arg = "gatesOut"}) {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<5x4x48xf32>
  %start = memref.subview %sums[0, 0, 0] [5, 4, 40] [1, 1, 1] : memref<5x4x48xf32> to memref<5x4x40xf32, strided<[192, 48, 1]>>
  linalg.generic {indexing_maps = [#m0, #m0], iterator_types = ["parallel", "parallel", "parallel"]} ins(%pre : memref<5x4x40xf32>) outs(%start : memref<5x4x40xf32, strided<[192, 48, 1]>>) {
  ^bb0(%v: f32, %out: f32):
    linalg.yield %v : f32
  }
  %wv1 = memref.subview %w[0, 0, 0, 0] [3, 24, 4, 16] [1, 1, 1, 1] : memref<3x24x4x16xf32> to memref<3x24x4x16xf32, strided<[1536, 64, 16, 1]>>
  linalg.generic {indexing_maps = [#m1, #m2, #m3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%x, %wv1 : memref<5x24xf32>, memref<3x24x4x16xf32, strided<[1536, 64, 16, 1]>>) outs(%sums : memref<5x4x48xf32>) {
  ^bb0(%av: f32, %bv: f32, %s: f32):
    %p = arith.mulf %av, %bv fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  %wv2 = memref.subview %u[0, 0, 0, 0] [3, 40, 4, 16] [1, 1, 1, 1] : memref<3x40x4x16xf32> to memref<3x40x4x16xf32, strided<[2560, 64, 16, 1]>>
  linalg.generic {indexing_maps = [#m1, #m2, #m3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%h, %wv2 : memref<5x40xf32>, memref<3x40x4x16xf32, strided<[2560, 64, 16, 1]>>) outs(%sums : memref<5x4x48xf32>) {
  ^bb0(%av: f32, %bv: f32, %s: f32):
    %p = arith.mulf %av, %bv fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  %live = memref.subview %sums[0, 0, 0] [5, 4, 40] [1, 1, 1] : memref<5x4x48xf32> to memref<5x4x40xf32, strided<[192, 48, 1]>>
  linalg.generic {indexing_maps = [#m4, #m5, #m6, #m7, #m8, #m9, #m10, #m11, #m12, #m4, #m4, #m5, #m7, #m9, #m11], iterator_types = ["parallel", "parallel"]}
      ins(%c, %live, %b, %live, %b, %live, %b, %live, %b : memref<5x40xf32>, memref<5x4x40xf32, strided<[192, 48, 1]>>, memref<4x40xf32>, memref<5x4x40xf32, strided<[192, 48, 1]>>, memref<4x40xf32>, memref<5x4x40xf32, strided<[192, 48, 1]>>, memref<4x40xf32>, memref<5x4x40xf32, strided<[192, 48, 1]>>, memref<4x40xf32>) outs(%cNext, %hNext, %gatesOut, %gatesOut, %gatesOut, %gatesOut : memref<5x40xf32>, memref<5x40xf32>, memref<5x4x40xf32>, memref<5x4x40xf32>, memref<5x4x40xf32>, memref<5x4x40xf32>) {
  ^bb0(%i1: f32, %i2: f32, %i3: f32, %i5: f32, %i6: f32, %i8: f32, %i9: f32, %i11: f32, %i12: f32, %out0: f32, %out1: f32, %out2: f32, %out3: f32, %out4: f32, %out5: f32):
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
    linalg.yield %t25, %t31, %t17, %t21, %t22, %t29 : f32, f32, f32, f32, f32, f32
  }
  return
}
