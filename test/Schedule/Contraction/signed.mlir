// Input: signed bytes times signed bytes. VNNI multiplies unsigned by signed bytes. Checks that 128 is added to the
// bytes of a row by flipping a bit; that the amount which this adds is summed once for all rows of a tile, by the same
// dots with 128 in place of the row, and subtracted from the initial sums. AMX multiplies all combinations, so nothing
// is shifted.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core_vnni | FileCheck %s
// RUN: quern-opt %s --codegen --target=avx512_core_vnni | FileCheck %s --check-prefix=ASM
// RUN: quern-opt %s --codegen --target=avx512_core_amx | FileCheck %s --check-prefix=AMX
// RUN: quern-opt %s --check --target=avx512_core_bf16
// RUN: quern-opt %s --check --target=avx512_core_vnni
// RUN: quern-opt %s --check --target=avx512_core
// RUN: quern-opt %s --check --target=avx2
// RUN: quern-opt %s --check --target=sse42
// CHECK: plan = <contraction, rows = 16, columns = 40, products = 3, dot = "dots of four bytes, shifted", accumulators = 4
// CHECK: %{{.*}}:4 = scf.for %{{.*}} = %c0 to %c6 step %c1 iter_args
// CHECK-NOT: arith.xori
// CHECK-COUNT-4: arith.subi {{.*}} : vector<16xi32>
// CHECK-NOT: arith.subi {{.*}} : vector<16xi32>
// CHECK: %{{.*}}:16 = scf.for %{{.*}} = %c0 to %c6 step %c1 iter_args
// CHECK: arith.xori
// CHECK-COUNT-4: vector.contract
// ASM: vpxord {{.*}}{1to16}
// ASM-NEXT: vpdpbusd
// ASM-NEXT: vpdpbusd
// ASM-NEXT: vpdpbusd
// ASM-NEXT: vpdpbusd
// AMX-NOT: vpxord
// AMX: tdpbssd
// AMX-NOT: vpdpbusd
// AMX: tilerelease
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
func.func @lstm(%x: memref<16x27xi8> {quern.arg = "x"}, %h: memref<16x40xi8> {quern.arg = "h"}, %w: memref<3x7x4x16x4xi8> {quern.arg = "w"}, %u: memref<3x10x4x16x4xi8> {quern.arg = "u"}, %b: memref<4x40xf32> {quern.arg = "b"}, %scale: memref<4x40xf32> {quern.arg = "scale"}, %c: memref<16x40xf32> {quern.arg = "c"}, %cNext: memref<16x40xf32> {quern.arg = "cNext"}, %hNext: memref<16x40xi8> {quern.arg = "hNext"}) {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0 : i32
  %sums = memref.alloc() : memref<16x4x48xi32>
  linalg.fill ins(%zero : i32) outs(%sums : memref<16x4x48xi32>)
  %wv1 = memref.subview %w[0, 0, 0, 0, 0] [3, 6, 4, 16, 4] [1, 1, 1, 1, 1] : memref<3x7x4x16x4xi8> to memref<3x6x4x16x4xi8, strided<[1792, 256, 64, 4, 1]>>
  linalg.generic {indexing_maps = [#m0, #m1, #m2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%x, %wv1 : memref<16x27xi8>, memref<3x6x4x16x4xi8, strided<[1792, 256, 64, 4, 1]>>) outs(%sums : memref<16x4x48xi32>) {
  ^bb0(%av: i8, %bv: i8, %s: i32):
    %ax = arith.extsi %av : i8 to i32
    %bx = arith.extsi %bv : i8 to i32
    %p = arith.muli %ax, %bx : i32
    %r = arith.addi %s, %p : i32
    linalg.yield %r : i32
  }
  %wv2 = memref.subview %w[0, 6, 0, 0, 0] [3, 1, 4, 16, 3] [1, 1, 1, 1, 1] : memref<3x7x4x16x4xi8> to memref<3x1x4x16x3xi8, strided<[1792, 256, 64, 4, 1], offset: 1536>>
  linalg.generic {indexing_maps = [#m3, #m1, #m2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%x, %wv2 : memref<16x27xi8>, memref<3x1x4x16x3xi8, strided<[1792, 256, 64, 4, 1], offset: 1536>>) outs(%sums : memref<16x4x48xi32>) {
  ^bb0(%av: i8, %bv: i8, %s: i32):
    %ax = arith.extsi %av : i8 to i32
    %bx = arith.extsi %bv : i8 to i32
    %p = arith.muli %ax, %bx : i32
    %r = arith.addi %s, %p : i32
    linalg.yield %r : i32
  }
  %wv3 = memref.subview %u[0, 0, 0, 0, 0] [3, 10, 4, 16, 4] [1, 1, 1, 1, 1] : memref<3x10x4x16x4xi8> to memref<3x10x4x16x4xi8, strided<[2560, 256, 64, 4, 1]>>
  linalg.generic {indexing_maps = [#m0, #m1, #m2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%h, %wv3 : memref<16x40xi8>, memref<3x10x4x16x4xi8, strided<[2560, 256, 64, 4, 1]>>) outs(%sums : memref<16x4x48xi32>) {
  ^bb0(%av: i8, %bv: i8, %s: i32):
    %ax = arith.extsi %av : i8 to i32
    %bx = arith.extsi %bv : i8 to i32
    %p = arith.muli %ax, %bx : i32
    %r = arith.addi %s, %p : i32
    linalg.yield %r : i32
  }
  %live = memref.subview %sums[0, 0, 0] [16, 4, 40] [1, 1, 1] : memref<16x4x48xi32> to memref<16x4x40xi32, strided<[192, 48, 1]>>
  %gates = memref.alloc() : memref<16x4x40xf32>
  linalg.generic {indexing_maps = [#m4, #m5, #m4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%live, %scale : memref<16x4x40xi32, strided<[192, 48, 1]>>, memref<4x40xf32>) outs(%gates : memref<16x4x40xf32>) {
  ^bb0(%s: i32, %sc: f32, %out: f32):
    %f = arith.sitofp %s : i32 to f32
    %m = arith.mulf %f, %sc fastmath<reassoc,contract> : f32
    linalg.yield %m : f32
  }
  %quant = arith.constant 127.0 : f32
  %low = arith.constant -128.0 : f32
  %high = arith.constant 127.0 : f32
  %shiftq = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#m6, #m7, #m8, #m9, #m10, #m11, #m12, #m13, #m14, #m6, #m6], iterator_types = ["parallel", "parallel"]}
      ins(%c, %gates, %b, %gates, %b, %gates, %b, %gates, %b : memref<16x40xf32>, memref<16x4x40xf32>, memref<4x40xf32>, memref<16x4x40xf32>, memref<4x40xf32>, memref<16x4x40xf32>, memref<4x40xf32>, memref<16x4x40xf32>, memref<4x40xf32>) outs(%cNext, %hNext : memref<16x40xf32>, memref<16x40xi8>) {
  ^bb0(%i1: f32, %i2: f32, %i3: f32, %i5: f32, %i6: f32, %i8: f32, %i9: f32, %i11: f32, %i12: f32, %out0: f32, %out1: i8):
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
    %t32 = arith.mulf %t31, %quant fastmath<reassoc,contract> : f32
    %t33 = arith.addf %t32, %shiftq fastmath<reassoc,contract> : f32
    %t34 = arith.maximumf %t33, %low : f32
    %t35 = arith.minimumf %t34, %high : f32
    %t36 = math.roundeven %t35 : f32
    %t37 = arith.fptosi %t36 : f32 to i8
    linalg.yield %t25, %t37 : f32, i8
  }
  return
}
