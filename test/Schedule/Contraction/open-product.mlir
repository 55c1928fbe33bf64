// Input: a product with open sizes, whose weights have their columns along K and start at an offset. Checks that the
// space is chunks of rows times tiles of columns. A full tile processes K in slices: pieces of four columns are loaded,
// unpacked twice and stored into a copy, from which blocks of six rows read. A tile that is not full has blocks of one
// vector. Nothing is masked, and no vector is read past the end of a factor.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s --implicit-check-not=alloc --implicit-check-not=linalg. --implicit-check-not=mask
// RUN: quern-opt %s --check --sizes=61,3,6,35,3,4,61,35,37
// RUN: quern-opt %s --check --sizes=200,300,303,130,300,301,200,130,132
// RUN: quern-opt %s --check --sizes=1,1,4,1,1,2,1,1,3
// RUN: quern-opt %s --check --sizes=200,300,303,130,300,301,200,130,132 --target=sse42
// RUN: quern-opt %s --check --sizes=13,17,20,63,17,18,13,63,65 --target=avx2
// CHECK: func.func @product_kernel
// CHECK-SAME: factors = [3, 64, 0, 192]
// CHECK-SAME: plan = <contraction, rows = "?", columns = "?", products = 1, dot = "fma", accumulators = 1, max_block_rows = 6, block_vectors = 4, open_tile_width = 64, chunk_rows = 192, rhs = "transposed", copied_steps = {{[0-9]+}}, long_steps = {{[0-9]+}}, few_rows = 8, rhs_of_few_rows = "summed along K", wide_sums, epilogue_ops = 1, epilogue_place = "over scratch">
// CHECK-COUNT-16: vector.load {{.*}} vector<4xf32>
// CHECK-COUNT-4: vector.store {{.*}} vector<16xf32>
// CHECK-COUNT-24: math.fma
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c4
// CHECK-COUNT-16: math.fma
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
!any = memref<?x?xf32, strided<[?, 1]>>
#id = affine_map<(m, n) -> (m, n)>
func.func @product(%a: !any, %b: memref<?x?xf32, strided<[?, 1], offset: 5>>, %dst: !any) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = memref.dim %dst, %c0 : !any
  %n = memref.dim %dst, %c1 : !any
  %sums = memref.alloc(%m, %n) : memref<?x?xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<?x?xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : !any, memref<?x?xf32, strided<[?, 1], offset: 5>>) outs(%sums : memref<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y fastmath<reassoc,contract> : f32
    %r = arith.addf %s, %p fastmath<reassoc,contract> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<?x?xf32>) outs(%dst : !any) {
  ^bb0(%x: f32, %old: f32):
    %r = arith.addf %x, %old : f32
    linalg.yield %r : f32
  }
  return
}
