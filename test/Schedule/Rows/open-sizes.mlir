// Input: sizes that are known only at execution. Checks that each is loaded once per call and that the space is the
// number of rows. A row of one vector is straight-line code; for longer rows a sweep is a loop of whole steps, one of
// single vectors, and a last, masked vector.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s --implicit-check-not=alloc --implicit-check-not=linalg.
// RUN: quern-opt %s --codegen --target=avx512_core | FileCheck %s --check-prefix=ASM
// RUN: quern-opt %s --check --sizes=5,100,112,5,100,100
// RUN: quern-opt %s --check --sizes=5,3,3,5,3,8 --target=sse42
// RUN: not quern-opt %s --check 2>&1 | FileCheck %s --check-prefix=NAIVE
// NAIVE: error: sizes: @softmax has more than 0
// Sizes 0, 1 and 2 are the dims and the outer stride of src; sizes 3, 4 and 5 are those of dst. The caller ensures that
// both have the same dims.
// CHECK: func.func @softmax_kernel(%[[SRC:[^:]*]]: memref<?xf32> {quern.arg = "src"}, %[[DST:[^:]*]]: memref<?xf32> {quern.arg = "dst"}, %{{.*}}: memref<?xi8> {quern.scratch}, %[[SIZES:[^:]*]]: memref<?xindex> {quern.sizes}
// CHECK-SAME: factors = [0, 1]
// CHECK-SAME: plan = <rows, ops = 4, sweeps = 3, space = 1, factor = "ceil(size 0 / 1)", along_row, unroll = "4+1+2", lanes = 16, keeps_value = 1, kept_in = "scratch", scratch_row = 8192, register_vectors = 6, streams_last = "large and aligned">
// CHECK-SAME: space = 1
// CHECK: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: %[[LENGTH:.*]] = memref.load %[[SIZES]][%[[ONE]]]
// CHECK: %[[MASK:.*]] = arith.cmpi slt, %{{.*}} : vector<16xi32>
// CHECK: %[[TWO:.*]] = arith.constant 2 : index
// CHECK: %[[STRIDE:.*]] = memref.load %[[SIZES]][%[[TWO]]]
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %{{.*}} step %[[ONE]] {
// CHECK-NOT: memref.load
// CHECK: arith.muli %[[ROW]], %[[STRIDE]]
// CHECK: vector.maskedload %[[SRC]]{{.*}}, %[[MASK]]
// CHECK: arith.select %[[MASK]]
// CHECK: vector.reduction <maxnumf>
// CHECK: vector.reduction <add>
// CHECK: vector.maskedstore %[[DST]]{{.*}}, %[[MASK]]
// CHECK: scf.for %{{.*}} = %c0 to %[[STEPS:.*]] step %c64
// CHECK-COUNT-4: vector.load %[[SRC]]
// CHECK: scf.for %{{.*}} = %[[STEPS]] to %[[VECTORS:.*]] step %c16
// CHECK: vector.load %[[SRC]]
// CHECK: scf.for %{{.*}} = %[[VECTORS]] to %[[LENGTH]] step %c16
// CHECK: vector.maskedload %[[SRC]]
// CHECK: vector.reduction <maxnumf>
// CHECK: scf.for %[[BLOCK:.*]] = %c0 to %{{.*}} step %c512
// CHECK: scf.for %{{.*}} = %[[BLOCK]] to %{{.*}} step %c16
// CHECK: vector.maskedstore %[[DST]]
// ASM: movq{{.*}}24(%rdi)
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @softmax(%src: memref<?x?xf32, strided<[?, 1]>> {quern.arg = "src"}, %dst: memref<?x?xf32, strided<[?, 1]>> {quern.arg = "dst"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %src, %c0 : memref<?x?xf32, strided<[?, 1]>>
  %m = memref.dim %src, %c1 : memref<?x?xf32, strided<[?, 1]>>
  %lowest = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %max = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%lowest : f32) outs(%max : memref<?xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%src : memref<?x?xf32, strided<[?, 1]>>) outs(%max : memref<?xf32>) {
  ^bb0(%x: f32, %a: f32):
    %r = arith.maxnumf %x, %a : f32
    linalg.yield %r : f32
  }
  %exp = memref.alloc(%n, %m) : memref<?x?xf32>
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%src, %max : memref<?x?xf32, strided<[?, 1]>>, memref<?xf32>) outs(%exp : memref<?x?xf32>) {
  ^bb0(%x: f32, %a: f32, %o: f32):
    %s = arith.subf %x, %a : f32
    %r = math.exp %s {quern.relax = #quern.relax<nonpositive>} : f32
    linalg.yield %r : f32
  }
  %sum = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<?xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%exp : memref<?x?xf32>) outs(%sum : memref<?xf32>) {
  ^bb0(%x: f32, %a: f32):
    %r = arith.addf %x, %a fastmath<reassoc> : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%exp, %sum : memref<?x?xf32>, memref<?xf32>) outs(%dst : memref<?x?xf32, strided<[?, 1]>>) {
  ^bb0(%x: f32, %a: f32, %o: f32):
    %r = arith.divf %x, %a : f32
    linalg.yield %r : f32
  }
  return
}
