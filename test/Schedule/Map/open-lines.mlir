// Input: runs with open lengths and strides. Checks that runs of up to four vectors have separate loops, chosen once
// per call; that the loops over the space have no division, and a call for the whole space has none at all; and that a
// longer run ends with a masked vector. Without masks, the last vector of a run ends at its end and is computed before
// the run is written.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s --implicit-check-not=alloc --implicit-check-not=linalg.
// RUN: quern-opt %s --schedule --target=avx2 | FileCheck %s --check-prefix=UNMASKED --implicit-check-not=masked
// RUN: quern-opt %s --check --sizes=3,7,5,35,5,7,3,5,15,5
// RUN: quern-opt %s --check --sizes=30,9,61,700,70,9,30,61,2000,61
// RUN: quern-opt %s --check --sizes=2,1,9000,9000,9000,1,2,9000,18000,9000
// RUN: quern-opt %s --check --sizes=3,7,5,35,5,7,3,5,15,5 --target=avx2
// RUN: quern-opt %s --check --sizes=4,9,29,700,70,9,4,29,2000,29 --target=avx2
// RUN: quern-opt %s --check --sizes=2,1,9001,9001,9001,1,2,9001,18002,9001 --target=sse42
// CHECK: factors = [5, 1, 6, 1, 7, 4096]
// CHECK-SAME: plan = <map, kind = "lines", open, lanes = 16, unroll = 4, ends = "masked ends", axes = "?(?->?) ?(?->?) ?(1->1)", loops = "1 0 2 by 4096">
// CHECK: scf.if
// CHECK: vector.store {{.*}}nontemporal
// CHECK: else
// CHECK: scf.if {{.*}} -> (index, index, index, index)
// CHECK: else
// CHECK: arith.remui
// CHECK: arith.divui
// CHECK: scf.for %{{.*}} = %{{.*}}#0 to %{{.*}} step %c1 {
// CHECK-NOT: arith.divui
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c4 {
// CHECK-NOT: arith.divui
// CHECK-COUNT-4: vector.maskedload
// CHECK: vector.load {{.*}} vector<4xf32>
// CHECK: vector.load {{.*}} vector<8xf32>
// CHECK: vector.load {{.*}} vector<16xf32>
// CHECK: vector.maskedstore
// UNMASKED: ends without masks
// UNMASKED: %[[BACK:.*]] = arith.subi {{.*}} : index
// UNMASKED: vector.load {{.*}} : memref<?xf32>, vector<8xf32>
#swapped = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @lines(%src: memref<?x?x?xf32, strided<[?, ?, 1]>> {quern.arg = "src"}, %dst: memref<?x?x?xbf16, strided<[?, ?, 1]>> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#id, #swapped], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%src : memref<?x?x?xf32, strided<[?, ?, 1]>>) outs(%dst : memref<?x?x?xbf16, strided<[?, ?, 1]>>) {
  ^bb0(%x: f32, %old: bf16):
    %y = arith.truncf %x : f32 to bf16
    linalg.yield %y : bf16
  }
  return
}
