// Input: bytes with K contiguous, and only the third of three gates. Checks that there is one accumulator, without
// dots, and that columns are loaded one by one.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s
// RUN: quern-opt %s --check --target=avx512_core_bf16
// RUN: quern-opt %s --check --target=avx512_core_vnni
// RUN: quern-opt %s --check --target=avx512_core
// RUN: quern-opt %s --check --target=avx2
// RUN: quern-opt %s --check --target=sse42
// CHECK: plan = <contraction, rows = 3, columns = 24, products = 2, dot = "mul and add", accumulators = 1
// CHECK: vector.from_elements
#m0 = affine_map<(n, g, o, k) -> (n, k)>
#m1 = affine_map<(n, g, o, k) -> (g, o, k)>
#m2 = affine_map<(n, g, o, k) -> (n, g, o)>
#m3 = affine_map<(n, g, o) -> (n, g, o)>
#m4 = affine_map<(n, g, o) -> (g, o)>
#m5 = affine_map<(n, o) -> (n, o)>
#m6 = affine_map<(n, o) -> (n, 0, o)>
#m7 = affine_map<(n, o) -> (2, o)>
func.func @gru2(%x: memref<3x27xi8> {quern.arg = "x"}, %h: memref<3x24xi8> {quern.arg = "h"}, %w: memref<3x24x27xi8> {quern.arg = "w"}, %u: memref<3x24x24xi8> {quern.arg = "u"}, %b: memref<3x24xf32> {quern.arg = "b"}, %scale: memref<1x24xf32> {quern.arg = "scale"}, %update: memref<3x24xf32> {quern.arg = "update"}, %hPrev: memref<3x24xi8> {quern.arg = "hPrev"}, %hNext: memref<3x24xi8> {quern.arg = "hNext"}) {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0 : i32
  %sums = memref.alloc() : memref<3x1x24xi32>
  linalg.fill ins(%zero : i32) outs(%sums : memref<3x1x24xi32>)
  %wv1 = memref.subview %w[2, 0, 0] [1, 24, 27] [1, 1, 1] : memref<3x24x27xi8> to memref<1x24x27xi8, strided<[648, 27, 1], offset: 1296>>
  linalg.generic {indexing_maps = [#m0, #m1, #m2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %wv1 : memref<3x27xi8>, memref<1x24x27xi8, strided<[648, 27, 1], offset: 1296>>) outs(%sums : memref<3x1x24xi32>) {
  ^bb0(%av: i8, %bv: i8, %s: i32):
    %ax = arith.extsi %av : i8 to i32
    %bx = arith.extsi %bv : i8 to i32
    %p = arith.muli %ax, %bx : i32
    %r = arith.addi %s, %p : i32
    linalg.yield %r : i32
  }
  %wv2 = memref.subview %u[2, 0, 0] [1, 24, 24] [1, 1, 1] : memref<3x24x24xi8> to memref<1x24x24xi8, strided<[576, 24, 1], offset: 1152>>
  linalg.generic {indexing_maps = [#m0, #m1, #m2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%h, %wv2 : memref<3x24xi8>, memref<1x24x24xi8, strided<[576, 24, 1], offset: 1152>>) outs(%sums : memref<3x1x24xi32>) {
  ^bb0(%av: i8, %bv: i8, %s: i32):
    %ax = arith.extsi %av : i8 to i32
    %bx = arith.extsi %bv : i8 to i32
    %p = arith.muli %ax, %bx : i32
    %r = arith.addi %s, %p : i32
    linalg.yield %r : i32
  }
  %gates = memref.alloc() : memref<3x1x24xf32>
  linalg.generic {indexing_maps = [#m3, #m4, #m3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%sums, %scale : memref<3x1x24xi32>, memref<1x24xf32>) outs(%gates : memref<3x1x24xf32>) {
  ^bb0(%s: i32, %sc: f32, %out: f32):
    %f = arith.sitofp %s : i32 to f32
    %m = arith.mulf %f, %sc fastmath<reassoc,contract> : f32
    linalg.yield %m : f32
  }
  %quant = arith.constant 127.0 : f32
  %low = arith.constant -128.0 : f32
  %high = arith.constant 127.0 : f32
  %shiftq = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#m6, #m7, #m5, #m5, #m5], iterator_types = ["parallel", "parallel"]}
      ins(%gates, %b, %update, %hPrev : memref<3x1x24xf32>, memref<3x24xf32>, memref<3x24xf32>, memref<3x24xi8>) outs(%hNext : memref<3x24xi8>) {
  ^bb0(%i1: f32, %i2: f32, %i5: f32, %i6: i8, %out0: i8):
    %t3 = arith.addf %i1, %i2 fastmath<reassoc,contract> : f32
    %t4 = math.tanh %t3 : f32
    %t7 = arith.sitofp %i6 : i8 to f32
    %t8 = arith.mulf %i5, %t7 fastmath<reassoc,contract> : f32
    %t9 = arith.subf %one, %i5 fastmath<reassoc,contract> : f32
    %t10 = arith.mulf %t9, %t4 fastmath<reassoc,contract> : f32
    %t11 = arith.addf %t8, %t10 fastmath<reassoc,contract> : f32
    %t12 = arith.mulf %t11, %quant fastmath<reassoc,contract> : f32
    %t13 = arith.addf %t12, %shiftq fastmath<reassoc,contract> : f32
    %t14 = arith.maximumf %t13, %low : f32
    %t15 = arith.minimumf %t14, %high : f32
    %t16 = math.roundeven %t15 : f32
    %t17 = arith.fptosi %t16 : f32 to i8
    linalg.yield %t17 : i8
  }
  return
}
