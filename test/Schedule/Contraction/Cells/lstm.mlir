// Input: four gates of a cell with weights in panels of 16 columns. The gates of a panel are adjacent, and the last
// panel is padded. Two products go into the same sums, then one elementwise op has two results. Checks that both
// products share one loop over K, inside a loop of two iterations that selects the buffers, and that the last columns
// are masked.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s --implicit-check-not=alloc --implicit-check-not=linalg. --implicit-check-not=vector.maskedload{{.*}}arg3
// RUN: quern-opt %s --check --target=avx512_core
// RUN: quern-opt %s --check --target=avx2
// RUN: quern-opt %s --check --target=sse42
// CHECK: plan = <contraction, rows = 5, columns = 40, products = 2, dot = "fma", accumulators = 4, k_loops = 1, block_rows = 5, block_vectors = 4, tiles = 3, tile_width = 16, chunks = 1, epilogue_ops = {{[0-9]+}}, epilogue_place = "over scratch", tail = "masked">
// CHECK-SAME: space = 3
// CHECK: scf.for %{{.*}} = %arg9 to %arg10 step %c1 {
// CHECK: %{{.*}}:20 = scf.for %{{.*}} = %c0 to %c2 step %c1 iter_args
// CHECK: arith.select {{.*}} : memref<200xf32>
// CHECK: arith.select {{.*}} : memref<7680xf32>
// CHECK: %{{.*}}:20 = scf.for %{{.*}} = %c0 to %c40 step %c1 iter_args
// CHECK-COUNT-20: math.fma
// CHECK-NOT: math.fma
// CHECK: vector.maskedstore
// CHECK: vector.maskedstore
// CHECK-NOT: vector.maskedstore
#x = affine_map<(n, p, g, v, k) -> (n, k)>
#w = affine_map<(n, p, g, v, k) -> (p, k, g, v)>
#acc = affine_map<(n, p, g, v, k) -> (n, g, p * 16 + v)>
#biasI = affine_map<(n, o) -> (0, o)>
#biasF = affine_map<(n, o) -> (1, o)>
#biasC = affine_map<(n, o) -> (2, o)>
#biasO = affine_map<(n, o) -> (3, o)>
#gateI = affine_map<(n, o) -> (n, 0, o)>
#gateF = affine_map<(n, o) -> (n, 1, o)>
#gateC = affine_map<(n, o) -> (n, 2, o)>
#gateO = affine_map<(n, o) -> (n, 3, o)>
#state = affine_map<(n, o) -> (n, o)>
func.func @lstm_cell(%x: memref<5x40xf32>, %h: memref<5x40xf32>, %c: memref<5x40xf32>, %w: memref<3x40x4x16xf32>, %u: memref<3x40x4x16xf32>, %b: memref<4x40xf32>, %hNext: memref<5x40xf32>, %cNext: memref<5x40xf32>) {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<5x4x48xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<5x4x48xf32>)
  linalg.generic {indexing_maps = [#x, #w, #acc], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<5x40xf32>, memref<3x40x4x16xf32>) outs(%sums : memref<5x4x48xf32>) {
  ^bb0(%av: f32, %bv: f32, %s: f32):
    %p = arith.mulf %av, %bv fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #acc], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%h, %u : memref<5x40xf32>, memref<3x40x4x16xf32>) outs(%sums : memref<5x4x48xf32>) {
  ^bb0(%av: f32, %bv: f32, %s: f32):
    %p = arith.mulf %av, %bv fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  %live = memref.subview %sums[0, 0, 0] [5, 4, 40] [1, 1, 1] : memref<5x4x48xf32> to memref<5x4x40xf32, strided<[192, 48, 1]>>
  linalg.generic {indexing_maps = [#gateI, #gateF, #gateC, #gateO, #biasI, #biasF, #biasC, #biasO, #state, #state, #state], iterator_types = ["parallel", "parallel"]}
      ins(%live, %live, %live, %live, %b, %b, %b, %b, %c : memref<5x4x40xf32, strided<[192, 48, 1]>>, memref<5x4x40xf32, strided<[192, 48, 1]>>, memref<5x4x40xf32, strided<[192, 48, 1]>>, memref<5x4x40xf32, strided<[192, 48, 1]>>, memref<4x40xf32>, memref<4x40xf32>, memref<4x40xf32>, memref<4x40xf32>, memref<5x40xf32>)
      outs(%cNext, %hNext : memref<5x40xf32>, memref<5x40xf32>) {
  ^bb0(%gi: f32, %gf: f32, %gc: f32, %go: f32, %bi: f32, %bf: f32, %bc: f32, %bo: f32, %cPrev: f32, %outC: f32, %outH: f32):
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
    linalg.yield %cNew, %hNew : f32, f32
  }
  return
}
