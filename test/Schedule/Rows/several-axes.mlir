// Input: sums over two axes and an op that divides by them. Checks that non-adjacent axes become one row of 9 x 25
// whose index has a digit for each axis, and that adjacent axes become one axis without digits. All ops must reduce the
// same loops.
// REQUIRES: compiler
// RUN: split-file %s %t
// RUN: quern-opt %t/apart.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=APART --implicit-check-not=linalg.
// RUN: quern-opt %t/apart.mlir --check
// RUN: quern-opt %t/apart.mlir --check --target=sse42
// RUN: quern-opt %t/together.mlir --schedule --target=avx2 | FileCheck %s --check-prefix=TOGETHER --implicit-check-not=arith.remui
// RUN: quern-opt %t/together.mlir --check
// RUN: not quern-opt %t/unlike.mlir --schedule --target=avx512_core 2>&1 | FileCheck %s --check-prefix=UNLIKE
// RUN: not quern-opt %t/lengths.mlir --schedule --target=avx512_core 2>&1 | FileCheck %s --check-prefix=LENGTHS
// APART: plan = <rows, ops = 2, sweeps = 2
// APART: arith.remui
// TOGETHER: along_row
// UNLIKE: loops 0 and 2 are both reduced, but not by every reduction
// LENGTHS: a loop has extent 51; the reduced loop has 64
//--- apart.mlir
#id = affine_map<(a, b, c) -> (a, b, c)>
#kept = affine_map<(a, b, c) -> (b)>
func.func @scaled(%x: memref<9x16x25xf32> {quern.arg = "x"}, %y: memref<9x16x25xf32> {quern.arg = "y"}) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<16xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<16xf32>)
  linalg.generic {indexing_maps = [#id, #kept], iterator_types = ["reduction", "parallel", "reduction"]} ins(%x : memref<9x16x25xf32>) outs(%sum : memref<16xf32>) {
  ^bb0(%a: f32, %s: f32):
    %q = arith.mulf %a, %a : f32
    %t = arith.addf %q, %s fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#id, #kept, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %sum : memref<9x16x25xf32>, memref<16xf32>) outs(%y : memref<9x16x25xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %t = arith.divf %a, %s : f32
    linalg.yield %t : f32
  }
  return
}
//--- together.mlir
#id = affine_map<(a, b, c) -> (a, b, c)>
#kept = affine_map<(a, b, c) -> (a)>
func.func @total(%x: memref<16x9x25xf32> {quern.arg = "x"}, %y: memref<16xf32> {quern.arg = "y"}) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<16xf32>)
  linalg.generic {indexing_maps = [#id, #kept], iterator_types = ["parallel", "reduction", "reduction"]} ins(%x : memref<16x9x25xf32>) outs(%y : memref<16xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  return
}
//--- unlike.mlir
#id = affine_map<(a, b, c) -> (a, b, c)>
func.func @unlike(%x: memref<4x6x8xf32> {quern.arg = "x"}, %y: memref<4x6xf32> {quern.arg = "y"}, %z: memref<6x8xf32> {quern.arg = "z"}) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<4x6xf32>)
  linalg.generic {indexing_maps = [#id, affine_map<(a, b, c) -> (a, b)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : memref<4x6x8xf32>) outs(%y : memref<4x6xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  linalg.fill ins(%zero : f32) outs(%z : memref<6x8xf32>)
  linalg.generic {indexing_maps = [#id, affine_map<(a, b, c) -> (b, c)>], iterator_types = ["reduction", "parallel", "parallel"]} ins(%x : memref<4x6x8xf32>) outs(%z : memref<6x8xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  return
}
//--- lengths.mlir
#id = affine_map<(a, b) -> (a, b)>
func.func @lengths(%x: memref<12x64xf32> {quern.arg = "x"}, %from: memref<12x51xf32> {quern.arg = "from"}, %y: memref<f32> {quern.arg = "y"}, %to: memref<12x51xf32> {quern.arg = "to"}) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<f32>)
  linalg.generic {indexing_maps = [#id, affine_map<(a, b) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%x : memref<12x64xf32>) outs(%y : memref<f32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %a, %s fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%from : memref<12x51xf32>) outs(%to : memref<12x51xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}
