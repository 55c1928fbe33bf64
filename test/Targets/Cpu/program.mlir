// A module says which problems are called when (quern.program): calls in loops, on buffers that begin where polynomials of the loops' indices
// say, and on regions of memory that calls share. It goes through all stages as it is.
// REQUIRES: compiler
// RUN: split-file %s %t
// RUN: quern-opt %t/scan.mlir --schedule --target=avx2 | FileCheck %s --implicit-check-not=linalg.
// RUN: quern-opt %t/scan.mlir --lower --target=avx2 | FileCheck %s --check-prefix=LOWER
// RUN: quern-opt %t/scan.mlir --check --target=avx2 | FileCheck %s --check-prefix=SAME
// RUN: quern-opt %t/ones.mlir --run --values=12 --target=avx2 | FileCheck %s --check-prefix=ONES
// CHECK: module attributes {quern.program = [{buffers = {{\[\[}}"start", #{{[a-z0-9]+}}], ["state", #{{[a-z0-9]+}}]], call = @copy}, {body =
// CHECK-SAME: quern.regions = {state = #{{[a-z0-9]+}}}
// CHECK: func.func @copy_kernel
// CHECK-SAME: problem = "copy"
// CHECK: func.func @cell_kernel
// CHECK-SAME: problem = "cell"
// LOWER: quern.program = [
// LOWER: llvm.func @cell_kernel
// LOWER-SAME: problem = "cell"
// SAME: start: agrees
// SAME-NEXT: xs: agrees
// SAME-NEXT: ys: agrees
// SAME-NOT: state
// ONES: ys: digest {{.*}}, first 12: 3 3 3 3 2 2 2 2 1 1 1 1

//--- scan.mlir
#id = affine_map<(i) -> (i)>
#at = affine_map<(t) -> (t * 32)>
#from = affine_map<(t) -> (160 - t * 32)>
#zero = affine_map<() -> (0)>
#also = affine_map<(t) -> (0)>
module attributes {
  quern.regions = {state = affine_map<() -> (32)>},
  quern.program = [
    {call = @copy, buffers = [["start", #zero], ["state", #zero]]},
    {loop = affine_map<() -> (6)>, body = [
      {call = @cell, buffers = [["xs", #at], ["state", #also], ["ys", #from]]},
      {call = @copy, buffers = [["ys", #from], ["state", #also]]}]}]
} {
  func.func @copy(%a: memref<8xf32> {quern.arg = "a"}, %b: memref<8xf32> {quern.arg = "b"}) {
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : memref<8xf32>) outs(%b : memref<8xf32>) {
    ^bb0(%x: f32, %old: f32):
      linalg.yield %x : f32
    }
    return
  }
  func.func @cell(%x: memref<8xf32> {quern.arg = "x"}, %h: memref<8xf32> {quern.arg = "h"}, %y: memref<8xf32> {quern.arg = "y"}) {
    linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %h : memref<8xf32>, memref<8xf32>)
        outs(%y : memref<8xf32>) {
    ^bb0(%a: f32, %b: f32, %old: f32):
      %half = arith.constant 0.5 : f32
      %scaled = arith.mulf %b, %half : f32
      %sum = arith.addf %a, %scaled : f32
      linalg.yield %sum : f32
    }
    return
  }
}

//--- ones.mlir
// Counts in a region of s32 from 0 on; a loop that never runs does nothing.
#id = affine_map<(i) -> (i)>
module attributes {
  quern.regions = {count = affine_map<() -> (16)>},
  quern.program = [
    {call = @zero, buffers = [["count", affine_map<() -> (0)>]]},
    {loop = affine_map<() -> (0 - 1)>, body = [{call = @step, buffers = [["count", affine_map<() -> (0)>], ["ys", affine_map<() -> (0)>]]}]},
    {loop = affine_map<() -> (1)>, body = [
      {loop = affine_map<() -> (3)>, body = [
        {call = @step, buffers = [["count", affine_map<() -> (0)>], ["ys", affine_map<(a, b) -> (a * 4 + 32 - b * 16)>]]}]}]}]
} {
  func.func @zero(%c: memref<4xf32> {quern.arg = "c"}) {
    %none = arith.constant 0.0 : f32
    linalg.fill ins(%none : f32) outs(%c : memref<4xf32>)
    return
  }
  func.func @step(%c: memref<4xf32> {quern.arg = "c"}, %y: memref<4xf32> {quern.arg = "y"}) {
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} outs(%c, %y : memref<4xf32>, memref<4xf32>) {
    ^bb0(%a: f32, %old: f32):
      %one = arith.constant 1.0 : f32
      %sum = arith.addf %a, %one : f32
      linalg.yield %sum, %sum : f32, f32
    }
    return
  }
}
