// Input: memory that a compiler reuses: the result as scratch of a sum, an element that is overwritten after it is
// read, an argument that is updated in place. Checks that each value has separate memory in the emitted code and that
// nothing is copied.
// REQUIRES: compiler
// RUN: quern dump --mlir=%s:twice --stage=emit | FileCheck %s --check-prefix=TWICE
// RUN: quern run --mlir=%s:twice --check --repeat=1
// RUN: quern dump --mlir=%s:updated --stage=emit | FileCheck %s --check-prefix=UPDATED --implicit-check-not=alloc
// RUN: quern run --mlir=%s:updated --check --repeat=1
// RUN: not quern explain --mlir=%s:turned 2>&1 | FileCheck %s --check-prefix=TURNED
// RUN: quern dump --mlir=%s:batch_of_one --stage=emit | FileCheck %s --check-prefix=ONE
// RUN: quern run --mlir=%s:batch_of_one --check --repeat=1
// TWICE: %[[SUM:.*]] = memref.alloc() : memref<24x32xf32>
// TWICE: linalg.fill {{.*}} outs(%[[SUM]]
// TWICE: linalg.generic {{.*}} outs(%[[SUM]]
// TWICE: linalg.generic {{.*}} ins(%arg2, %[[SUM]] {{.*}} outs(%arg3
// UPDATED: ins(%arg0, %arg1 {{.*}} outs(%arg1
// TURNED: {{.*}}'linalg.generic' at {{.*}} writes an argument that 'linalg.generic' at {{.*}} reads before it, but not element for element
// The filled buffer is the buffer of the sums, although the sums of a batch of one lose a loop.
// ONE: linalg.fill {{.*}} outs(%[[SUMS:.*]] : memref<16xf32>)
// ONE: linalg.generic {{.*}}"reduction"{{.*}} outs(%[[SUMS]]
#id = affine_map<(r, c) -> (r, c)>
#each = affine_map<(b, r, c) -> (b, r, c)>
#one = affine_map<(b, r, c) -> ()>
#column = affine_map<(r, c) -> (c)>
#turnedMap = affine_map<(r, c) -> (c, r)>
func.func @twice(%x: memref<24x16xf32>, %w: memref<16x32xf32>, %b: memref<32xf32>, %y: memref<24x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<24x32xf32>)
  linalg.matmul ins(%x, %w : memref<24x16xf32>, memref<16x32xf32>) outs(%y : memref<24x32xf32>)
  linalg.generic {indexing_maps = [#column, #id], iterator_types = ["parallel", "parallel"]} ins(%b : memref<32xf32>) outs(%y : memref<24x32xf32>) {
  ^bb0(%bias: f32, %old: f32):
    %sum = arith.addf %old, %bias : f32
    linalg.yield %sum : f32
  }
  return
}
func.func @updated(%x: memref<24x16xf32>, %y: memref<24x16xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<24x16xf32>) outs(%y : memref<24x16xf32>) {
  ^bb0(%a: f32, %old: f32):
    %sum = arith.addf %old, %a : f32
    linalg.yield %sum : f32
  }
  return
}
func.func @turned(%y: memref<16x16xf32>) {
  linalg.generic {indexing_maps = [#turnedMap, #id], iterator_types = ["parallel", "parallel"]} ins(%y : memref<16x16xf32>) outs(%y : memref<16x16xf32>) {
  ^bb0(%a: f32, %old: f32):
    linalg.yield %a : f32
  }
  return
}
func.func @batch_of_one(%x: memref<1x16x32xf32>, %y: memref<1x16x1xf32>) {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %sums = memref.alloc() : memref<1x16xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<1x16xf32>)
  linalg.reduce ins(%x : memref<1x16x32xf32>) outs(%sums : memref<1x16xf32>) dimensions = [2]
    (%element: f32, %sum: f32) {
      %next = arith.addf %element, %sum : f32
      linalg.yield %next : f32
    }
  %column = memref.expand_shape %sums [[0], [1, 2]] output_shape [1, 16, 1] : memref<1x16xf32> into memref<1x16x1xf32>
  linalg.elementwise kind=#linalg.elementwise_kind<mul> indexing_maps = [#each, #one, #each] ins(%column, %half : memref<1x16x1xf32>, f32) outs(%y : memref<1x16x1xf32>)
  memref.dealloc %sums : memref<1x16xf32>
  return
}
