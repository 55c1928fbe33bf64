// Input: an LSTM cell on bytes with an open number of rows and open strides. Each row has a length. Checks that once
// the step, a scalar loaded before the loops, has reached the length, the row keeps its state and its result is zero.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s
// RUN: quern-opt %s --check --target=avx512_core_bf16 --sizes=7,32,7,56,7,48,7,7,40,7,64,7,48
// RUN: quern-opt %s --check --target=avx512_core_vnni --sizes=7,32,7,56,7,48,7,7,40,7,64,7,48
// RUN: quern-opt %s --check --target=avx512_core --sizes=7,32,7,56,7,48,7,7,40,7,64,7,48
// RUN: quern-opt %s --check --target=avx2 --sizes=7,32,7,56,7,48,7,7,40,7,64,7,48
// RUN: quern-opt %s --check --target=sse42 --sizes=7,32,7,56,7,48,7,7,40,7,64,7,48
// RUN: quern-opt %s --check --target=avx512_core_bf16 --sizes=70,32,70,56,70,48,70,70,40,70,64,70,48
// RUN: quern-opt %s --check --target=avx512_core_vnni --sizes=70,32,70,56,70,48,70,70,40,70,64,70,48
// RUN: quern-opt %s --check --target=avx512_core --sizes=70,32,70,56,70,48,70,70,40,70,64,70,48
// RUN: quern-opt %s --check --target=avx2 --sizes=70,32,70,56,70,48,70,70,40,70,64,70,48
// RUN: quern-opt %s --check --target=sse42 --sizes=70,32,70,56,70,48,70,70,40,70,64,70,48
// CHECK: plan = <contraction, rows = "?", columns = 40, products = 3, dot = "dots of bytes in 16 bits", accumulators = 4
// CHECK: memref.load %{{.*}} : memref<?xi32>
#m0 = affine_map<(n, p, g, v, k, j) -> (n, k * 4 + j + 0)>
#m1 = affine_map<(n, p, g, v, k, j) -> (p, k, g, v, j)>
#m2 = affine_map<(n, p, g, v, k, j) -> (n, g, p * 16 + v)>
#m3 = affine_map<(n, p, g, v, k, j) -> (n, k * 4 + j + 24)>
#m4 = affine_map<(n, g, o) -> (n, g, o)>
#m5 = affine_map<(n, g, o) -> (g, o)>
#m6 = affine_map<(n, o) -> (n, o)>
#m7 = affine_map<(n, o) -> (n, 0, o)>
#m8 = affine_map<(n, o) -> (0, o)>
#m9 = affine_map<(n, o) -> (n, 1, o)>
#m10 = affine_map<(n, o) -> (1, o)>
#m11 = affine_map<(n, o) -> (n, 2, o)>
#m12 = affine_map<(n, o) -> (2, o)>
#m13 = affine_map<(n, o) -> (n, 3, o)>
#m14 = affine_map<(n, o) -> (3, o)>
#m15 = affine_map<(n, o) -> (n)>
func.func @lstm(%x: memref<?x27xi8, strided<[?, 1]>> {quern.arg = "x"}, %h: memref<?x40xi8, strided<[?, 1]>> {quern.arg = "h"}, %w: memref<3x7x4x16x4xi8> {quern.arg = "w"}, %u: memref<3x10x4x16x4xi8> {quern.arg = "u"}, %b: memref<4x40xf32> {quern.arg = "b"}, %scale: memref<4x40xf32> {quern.arg = "scale"}, %c: memref<?x40xf32, strided<[?, 1]>> {quern.arg = "c"}, %len: memref<?xi32> {quern.arg = "len"}, %t: memref<1xi32> {quern.arg = "t"}, %y: memref<?x40xi8, strided<[?, 1]>> {quern.arg = "y"}, %cNext: memref<?x40xf32, strided<[?, 1]>> {quern.arg = "cNext"}, %hNext: memref<?x40xi8, strided<[?, 1]>> {quern.arg = "hNext"}) {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %rows = memref.dim %x, %c0 : memref<?x27xi8, strided<[?, 1]>>
  %sums = memref.alloc(%rows) : memref<?x4x48xi32>
  linalg.fill ins(%zero : i32) outs(%sums : memref<?x4x48xi32>)
  %wv1 = memref.subview %w[0, 0, 0, 0, 0] [3, 6, 4, 16, 4] [1, 1, 1, 1, 1] : memref<3x7x4x16x4xi8> to memref<3x6x4x16x4xi8, strided<[1792, 256, 64, 4, 1]>>
  linalg.generic {indexing_maps = [#m0, #m1, #m2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%x, %wv1 : memref<?x27xi8, strided<[?, 1]>>, memref<3x6x4x16x4xi8, strided<[1792, 256, 64, 4, 1]>>) outs(%sums : memref<?x4x48xi32>) {
  ^bb0(%av: i8, %bv: i8, %s: i32):
    %ax = arith.extui %av : i8 to i32
    %bx = arith.extsi %bv : i8 to i32
    %p = arith.muli %ax, %bx : i32
    %r = arith.addi %s, %p : i32
    linalg.yield %r : i32
  }
  %wv2 = memref.subview %w[0, 6, 0, 0, 0] [3, 1, 4, 16, 3] [1, 1, 1, 1, 1] : memref<3x7x4x16x4xi8> to memref<3x1x4x16x3xi8, strided<[1792, 256, 64, 4, 1], offset: 1536>>
  linalg.generic {indexing_maps = [#m3, #m1, #m2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%x, %wv2 : memref<?x27xi8, strided<[?, 1]>>, memref<3x1x4x16x3xi8, strided<[1792, 256, 64, 4, 1], offset: 1536>>) outs(%sums : memref<?x4x48xi32>) {
  ^bb0(%av: i8, %bv: i8, %s: i32):
    %ax = arith.extui %av : i8 to i32
    %bx = arith.extsi %bv : i8 to i32
    %p = arith.muli %ax, %bx : i32
    %r = arith.addi %s, %p : i32
    linalg.yield %r : i32
  }
  %wv3 = memref.subview %u[0, 0, 0, 0, 0] [3, 10, 4, 16, 4] [1, 1, 1, 1, 1] : memref<3x10x4x16x4xi8> to memref<3x10x4x16x4xi8, strided<[2560, 256, 64, 4, 1]>>
  linalg.generic {indexing_maps = [#m0, #m1, #m2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%h, %wv3 : memref<?x40xi8, strided<[?, 1]>>, memref<3x10x4x16x4xi8, strided<[2560, 256, 64, 4, 1]>>) outs(%sums : memref<?x4x48xi32>) {
  ^bb0(%av: i8, %bv: i8, %s: i32):
    %ax = arith.extui %av : i8 to i32
    %bx = arith.extsi %bv : i8 to i32
    %p = arith.muli %ax, %bx : i32
    %r = arith.addi %s, %p : i32
    linalg.yield %r : i32
  }
  %live = memref.subview %sums[0, 0, 0] [%rows, 4, 40] [1, 1, 1] : memref<?x4x48xi32> to memref<?x4x40xi32, strided<[192, 48, 1]>>
  %gates = memref.alloc(%rows) : memref<?x4x40xf32>
  linalg.generic {indexing_maps = [#m4, #m5, #m4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%live, %scale : memref<?x4x40xi32, strided<[192, 48, 1]>>, memref<4x40xf32>) outs(%gates : memref<?x4x40xf32>) {
  ^bb0(%s: i32, %sc: f32, %out: f32):
    %f = arith.sitofp %s : i32 to f32
    %m = arith.mulf %f, %sc fastmath<reassoc,contract> : f32
    linalg.yield %m : f32
  }
  %tv = memref.load %t[%c0] : memref<1xi32>
  %zf = arith.constant 0.0 : f32
  %quant = arith.constant 127.0 : f32
  %low = arith.constant 0.0 : f32
  %high = arith.constant 255.0 : f32
  %shiftq = arith.constant 128.0 : f32
  linalg.generic {indexing_maps = [#m6, #m7, #m8, #m9, #m10, #m11, #m12, #m13, #m14, #m15, #m6, #m6, #m6, #m6], iterator_types = ["parallel", "parallel"]}
      ins(%c, %gates, %b, %gates, %b, %gates, %b, %gates, %b, %len, %h : memref<?x40xf32, strided<[?, 1]>>, memref<?x4x40xf32>, memref<4x40xf32>, memref<?x4x40xf32>, memref<4x40xf32>, memref<?x4x40xf32>, memref<4x40xf32>, memref<?x4x40xf32>, memref<4x40xf32>, memref<?xi32>, memref<?x40xi8, strided<[?, 1]>>) outs(%y, %cNext, %hNext : memref<?x40xi8, strided<[?, 1]>>, memref<?x40xf32, strided<[?, 1]>>, memref<?x40xi8, strided<[?, 1]>>) {
  ^bb0(%i1: f32, %i2: f32, %i3: f32, %i5: f32, %i6: f32, %i8: f32, %i9: f32, %i11: f32, %i12: f32, %i32: i32, %i34: i8, %out0: i8, %out1: f32, %out2: i8):
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
    %t33 = arith.cmpi sgt, %i32, %tv : i32
    %t35 = arith.uitofp %i34 : i8 to f32
    %t36 = arith.select %t33, %t31, %zf : f32
    %t37 = arith.select %t33, %t25, %i1 : f32
    %t38 = arith.select %t33, %t31, %t35 : f32
    %t39 = arith.mulf %t36, %quant fastmath<reassoc,contract> : f32
    %t40 = arith.addf %t39, %shiftq fastmath<reassoc,contract> : f32
    %t41 = arith.maximumf %t40, %low : f32
    %t42 = arith.minimumf %t41, %high : f32
    %t43 = math.roundeven %t42 : f32
    %t44 = arith.fptoui %t43 : f32 to i8
    %t45 = arith.mulf %t38, %quant fastmath<reassoc,contract> : f32
    %t46 = arith.addf %t45, %shiftq fastmath<reassoc,contract> : f32
    %t47 = arith.maximumf %t46, %low : f32
    %t48 = arith.minimumf %t47, %high : f32
    %t49 = math.roundeven %t48 : f32
    %t50 = arith.fptoui %t49 : f32 to i8
    linalg.yield %t44, %t37, %t50 : i8, f32, i8
  }
  return
}
