// Input: the cell of lstm.mlir in bf16, with pairs along K contiguous. Checks that the products of pairs are one
// operation each: one instruction if the target has it, or part of one if it multiplies matrices. Other targets extract
// the elements of a pair by shifts.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core_bf16 | FileCheck %s
// RUN: quern-opt %s --codegen --target=avx512_core_bf16 | FileCheck %s --check-prefix=ASM
// RUN: quern-opt %s --schedule --target=avx512_core_amx | FileCheck %s --check-prefix=MATRICES
// RUN: quern-opt %s --codegen --target=avx512_core_amx | FileCheck %s --check-prefix=AMX
// RUN: quern-opt %s --schedule --target=avx2 | FileCheck %s --check-prefix=APART
// RUN: quern-opt %s --check
// RUN: quern-opt %s --check --target=avx2
// RUN: quern-opt %s --check --target=sse42
// CHECK: plan = <contraction, rows = 16, columns = 512, products = 2, dot = "dots of bf16 pairs", accumulators = 4, k_loops = 1, block_rows = 6, block_vectors = 4, short_block_rows = 5, tiles = 32
// CHECK-COUNT-24: vector.contract {{.*}} : vector<2xbf16>, vector<16x2xbf16> into vector<16xf32>
// ASM: vbroadcastss {{.*}},2), %zmm
// ASM-NEXT: vdpbf16ps
// ASM-NEXT: vdpbf16ps
// ASM-NEXT: vdpbf16ps
// ASM-NEXT: vdpbf16ps
// MATRICES: products = 2, dot = "matrices of bf16 pairs", accumulators = 4, k_loops = 1, block_rows = 1, block_matrices = 4, matrix_rows = 16, tiles = 32
// AMX: ldtilecfg
// AMX-COUNT-4: tilezero
// AMX-NOT: tilestored
// AMX-COUNT-2: tdpbf16ps %tmm5, %tmm4
// AMX: jl
// AMX-COUNT-2: tdpbf16ps %tmm5, %tmm4
// AMX: jl
// AMX-COUNT-4: tilestored
// AMX: tilerelease
// APART: products = 2, dot = "fma", accumulators = 4
// APART: arith.shrui
// APART: math.fma
#x = affine_map<(n, p, g, v, k, j) -> (n, k * 2 + j)>
#w = affine_map<(n, p, g, v, k, j) -> (p, k, g, v, j)>
#acc = affine_map<(n, p, g, v, k, j) -> (n, g, p * 16 + v)>
#biasI = affine_map<(n, o) -> (0, o)>
#biasF = affine_map<(n, o) -> (1, o)>
#biasC = affine_map<(n, o) -> (2, o)>
#biasO = affine_map<(n, o) -> (3, o)>
#gateI = affine_map<(n, o) -> (n, 0, o)>
#gateF = affine_map<(n, o) -> (n, 1, o)>
#gateC = affine_map<(n, o) -> (n, 2, o)>
#gateO = affine_map<(n, o) -> (n, 3, o)>
#state = affine_map<(n, o) -> (n, o)>
func.func @lstm_cell(%x: memref<16x512xbf16>, %h: memref<16x512xbf16>, %c: memref<16x512xf32>, %w: memref<32x256x4x16x2xbf16>, %u: memref<32x256x4x16x2xbf16>, %b: memref<4x512xf32>, %hNext: memref<16x512xbf16>, %cNext: memref<16x512xf32>) {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<16x4x512xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<16x4x512xf32>)
  linalg.generic {indexing_maps = [#x, #w, #acc], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<16x512xbf16>, memref<32x256x4x16x2xbf16>) outs(%sums : memref<16x4x512xf32>) {
  ^bb0(%av: bf16, %bv: bf16, %s: f32):
    %ax = arith.extf %av : bf16 to f32
    %bx = arith.extf %bv : bf16 to f32
    %p = arith.mulf %ax, %bx fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #acc], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%h, %u : memref<16x512xbf16>, memref<32x256x4x16x2xbf16>) outs(%sums : memref<16x4x512xf32>) {
  ^bb0(%av: bf16, %bv: bf16, %s: f32):
    %ax = arith.extf %av : bf16 to f32
    %bx = arith.extf %bv : bf16 to f32
    %p = arith.mulf %ax, %bx fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#gateI, #gateF, #gateC, #gateO, #biasI, #biasF, #biasC, #biasO, #state, #state, #state], iterator_types = ["parallel", "parallel"]}
      ins(%sums, %sums, %sums, %sums, %b, %b, %b, %b, %c : memref<16x4x512xf32>, memref<16x4x512xf32>, memref<16x4x512xf32>, memref<16x4x512xf32>, memref<4x512xf32>, memref<4x512xf32>, memref<4x512xf32>, memref<4x512xf32>, memref<16x512xf32>)
      outs(%cNext, %hNext : memref<16x512xf32>, memref<16x512xbf16>) {
  ^bb0(%gi: f32, %gf: f32, %gc: f32, %go: f32, %bi: f32, %bf: f32, %bc: f32, %bo: f32, %cPrev: f32, %outC: f32, %outH: bf16):
    %zi = arith.addf %gi, %bi : f32
    %zf = arith.addf %gf, %bf : f32
    %zc = arith.addf %gc, %bc : f32
    %zo = arith.addf %go, %bo : f32
    %ni = arith.negf %zi : f32
    %ei = math.exp %ni : f32
    %di = arith.addf %ei, %one : f32
    %i = arith.divf %one, %di : f32
    %nf = arith.negf %zf : f32
    %ef = math.exp %nf : f32
    %df = arith.addf %ef, %one : f32
    %f = arith.divf %one, %df : f32
    %candidate = math.tanh %zc : f32
    %no = arith.negf %zo : f32
    %eo = math.exp %no : f32
    %do = arith.addf %eo, %one : f32
    %o = arith.divf %one, %do : f32
    %keep = arith.mulf %f, %cPrev fastmath<reassoc,contract> : f32
    %update = arith.mulf %i, %candidate fastmath<reassoc,contract> : f32
    %cNew = arith.addf %keep, %update fastmath<reassoc,contract> : f32
    %t = math.tanh %cNew : f32
    %hNew = arith.mulf %o, %t : f32
    %hr = arith.truncf %hNew : f32 to bf16
    linalg.yield %cNew, %hr : f32, bf16
  }
  return
}
