// Input: an LSTM cell with peephole. c and the bias are bf16, and c is overwritten in place. Rows are longer than their
// used part; h is written twice, as f16 and as f32. Checks that the cell is one contraction with correct results.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s
// RUN: quern-opt %s --check --target=avx512_core_bf16
// RUN: quern-opt %s --check --target=avx512_core_vnni
// RUN: quern-opt %s --check --target=avx512_core
// RUN: quern-opt %s --check --target=avx2
// RUN: quern-opt %s --check --target=sse42
// CHECK: plan = <contraction, rows = 7, columns = 40, products = 2, dot = "fma", accumulators = 4
#m0 = affine_map<(n, p, g, v, k) -> (n, k)>
#m1 = affine_map<(n, p, g, v, k) -> (p, k, g, v)>
#m2 = affine_map<(n, p, g, v, k) -> (n, g, p * 16 + v)>
#m3 = affine_map<(n, o) -> (n, o)>
#m4 = affine_map<(n, o) -> (n, 0, o)>
#m5 = affine_map<(n, o) -> (0, o)>
#m6 = affine_map<(n, o) -> (n, 1, o)>
#m7 = affine_map<(n, o) -> (1, o)>
#m8 = affine_map<(n, o) -> (n, 2, o)>
#m9 = affine_map<(n, o) -> (2, o)>
#m10 = affine_map<(n, o) -> (n, 3, o)>
#m11 = affine_map<(n, o) -> (3, o)>
func.func @peep(%x: memref<7x24xf16, strided<[32, 1]>> {quern.arg = "x"}, %h: memref<7x40xf16, strided<[48, 1]>> {quern.arg = "h"}, %w: memref<3x24x4x16xf16> {quern.arg = "w"}, %u: memref<3x40x4x16xf16> {quern.arg = "u"}, %b: memref<4x40xbf16> {quern.arg = "b"}, %c: memref<7x40xbf16> {quern.arg = "c"}, %peep: memref<3x40xf32> {quern.arg = "peep"}, %hNext: memref<7x40xf16, strided<[48, 1]>> {quern.arg = "hNext"}, %dst: memref<7x40xf32, strided<[48, 1]>> {quern.arg = "dst"}) {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<7x4x48xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<7x4x48xf32>)
  %wv1 = memref.subview %w[0, 0, 0, 0] [3, 24, 4, 16] [1, 1, 1, 1] : memref<3x24x4x16xf16> to memref<3x24x4x16xf16, strided<[1536, 64, 16, 1]>>
  linalg.generic {indexing_maps = [#m0, #m1, #m2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%x, %wv1 : memref<7x24xf16, strided<[32, 1]>>, memref<3x24x4x16xf16, strided<[1536, 64, 16, 1]>>) outs(%sums : memref<7x4x48xf32>) {
  ^bb0(%av: f16, %bv: f16, %s: f32):
    %ax = arith.extf %av : f16 to f32
    %bx = arith.extf %bv : f16 to f32
    %p = arith.mulf %ax, %bx fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  %wv2 = memref.subview %u[0, 0, 0, 0] [3, 40, 4, 16] [1, 1, 1, 1] : memref<3x40x4x16xf16> to memref<3x40x4x16xf16, strided<[2560, 64, 16, 1]>>
  linalg.generic {indexing_maps = [#m0, #m1, #m2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%h, %wv2 : memref<7x40xf16, strided<[48, 1]>>, memref<3x40x4x16xf16, strided<[2560, 64, 16, 1]>>) outs(%sums : memref<7x4x48xf32>) {
  ^bb0(%av: f16, %bv: f16, %s: f32):
    %ax = arith.extf %av : f16 to f32
    %bx = arith.extf %bv : f16 to f32
    %p = arith.mulf %ax, %bx fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  %live = memref.subview %sums[0, 0, 0] [7, 4, 40] [1, 1, 1] : memref<7x4x48xf32> to memref<7x4x40xf32, strided<[192, 48, 1]>>
  linalg.generic {indexing_maps = [#m3, #m4, #m5, #m6, #m7, #m8, #m9, #m10, #m11, #m5, #m7, #m9, #m3, #m3, #m3], iterator_types = ["parallel", "parallel"]}
      ins(%c, %live, %b, %live, %b, %live, %b, %live, %b, %peep, %peep, %peep : memref<7x40xbf16>, memref<7x4x40xf32, strided<[192, 48, 1]>>, memref<4x40xbf16>, memref<7x4x40xf32, strided<[192, 48, 1]>>, memref<4x40xbf16>, memref<7x4x40xf32, strided<[192, 48, 1]>>, memref<4x40xbf16>, memref<7x4x40xf32, strided<[192, 48, 1]>>, memref<4x40xbf16>, memref<3x40xf32>, memref<3x40xf32>, memref<3x40xf32>) outs(%c, %hNext, %dst : memref<7x40xbf16>, memref<7x40xf16, strided<[48, 1]>>, memref<7x40xf32, strided<[48, 1]>>) {
  ^bb0(%i1: bf16, %i3: f32, %i4: bf16, %i7: f32, %i8: bf16, %i11: f32, %i12: bf16, %i15: f32, %i16: bf16, %i19: f32, %i20: f32, %i21: f32, %out0: bf16, %out1: f16, %out2: f32):
    %w2 = arith.extf %i1 : bf16 to f32
    %w5 = arith.extf %i4 : bf16 to f32
    %t6 = arith.addf %i3, %w5 fastmath<reassoc,contract> : f32
    %w9 = arith.extf %i8 : bf16 to f32
    %t10 = arith.addf %i7, %w9 fastmath<reassoc,contract> : f32
    %w13 = arith.extf %i12 : bf16 to f32
    %t14 = arith.addf %i11, %w13 fastmath<reassoc,contract> : f32
    %w17 = arith.extf %i16 : bf16 to f32
    %t18 = arith.addf %i15, %w17 fastmath<reassoc,contract> : f32
    %t22 = arith.mulf %w2, %i19 fastmath<reassoc,contract> : f32
    %t23 = arith.addf %t6, %t22 fastmath<reassoc,contract> : f32
    %t24 = arith.mulf %w2, %i20 fastmath<reassoc,contract> : f32
    %t25 = arith.addf %t10, %t24 fastmath<reassoc,contract> : f32
    %t26 = arith.negf %t23 : f32
    %t27 = math.exp %t26 : f32
    %t28 = arith.addf %t27, %one  : f32
    %t29 = arith.divf %one, %t28 : f32
    %t30 = arith.negf %t25 : f32
    %t31 = math.exp %t30 : f32
    %t32 = arith.addf %t31, %one  : f32
    %t33 = arith.divf %one, %t32 : f32
    %t34 = math.tanh %t14 : f32
    %t35 = arith.mulf %t33, %w2 fastmath<reassoc,contract> : f32
    %t36 = arith.mulf %t29, %t34 fastmath<reassoc,contract> : f32
    %t37 = arith.addf %t35, %t36 fastmath<reassoc,contract> : f32
    %t38 = arith.mulf %t37, %i21 fastmath<reassoc,contract> : f32
    %t39 = arith.addf %t18, %t38 fastmath<reassoc,contract> : f32
    %t40 = arith.negf %t39 : f32
    %t41 = math.exp %t40 : f32
    %t42 = arith.addf %t41, %one  : f32
    %t43 = arith.divf %one, %t42 : f32
    %t44 = math.tanh %t37 : f32
    %t45 = arith.mulf %t43, %t44 fastmath<reassoc,contract> : f32
    %t46 = arith.truncf %t37 : f32 to bf16
    %t47 = arith.truncf %t45 : f32 to f16
    linalg.yield %t46, %t47, %t45 : bf16, f16, f32
  }
  return
}
