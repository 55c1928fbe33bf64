// Input: a loop whose extent is a number for one operand and an open size for the destination. Checks that the number
// is used, and is split at the blocks of the source.
// REQUIRES: compiler
// RUN: quern-opt %s --schedule --target=spirv64 | FileCheck %s
// CHECK: plan = <map, kind = "tiles through group memory", boxes = "16/16 x {{[12]}}/2 x 8/8"
// CHECK-NOT: factors
#whole = affine_map<(i, j) -> (i)>
#blocks = affine_map<(i, j) -> (i floordiv 16, j, i mod 16)>
#plain = affine_map<(i, j) -> (i, j)>
func.func @cut(%length: memref<32xf32>, %src: memref<2x8x16xf32>, %dst: memref<?x8xf32>) {
  linalg.generic {indexing_maps = [#whole, #blocks, #plain], iterator_types = ["parallel", "parallel"]}
      ins(%length, %src : memref<32xf32>, memref<2x8x16xf32>) outs(%dst : memref<?x8xf32>) {
  ^bb0(%n: f32, %x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}
