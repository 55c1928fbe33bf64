// Checks a launch program (quern.program), which specifies when each problem is called: calls in loops, on buffers
// whose offsets are polynomials of the loop indices, and on regions of memory that calls share. All stages keep it
// unchanged.
// REQUIRES: compiler
// RUN: split-file %s %t
// RUN: quern-opt %t/scan.mlir --schedule --target=avx2 | FileCheck %s --implicit-check-not=linalg.
// RUN: quern-opt %t/scan.mlir --lower --target=avx2 | FileCheck %s --check-prefix=LOWER
// RUN: quern-opt %t/scan.mlir --check --target=avx2 | FileCheck %s --check-prefix=SAME
// RUN: quern-opt %t/ones.mlir --run --values=12 --target=avx2 | FileCheck %s --check-prefix=ONES
// CHECK: module attributes {quern.program = #quern.program<
// CHECK-NEXT: {{^}}  region "state" : 32
// CHECK-NEXT: {{^}}  call @copy("start", "state")
// CHECK-NEXT: {{^}}  loop 6 {
// CHECK-NEXT: {{^}}    call @cell("xs"[d0 * 32], "state", "ys"[d0 * -32 + 160])
// CHECK-NEXT: {{^}}    call @copy("ys"[d0 * -32 + 160], "state")
// CHECK-NEXT: {{^}}  }
// CHECK-NEXT: {{^}}>} {
// CHECK: func.func @copy_kernel
// CHECK-SAME: problem = "copy"
// CHECK: func.func @cell_kernel
// CHECK-SAME: problem = "cell"
// LOWER: quern.program = #quern.program<
// LOWER: llvm.func @cell_kernel
// LOWER-SAME: problem = "cell"
// SAME: start: agrees
// SAME-NEXT: xs: agrees
// SAME-NEXT: ys: agrees
// SAME-NOT: state
// ONES: ys: digest {{.*}}, first 12: 3 3 3 3 2 2 2 2 1 1 1 1

//--- scan.mlir
#id = affine_map<(i) -> (i)>
module attributes {
  quern.program = #quern.program<
    region "state" : 32
    call @copy("start", "state")
    loop 6 {
      call @cell("xs"[d0 * 32], "state", "ys"[160 - d0 * 32])
      call @copy("ys"[160 - d0 * 32], "state")
    }>
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
// Counts in a region of s32 from 0; a loop that never runs does nothing.
#id = affine_map<(i) -> (i)>
module attributes {
  quern.program = #quern.program<
    region "count" : 16
    call @zero("count")
    loop -1 { call @step("count", "ys") }
    loop 1 { loop 3 { call @step("count", "ys"[d0 * 4 + 32 - d1 * 16]) } }>
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
