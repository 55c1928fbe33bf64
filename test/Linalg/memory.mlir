// Memory that a compiler used twice: the result as scratch of a sum, an element that is read where it is written, an argument updated in place. Each
// value has memory of its own in what is emitted, and nothing is copied.
// REQUIRES: compiler
// RUN: quern dump --mlir=%s:twice --stage=emit | FileCheck %s --check-prefix=TWICE
// RUN: quern run --mlir=%s:twice --check --repeat=1
// RUN: quern dump --mlir=%s:updated --stage=emit | FileCheck %s --check-prefix=UPDATED --implicit-check-not=alloc
// RUN: quern run --mlir=%s:updated --check --repeat=1
// RUN: not quern explain --mlir=%s:turned 2>&1 | FileCheck %s --check-prefix=TURNED
// TWICE: %[[SUM:.*]] = memref.alloc() : memref<24x32xf32>
// TWICE: linalg.fill {{.*}} outs(%[[SUM]]
// TWICE: linalg.generic {{.*}} outs(%[[SUM]]
// TWICE: linalg.generic {{.*}} ins(%arg2, %[[SUM]] {{.*}} outs(%arg3
// UPDATED: ins(%arg0, %arg1 {{.*}} outs(%arg1
// TURNED: {{.*}}'linalg.generic' at {{.*}} writes an argument that 'linalg.generic' at {{.*}} reads before, not element for element
#id = affine_map<(r, c) -> (r, c)>
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
