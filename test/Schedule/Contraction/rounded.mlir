// Input: a product of f32 whose op allows its factors to be rounded to bf16, with K in pairs; the last pair is half
// full and a separate product. Checks that the factors are rounded in the loop if the target has an instruction for it,
// which rounds two vectors, and that other targets round nothing.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core_bf16 | FileCheck %s
// RUN: quern-opt %s --codegen --target=avx512_core_bf16 | FileCheck %s --check-prefix=ASM
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s --check-prefix=STRICT --implicit-check-not=bf16
// RUN: quern-opt %s --check
// RUN: quern-opt %s --check --target=avx512_core
// RUN: quern-opt %s --check --target=sse42
// CHECK: plan = <contraction, rows = 50, columns = 64, products = 2, dot = "dots of pairs rounded to bf16", accumulators = 1, k_loops = 2, block_rows = 6, block_vectors = 4
// CHECK: arith.truncf {{.*}} : vector<32xf32> to vector<32xbf16>
// CHECK: vector.contract {{.*}} : vector<2xbf16>, vector<16x2xbf16> into vector<16xf32>
// ASM: vcvtne2ps2bf16
// ASM: vcvtneps2bf16
// ASM: vdpbf16ps
// STRICT: plan = <contraction, rows = 50, columns = 64, products = 2, dot = "fma", accumulators = 1, k_loops = 2, block_rows = 10, block_vectors = 2
#a = affine_map<(m, n, k, j) -> (m, k * 2 + j)>
#last = affine_map<(m, n, k, j) -> (m, k * 2 + j + 100)>
#b = affine_map<(m, n, k, j) -> (k, n, j)>
#c = affine_map<(m, n, k, j) -> (m, n)>
func.func @rounded(%a: memref<50x101xf32>, %b: memref<51x64x2xf32>, %c: memref<50x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<50x64xf32>)
  %whole = memref.subview %b[0, 0, 0] [50, 64, 2] [1, 1, 1] : memref<51x64x2xf32> to memref<50x64x2xf32, strided<[128, 2, 1]>>
  %half = memref.subview %b[50, 0, 0] [1, 64, 1] [1, 1, 1] : memref<51x64x2xf32> to memref<1x64x1xf32, strided<[128, 2, 1], offset: 6400>>
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %whole : memref<50x101xf32>, memref<50x64x2xf32, strided<[128, 2, 1]>>) outs(%c : memref<50x64xf32>) attrs = {quern.relax = #quern.relax<bf16>} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#last, #b, #c], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %half : memref<50x101xf32>, memref<1x64x1xf32, strided<[128, 2, 1], offset: 6400>>) outs(%c : memref<50x64xf32>) attrs = {quern.relax = #quern.relax<bf16>} {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  return
}
