// Input: products for matrix registers (AMX). Checks that blocks of 2x2 matrices stay in registers over all of K, that
// a call configures the registers once, that matrices of one height cover the rows (40 = 14 + 14 + 12: the last starts
// two rows higher), and that the remainder of K (less than 16 pairs) is copied to zeroed memory. A product of few rows
// uses vectors.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core_amx | FileCheck %s
// RUN: quern-opt %s --codegen --target=avx512_core_amx | FileCheck %s --check-prefix=ASM
// RUN: sed 's/memref<40x/memref<3x/g' %s | quern-opt --schedule --target=avx512_core_amx | FileCheck %s --check-prefix=FEW
// RUN: quern-opt %s --schedule --target=avx512_core_bf16 | FileCheck %s --check-prefix=DOTS
// RUN: quern-opt %s --check --target=native
// CHECK: plan = <contraction, rows = 40, columns = 64, products = 1, dot = "matrices of bf16 pairs", accumulators = 1, k_loops = 1, block_rows = 2, block_matrices = 2, matrix_rows = 14, tiles = 1, tile_width = 64, chunks = 1
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"
// CHECK: scf.for %{{.*}} = %arg5 to %arg6 step %c1 {
// CHECK: vector.maskedload {{.*}} : memref<2880xbf16>, vector<32xi1>, vector<32xbf16> into vector<32xbf16>
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tilezero"
// CHECK: scf.for %{{.*}} = %c0 to %c2 step %c1
// CHECK: arith.maxnumf
// CHECK: llvm.call_intrinsic "llvm.x86.tilerelease"
// ASM: ldtilecfg
// ASM: tilezero %tmm0
// ASM: tilezero %tmm2
// ASM: tilezero %tmm1
// ASM: tilezero %tmm3
// ASM-NOT: tilestored
// ASM: tileloadd {{.*}}, %tmm4
// ASM: tileloadd {{.*}}, %tmm5
// ASM: tileloadd {{.*}}, %tmm6
// ASM-NEXT: tdpbf16ps %tmm6, %tmm4, %tmm0
// ASM-NEXT: tdpbf16ps %tmm6, %tmm5, %tmm1
// ASM: tileloadd {{.*}}, %tmm7
// ASM-NEXT: tdpbf16ps %tmm7, %tmm4, %tmm2
// ASM-NEXT: tdpbf16ps %tmm7, %tmm5, %tmm3
// ASM-NOT: tileloadd {{.*}}%rsp
// ASM: jl
// ASM: tilestored %tmm0
// ASM: tilerelease
// FEW: dot = "dots of bf16 pairs"
// DOTS: dot = "dots of bf16 pairs"
#x = affine_map<(n, p, v, k, j) -> (n, k * 2 + j)>
#w = affine_map<(n, p, v, k, j) -> (p, k, v, j)>
#acc = affine_map<(n, p, v, k, j) -> (n, p * 16 + v)>
#id = affine_map<(n, o) -> (n, o)>
#column = affine_map<(n, o) -> (o)>
func.func @gemm(%a: memref<40x72xbf16>, %w: memref<4x36x16x2xbf16>, %bias: memref<64xf32>, %out: memref<40x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<40x64xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<40x64xf32>)
  linalg.generic {indexing_maps = [#x, #w, #acc], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %w : memref<40x72xbf16>, memref<4x36x16x2xbf16>) outs(%sums : memref<40x64xf32>) {
  ^bb0(%av: bf16, %bv: bf16, %s: f32):
    %ax = arith.extf %av : bf16 to f32
    %bx = arith.extf %bv : bf16 to f32
    %p = arith.mulf %ax, %bx fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sums, %bias : memref<40x64xf32>, memref<64xf32>) outs(%out : memref<40x64xf32>) {
  ^bb0(%s: f32, %b: f32, %old: f32):
    %z = arith.addf %s, %b : f32
    %r = arith.maxnumf %z, %zero : f32
    linalg.yield %r : f32
  }
  return
}
