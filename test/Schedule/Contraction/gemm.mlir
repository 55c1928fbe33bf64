// Input: a handwritten matrix product with bias and gelu; no primitive emits it. Checks that one loop over K carries
// the sums of a block of 6 x 4 vectors, that the only buffer for sums is one chunk of scratch, and that the elementwise
// op occurs once, in a loop over the rows of the chunk.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s --implicit-check-not=alloc --implicit-check-not=linalg.
// RUN: quern-opt %s --codegen --target=avx512_core | FileCheck %s --check-prefix=ASM
// RUN: quern-opt %s --check --target=avx512_core
// RUN: quern-opt %s --check --target=avx2
// RUN: quern-opt %s --check --target=sse42
// RUN: quern-opt %s --time --target=avx512_core | FileCheck %s --check-prefix=TIME
// RUN: not quern-opt %s --time --peak=f16 2>&1 | FileCheck %s --check-prefix=PEAK
// TIME: compile: {{[0-9.]+}} ms (schedule {{[0-9.]+}}, lower {{[0-9.]+}}, codegen {{[0-9.]+}})
// TIME: run: {{[0-9.]+}} us, {{[0-9.]+}} operations/ns, {{[0-9.]+}} % of the peak of f32, {{[0-9.]+}}
// PEAK: time: the peak is f32, f64, bf16 or int8, not 'f16'
// CHECK: func.func @gemm_kernel(%[[A:[^:]*]]: memref<262144xf32>, %[[B:[^:]*]]: memref<262144xf32>, %[[BIAS:[^:]*]]: memref<512xf32>, %[[DST:[^:]*]]: memref<262144xf32>, %[[SCRATCH:[^:]*]]: memref<?xi8> {quern.scratch}
// CHECK-SAME: plan = <contraction, rows = 512, columns = 512, products = 1, dot = "fma", accumulators = 1, k_loops = 1, block_rows = 6, block_vectors = 4, short_block_rows = 5, tiles = 8, tile_width = 64, chunks = 8, epilogue_ops = {{[0-9]+}}, epilogue_place = "over scratch">
// CHECK-SAME: space = 64
// CHECK: %[[SUMS:.*]]:24 = scf.for %{{.*}} = %c0 to %c512 step %c1 iter_args
// CHECK-COUNT-4: vector.load %[[B]]
// CHECK-COUNT-24: math.fma {{.*}} vector<16xf32>
// CHECK: scf.yield
// CHECK-COUNT-24: vector.store %[[SUMS]]#
// CHECK: vector.load %[[BIAS]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c1 {
// CHECK: math.exp
// CHECK: vector.store {{.*}}, %[[DST]]
// Sums stay in registers: the loop has one broadcast per four multiplications and no store.
// ASM: vfmadd
// ASM-NEXT: vfmadd
// ASM-NEXT: vfmadd
// ASM-NEXT: vfmadd
// ASM-NEXT: vbroadcastss
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (n)>
func.func @gemm(%a: memref<512x512xf32>, %b: memref<512x512xf32>, %bias: memref<512xf32>, %dst: memref<512x512xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %k1 = arith.constant -1.5957691216057308 : f32
  %k3 = arith.constant -0.07135481282052885 : f32
  %sums = memref.alloc() : memref<512x512xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<512x512xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<512x512xf32>, memref<512x512xf32>) outs(%sums : memref<512x512xf32>) {
  ^bb0(%av: f32, %bv: f32, %s: f32):
    %p = arith.mulf %av, %bv fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sums, %bias : memref<512x512xf32>, memref<512xf32>) outs(%dst : memref<512x512xf32>) {
  ^bb0(%s: f32, %bn: f32, %out: f32):
    %x = arith.addf %s, %bn : f32
    %x2 = arith.mulf %x, %x : f32
    %t0 = arith.mulf %x2, %k3 fastmath<reassoc,contract> : f32
    %t1 = arith.addf %t0, %k1 fastmath<reassoc,contract> : f32
    %t = arith.mulf %x, %t1 : f32
    %e = math.exp %t : f32
    %d = arith.addf %e, %one : f32
    %y = arith.divf %x, %d : f32
    linalg.yield %y : f32
  }
  return
}
