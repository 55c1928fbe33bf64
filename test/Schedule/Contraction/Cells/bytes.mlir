// Input: the cell of lstm.mlir on bytes, with unsigned states and signed weights, four contiguous along K. Checks that
// four products are one instruction if the target has it, and that the per-column terms of the dequantization are
// computed before the loop over rows.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core_vnni | FileCheck %s
// RUN: quern-opt %s --codegen --target=avx512_core_vnni | FileCheck %s --check-prefix=ASM
// RUN: quern-opt %s --schedule --target=avx512_core_amx | FileCheck %s --check-prefix=MATRICES
// RUN: quern-opt %s --codegen --target=avx512_core_amx | FileCheck %s --check-prefix=AMX
// RUN: quern-opt %s --check
// RUN: quern-opt %s --check --target=avx2
// RUN: quern-opt %s --check --target=sse42
// CHECK: plan = <contraction, rows = 16, columns = 512, products = 2, dot = "dots of four bytes", accumulators = 4, k_loops = 1
// CHECK-COUNT-16: vector.contract {{.*}} : vector<4xi32>, vector<16x4xi32> into vector<16xi32>
// CHECK: arith.subf
// CHECK: scf.for %{{.*}} = %c0 to %c16 step %c1 {
// CHECK: arith.sitofp
// ASM: vpdpbusd
// ASM-NEXT: vpdpbusd
// ASM-NEXT: vpdpbusd
// ASM-NEXT: vpdpbusd
// MATRICES: products = 2, dot = "matrices of bytes", accumulators = 4, k_loops = 1, block_rows = 1, block_matrices = 4, matrix_rows = 16, tiles = 32
// AMX: ldtilecfg
// AMX-COUNT-4: tilezero
// AMX-NOT: tilestored
// AMX-COUNT-4: tdpbusd
// AMX: jl
// AMX-COUNT-4: tdpbusd
// AMX: jl
// AMX-COUNT-4: tilestored
// AMX: tilerelease
#x = affine_map<(n, p, g, v, k, j) -> (n, k * 4 + j)>
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
#id3 = affine_map<(n, g, o) -> (n, g, o)>
#perGate = affine_map<(n, g, o) -> (g, o)>
#id2 = affine_map<(g, o) -> (g, o)>
func.func @lstm_cell(%x: memref<16x512xi8>, %h: memref<16x512xi8>, %c: memref<16x512xf32>, %w: memref<32x128x4x16x4xi8>, %u: memref<32x128x4x16x4xi8>, %b: memref<4x512xf32>, %scale: memref<4x512xf32>, %comp: memref<4x512xf32>, %hNext: memref<16x512xi8>, %cNext: memref<16x512xf32>) {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0 : i32
  %quant = arith.constant 127.0 : f32
  %shift = arith.constant 128.0 : f32
  %low = arith.constant 0.0 : f32
  %high = arith.constant 255.0 : f32
  %sums = memref.alloc() : memref<16x4x512xi32>
  linalg.fill ins(%zero : i32) outs(%sums : memref<16x4x512xi32>)
  linalg.generic {indexing_maps = [#x, #w, #acc], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<16x512xi8>, memref<32x128x4x16x4xi8>) outs(%sums : memref<16x4x512xi32>) {
  ^bb0(%av: i8, %bv: i8, %s: i32):
    %ax = arith.extui %av : i8 to i32
    %bx = arith.extsi %bv : i8 to i32
    %p = arith.muli %ax, %bx : i32
    %r = arith.addi %s, %p : i32
    linalg.yield %r : i32
  }
  linalg.generic {indexing_maps = [#x, #w, #acc], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%h, %u : memref<16x512xi8>, memref<32x128x4x16x4xi8>) outs(%sums : memref<16x4x512xi32>) {
  ^bb0(%av: i8, %bv: i8, %s: i32):
    %ax = arith.extui %av : i8 to i32
    %bx = arith.extsi %bv : i8 to i32
    %p = arith.muli %ax, %bx : i32
    %r = arith.addi %s, %p : i32
    linalg.yield %r : i32
  }
  %offset = memref.alloc() : memref<4x512xf32>
  linalg.generic {indexing_maps = [#id2, #id2, #id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%scale, %comp, %b : memref<4x512xf32>, memref<4x512xf32>, memref<4x512xf32>) outs(%offset : memref<4x512xf32>) {
  ^bb0(%sc: f32, %cs: f32, %bias: f32, %out: f32):
    %cz = arith.mulf %cs, %shift : f32
    %zs = arith.mulf %cz, %sc fastmath<reassoc,contract> : f32
    %r = arith.subf %bias, %zs fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  %gates = memref.alloc() : memref<16x4x512xf32>
  linalg.generic {indexing_maps = [#id3, #perGate, #perGate, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%sums, %scale, %offset : memref<16x4x512xi32>, memref<4x512xf32>, memref<4x512xf32>) outs(%gates : memref<16x4x512xf32>) {
  ^bb0(%s: i32, %sc: f32, %of: f32, %out: f32):
    %f = arith.sitofp %s : i32 to f32
    %m = arith.mulf %f, %sc fastmath<reassoc,contract> : f32
    %r = arith.addf %m, %of fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#gateI, #gateF, #gateC, #gateO, #state, #state, #state], iterator_types = ["parallel", "parallel"]}
      ins(%gates, %gates, %gates, %gates, %c : memref<16x4x512xf32>, memref<16x4x512xf32>, memref<16x4x512xf32>, memref<16x4x512xf32>, memref<16x512xf32>)
      outs(%cNext, %hNext : memref<16x512xf32>, memref<16x512xi8>) {
  ^bb0(%gi: f32, %gf: f32, %gc: f32, %go: f32, %cPrev: f32, %outC: f32, %outH: i8):
    %ni = arith.negf %gi : f32
    %ei = math.exp %ni : f32
    %di = arith.addf %ei, %one : f32
    %i = arith.divf %one, %di : f32
    %nf = arith.negf %gf : f32
    %ef = math.exp %nf : f32
    %df = arith.addf %ef, %one : f32
    %f = arith.divf %one, %df : f32
    %candidate = math.tanh %gc : f32
    %no = arith.negf %go : f32
    %eo = math.exp %no : f32
    %do = arith.addf %eo, %one : f32
    %o = arith.divf %one, %do : f32
    %keep = arith.mulf %f, %cPrev fastmath<reassoc,contract> : f32
    %update = arith.mulf %i, %candidate fastmath<reassoc,contract> : f32
    %cNew = arith.addf %keep, %update fastmath<reassoc,contract> : f32
    %t = math.tanh %cNew : f32
    %hNew = arith.mulf %o, %t : f32
    %hs = arith.mulf %hNew, %quant fastmath<reassoc,contract> : f32
    %hz = arith.addf %hs, %shift fastmath<reassoc,contract> : f32
    %hl = arith.maximumf %hz, %low : f32
    %hh = arith.minimumf %hl, %high : f32
    %hq = math.roundeven %hh : f32
    %hr = arith.fptoui %hq : f32 to i8
    linalg.yield %cNew, %hr : f32, i8
  }
  return
}
