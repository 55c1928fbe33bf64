// Input: a linear-before-reset AUGRU cell. Checks that two products with different gates share sums: x contributes to
// three gates, h to three of four. The attention is one number per row.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s
// RUN: quern-opt %s --check --target=avx512_core_bf16
// RUN: quern-opt %s --check --target=avx512_core_vnni
// RUN: quern-opt %s --check --target=avx512_core
// RUN: quern-opt %s --check --target=avx2
// RUN: quern-opt %s --check --target=sse42
// CHECK: plan = <contraction, rows = 7, columns = 40, products = 3, dot = "fma", accumulators = 4, k_loops = 2
// CHECK: %{{.*}}:{{[0-9]+}} = scf.for %{{.*}} = %c0 to %c24 step %c1 iter_args
// CHECK: memref.load %{{.*}} : memref<7xf32>
#m0 = affine_map<(n, p, g, v, k) -> (n, k)>
#m1 = affine_map<(n, p, g, v, k) -> (p, k, g, v)>
#m2 = affine_map<(n, p, g, v, k) -> (n, g, p * 16 + v)>
#m3 = affine_map<(n, o) -> (n, o)>
#m4 = affine_map<(n, o) -> (n, 0, o)>
#m5 = affine_map<(n, o) -> (0, o)>
#m6 = affine_map<(n, o) -> (n, 1, o)>
#m7 = affine_map<(n, o) -> (1, o)>
#m8 = affine_map<(n, o) -> (n, 0)>
#m9 = affine_map<(n, o) -> (n, 3, o)>
#m10 = affine_map<(n, o) -> (3, o)>
#m11 = affine_map<(n, o) -> (n, 2, o)>
#m12 = affine_map<(n, o) -> (2, o)>
func.func @lbraugru(%x: memref<7x24xf32> {quern.arg = "x"}, %h: memref<7x40xf32> {quern.arg = "h"}, %w: memref<3x24x3x16xf32> {quern.arg = "w"}, %u: memref<3x40x3x16xf32> {quern.arg = "u"}, %b: memref<4x40xf32> {quern.arg = "b"}, %att: memref<7x1xf32> {quern.arg = "att"}, %hNext: memref<7x40xf32> {quern.arg = "hNext"}) {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<7x4x48xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<7x4x48xf32>)
  %wv1 = memref.subview %w[0, 0, 0, 0] [3, 24, 3, 16] [1, 1, 1, 1] : memref<3x24x3x16xf32> to memref<3x24x3x16xf32, strided<[1152, 48, 16, 1]>>
  %sv1 = memref.subview %sums[0, 0, 0] [7, 3, 48] [1, 1, 1] : memref<7x4x48xf32> to memref<7x3x48xf32, strided<[192, 48, 1]>>
  linalg.generic {indexing_maps = [#m0, #m1, #m2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%x, %wv1 : memref<7x24xf32>, memref<3x24x3x16xf32, strided<[1152, 48, 16, 1]>>) outs(%sv1 : memref<7x3x48xf32, strided<[192, 48, 1]>>) {
  ^bb0(%av: f32, %bv: f32, %s: f32):
    %p = arith.mulf %av, %bv fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  %wv2 = memref.subview %u[0, 0, 0, 0] [3, 40, 2, 16] [1, 1, 1, 1] : memref<3x40x3x16xf32> to memref<3x40x2x16xf32, strided<[1920, 48, 16, 1]>>
  %sv2 = memref.subview %sums[0, 0, 0] [7, 2, 48] [1, 1, 1] : memref<7x4x48xf32> to memref<7x2x48xf32, strided<[192, 48, 1]>>
  linalg.generic {indexing_maps = [#m0, #m1, #m2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%h, %wv2 : memref<7x40xf32>, memref<3x40x2x16xf32, strided<[1920, 48, 16, 1]>>) outs(%sv2 : memref<7x2x48xf32, strided<[192, 48, 1]>>) {
  ^bb0(%av: f32, %bv: f32, %s: f32):
    %p = arith.mulf %av, %bv fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  %wv3 = memref.subview %u[0, 0, 2, 0] [3, 40, 1, 16] [1, 1, 1, 1] : memref<3x40x3x16xf32> to memref<3x40x1x16xf32, strided<[1920, 48, 16, 1], offset: 32>>
  %sv3 = memref.subview %sums[0, 3, 0] [7, 1, 48] [1, 1, 1] : memref<7x4x48xf32> to memref<7x1x48xf32, strided<[192, 48, 1], offset: 144>>
  linalg.generic {indexing_maps = [#m0, #m1, #m2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%h, %wv3 : memref<7x40xf32>, memref<3x40x1x16xf32, strided<[1920, 48, 16, 1], offset: 32>>) outs(%sv3 : memref<7x1x48xf32, strided<[192, 48, 1], offset: 144>>) {
  ^bb0(%av: f32, %bv: f32, %s: f32):
    %p = arith.mulf %av, %bv fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  %live = memref.subview %sums[0, 0, 0] [7, 4, 40] [1, 1, 1] : memref<7x4x48xf32> to memref<7x4x40xf32, strided<[192, 48, 1]>>
  linalg.generic {indexing_maps = [#m4, #m5, #m6, #m7, #m8, #m9, #m10, #m11, #m12, #m3, #m3], iterator_types = ["parallel", "parallel"]}
      ins(%live, %b, %live, %b, %att, %live, %b, %live, %b, %h : memref<7x4x40xf32, strided<[192, 48, 1]>>, memref<4x40xf32>, memref<7x4x40xf32, strided<[192, 48, 1]>>, memref<4x40xf32>, memref<7x1xf32>, memref<7x4x40xf32, strided<[192, 48, 1]>>, memref<4x40xf32>, memref<7x4x40xf32, strided<[192, 48, 1]>>, memref<4x40xf32>, memref<7x40xf32>) outs(%hNext : memref<7x40xf32>) {
  ^bb0(%i1: f32, %i2: f32, %i8: f32, %i9: f32, %i15: f32, %i18: f32, %i19: f32, %i21: f32, %i22: f32, %i27: f32, %out0: f32):
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
    %t16 = arith.subf %one, %i15 fastmath<reassoc,contract> : f32
    %t17 = arith.mulf %t7, %t16 fastmath<reassoc,contract> : f32
    %t20 = arith.addf %i18, %i19 fastmath<reassoc,contract> : f32
    %t23 = arith.addf %i21, %i22 fastmath<reassoc,contract> : f32
    %t24 = arith.mulf %t14, %t20 fastmath<reassoc,contract> : f32
    %t25 = arith.addf %t23, %t24 fastmath<reassoc,contract> : f32
    %t26 = math.tanh %t25 : f32
    %t28 = arith.mulf %t17, %i27 fastmath<reassoc,contract> : f32
    %t29 = arith.subf %one, %t17 fastmath<reassoc,contract> : f32
    %t30 = arith.mulf %t29, %t26 fastmath<reassoc,contract> : f32
    %t31 = arith.addf %t28, %t30 fastmath<reassoc,contract> : f32
    linalg.yield %t31 : f32
  }
  return
}
