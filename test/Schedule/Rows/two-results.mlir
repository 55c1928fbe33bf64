// Input: an operation before a reduction, with one result in an argument and one in a temporary. Checks that later
// sweeps read the argument again. A temporary that is read after the reduction would be recomputed from arguments that
// may be overwritten by then, so it is refused.
// REQUIRES: compiler
// RUN: split-file %s %t
// RUN: quern-opt %t/beside.mlir --schedule --target=avx512_core | FileCheck %s --implicit-check-not=linalg.
// RUN: quern-opt %t/beside.mlir --check
// RUN: not quern-opt %t/lost.mlir --schedule --target=avx512_core 2>&1 | FileCheck %s --check-prefix=LOST
// CHECK: plan = <rows, ops = 3, sweeps = 2
// LOST: an op that writes an argument has another result that a later sweep reads
//--- beside.mlir
#id = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>
func.func @beside(%x: memref<16x90xbf16> {quern.arg = "x"}, %y: memref<16x90xf32> {quern.arg = "y"}, %z: memref<16x90xf32> {quern.arg = "z"}) {
  %low = arith.constant -1.0e30 : f32
  %half = arith.constant 0.5 : f32
  %other = memref.alloc() : memref<16x90xf32>
  %most = memref.alloc() : memref<16xf32>
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<16x90xbf16>) outs(%other, %y : memref<16x90xf32>, memref<16x90xf32>) {
  ^bb0(%n: bf16, %o: f32, %p: f32):
    %a = arith.extf %n : bf16 to f32
    %t = arith.mulf %a, %a : f32
    %h = arith.mulf %t, %half : f32
    linalg.yield %t, %h : f32, f32
  }
  linalg.fill ins(%low : f32) outs(%most : memref<16xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%y : memref<16x90xf32>) outs(%most : memref<16xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.maxnumf %a, %s : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %most : memref<16x90xf32>, memref<16xf32>) outs(%z : memref<16x90xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %t = arith.divf %a, %s : f32
    linalg.yield %t : f32
  }
  return
}
//--- lost.mlir
#id = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>
func.func @lost(%x: memref<16x90xbf16> {quern.arg = "x"}, %y: memref<16x90xf32> {quern.arg = "y"}, %z: memref<16x90xf32> {quern.arg = "z"}) {
  %low = arith.constant -1.0e30 : f32
  %half = arith.constant 0.5 : f32
  %other = memref.alloc() : memref<16x90xf32>
  %most = memref.alloc() : memref<16xf32>
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<16x90xbf16>) outs(%other, %y : memref<16x90xf32>, memref<16x90xf32>) {
  ^bb0(%n: bf16, %o: f32, %p: f32):
    %a = arith.extf %n : bf16 to f32
    %t = arith.mulf %a, %a : f32
    %h = arith.mulf %t, %half : f32
    linalg.yield %t, %h : f32, f32
  }
  linalg.fill ins(%low : f32) outs(%most : memref<16xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%y : memref<16x90xf32>) outs(%most : memref<16xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.maxnumf %a, %s : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%other, %most : memref<16x90xf32>, memref<16xf32>) outs(%z : memref<16x90xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %t = arith.divf %a, %s : f32
    linalg.yield %t : f32
  }
  return
}
