// Input: a cell whose four gates are stored one after another and do not fit in L1. Checks that tall blocks hold the
// sums of two gates, then of the other two, each once for 10 rows and once for the remaining 6; that panels are
// prefetched, by the first block from a greater distance; and that all sums are in scratch before the cell's
// arithmetic.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core:l1=32 | FileCheck %s --implicit-check-not=alloc --implicit-check-not=linalg.
// RUN: sed 's/<16x/<4x/g; s/\[16, 4/[4, 4/' %s | quern-opt --schedule --target=avx512_core:l1=32,l2=2048 | FileCheck %s --check-prefix=FEW
// RUN: quern-opt %s --check --target=avx512_core:l1=32
// RUN: quern-opt %s --check --target=avx2:l1=32
// RUN: quern-opt %s --check --target=sse42:l1=32
// Four rows are a single block, which reads each panel once. L2 holds all panels, so nothing is prefetched.
// FEW: block_rows = 4, block_vectors = 4, tiles = 3, tile_width = 16, chunks = 1, epilogue_ops =
// FEW-NOT: memref.prefetch
// CHECK: block_rows = 10, block_vectors = 2, accumulator_group = 2, short_block_rows = 6, tiles = 3, tile_width = 16, chunks = 1, prefetches
// CHECK: %[[FIRST:[^:]*]]:20 = scf.for %{{.*}} = %c0 to %c2 step %c1 iter_args
// CHECK: scf.for %{{.*}} = %c0 to %c520 step %c1 iter_args
// CHECK: locality<2>
// CHECK-COUNT-20: math.fma
// CHECK-COUNT-20: vector.store %[[FIRST]]
// CHECK: %[[REST:[^:]*]]:12 = scf.for %{{.*}} = %c0 to %c2 step %c1 iter_args
// CHECK-NOT: locality<2>
// CHECK-COUNT-12: math.fma
// CHECK-COUNT-12: vector.store %[[REST]]
// CHECK: %[[FIRST:[^:]*]]:20 = scf.for %{{.*}} = %c0 to %c2 step %c1 iter_args
// CHECK: locality<2>
// CHECK-COUNT-20: math.fma
// CHECK-COUNT-20: vector.store %[[FIRST]]
// CHECK: %[[REST:[^:]*]]:12 = scf.for %{{.*}} = %c0 to %c2 step %c1 iter_args
// CHECK-COUNT-12: math.fma
// CHECK-COUNT-12: vector.store %[[REST]]
// CHECK-NOT: math.fma
// CHECK: scf.for %{{.*}} = %c0 to %c16 step %c1 {
// CHECK: math.exp
#x = affine_map<(n, p, g, v, k) -> (n, k)>
#w = affine_map<(n, p, g, v, k) -> (g, p, k, v)>
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
func.func @lstm_cell(%x: memref<16x520xf32>, %h: memref<16x520xf32>, %c: memref<16x40xf32>, %w: memref<4x3x520x16xf32>, %u: memref<4x3x520x16xf32>, %b: memref<4x40xf32>, %hNext: memref<16x40xf32>, %cNext: memref<16x40xf32>) {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<16x4x48xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<16x4x48xf32>)
  linalg.generic {indexing_maps = [#x, #w, #acc], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<16x520xf32>, memref<4x3x520x16xf32>) outs(%sums : memref<16x4x48xf32>) {
  ^bb0(%av: f32, %bv: f32, %s: f32):
    %p = arith.mulf %av, %bv fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#x, #w, #acc], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%h, %u : memref<16x520xf32>, memref<4x3x520x16xf32>) outs(%sums : memref<16x4x48xf32>) {
  ^bb0(%av: f32, %bv: f32, %s: f32):
    %p = arith.mulf %av, %bv fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  %live = memref.subview %sums[0, 0, 0] [16, 4, 40] [1, 1, 1] : memref<16x4x48xf32> to memref<16x4x40xf32, strided<[192, 48, 1]>>
  linalg.generic {indexing_maps = [#gateI, #gateF, #gateC, #gateO, #biasI, #biasF, #biasC, #biasO, #state, #state, #state], iterator_types = ["parallel", "parallel"]}
      ins(%live, %live, %live, %live, %b, %b, %b, %b, %c : memref<16x4x40xf32, strided<[192, 48, 1]>>, memref<16x4x40xf32, strided<[192, 48, 1]>>, memref<16x4x40xf32, strided<[192, 48, 1]>>, memref<16x4x40xf32, strided<[192, 48, 1]>>, memref<4x40xf32>, memref<4x40xf32>, memref<4x40xf32>, memref<4x40xf32>, memref<16x40xf32>)
      outs(%cNext, %hNext : memref<16x40xf32>, memref<16x40xf32>) {
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
