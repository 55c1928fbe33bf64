// Input: three channels of pixels, the only known size: planes of any size to packed pixels. Checks that three vectors
// along the pixels are interleaved into three adjacent vectors, and that the elements after the last whole vector are
// stored one by one.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=avx512_core | FileCheck %s --implicit-check-not=linalg.
// RUN: quern-opt %s --check --sizes=4,1000,4000,1003,4,1000,3009
// RUN: quern-opt %s --check --sizes=2,5,11,5,2,5,15 --target=avx2
// RUN: quern-opt %s --check --sizes=3,65,200,66,3,65,200 --target=sse42
// CHECK: plan = <map, kind = "tiles", open, lanes = 16, moved = "f32", network = "interleaved", ends = "masked ends", axes = "?(?->?) 3(?->1) ?(1->3)", loops = "0 2 by 1024">
// CHECK-COUNT-3: vector.load %{{.*}} : memref<?xf32>, vector<16xf32>
// CHECK: vector.shuffle
// CHECK-COUNT-3: vector.store %{{.*}} : memref<?xf32>, vector<16xf32>
// CHECK: memref.load
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#packed = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
func.func @pack(%src: memref<?x3x?xf32, strided<[?, ?, 1]>> {quern.arg = "src"}, %dst: memref<?x?x3xf32, strided<[?, 3, 1]>> {quern.arg = "dst"}) {
  linalg.generic {indexing_maps = [#id, #packed], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%src : memref<?x3x?xf32, strided<[?, ?, 1]>>) outs(%dst : memref<?x?x3xf32, strided<[?, 3, 1]>>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}
