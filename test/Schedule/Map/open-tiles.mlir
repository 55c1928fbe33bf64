// Input: a transposition with open sizes and strides. Checks that whole tiles are transposed directly from the source.
// Rows go through scratch if the source's stride maps them to a few cache sets, or if a tile ends within a square;
// elements past the end are neither read nor stored.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s --implicit-check-not=linalg.
// RUN: quern-opt %s --schedule --target=sse42 | FileCheck %s --check-prefix=UNMASKED
// RUN: quern-opt %s --check --sizes=256,192,192,192,256,256
// RUN: quern-opt %s --check --sizes=272,80,1024,80,272,300
// RUN: quern-opt %s --check --sizes=5,100,112,100,5,7
// RUN: quern-opt %s --check --sizes=130,333,512,333,130,200 --target=avx2
// RUN: quern-opt %s --check --sizes=1,3,3,3,1,1 --target=sse42
// CHECK: factors = [4, 128, 3, 64]
// CHECK-SAME: plan = <map, kind = "tiles", open, tile_columns = 64, tile_rows = 128, moved = "f32", body = "after", ends = "masked ends", axes = "?(1->?) ?(?->1)", loops = "1 by 128 0 by 64">
// The tile is too large for the frame of the kernel.
// CHECK: memref.view %{{.*}}[%{{.*}}][] : memref<?xi8> to memref<8192xf32>
// CHECK: arith.andi {{.*}}%c2047
// CHECK: scf.if
// CHECK: vector.load %{{.*}} : memref<?xf32>, vector<16xf32>
// CHECK: vector.maskedload
// CHECK: vector.load %{{.*}} : memref<8192xf32>, vector<4xf32>
// CHECK: vector.shuffle
// CHECK: vector.maskedstore
// CHECK: else
// CHECK: vector.load %{{.*}} : memref<?xf32>, vector<4xf32>
// UNMASKED: ends without masks
#turned = affine_map<(d0, d1) -> (d1, d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @turn(%src: memref<?x?xf32, strided<[?, 1]>> {quern.arg = "src"}, %dst: memref<?x?xf32, strided<[?, 1]>> {quern.arg = "dst"}) {
  %two = arith.constant 2.0 : f32
  linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]}
      ins(%src : memref<?x?xf32, strided<[?, 1]>>) outs(%dst : memref<?x?xf32, strided<[?, 1]>>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.mulf %x, %two : f32
    linalg.yield %y : f32
  }
  return
}
