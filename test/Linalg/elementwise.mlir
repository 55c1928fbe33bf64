// Input: a function on memrefs, with strides on both sides. Checks that it is one problem without allocations and with
// correct results. A second run of the same bytes, and a run of the same function as bytecode, find the kernel.
// REQUIRES: compiler
// RUN: quern dump --mlir=%s --stage=emit | FileCheck %s --implicit-check-not=alloc --implicit-check-not=quern.program
// RUN: quern run --mlir=%s --check --repeat=1 | FileCheck %s --check-prefix=FIRST
// RUN: quern run --mlir=%s --check --repeat=1 | FileCheck %s --check-prefix=AGAIN
// RUN: env QUERN_COMPILER=process quern run --mlir=%s:gelu --check --repeat=1 --data=special
// RUN: mlir-opt %s --emit-bytecode -o %t.mlirbc
// RUN: quern run --mlir=%t.mlirbc --check --repeat=1 | FileCheck %s --check-prefix=AGAIN
// A process whose kernel and function are both on disk loads no compiler; modified text needs one.
// RUN: env QUERN_COMPILER_LIBRARY=/nowhere quern run --mlir=%s --check --repeat=1 | FileCheck %s --check-prefix=AGAIN
// RUN: cp %s %t.mlir
// RUN: echo "// more" >> %t.mlir
// RUN: not env QUERN_COMPILER_LIBRARY=/nowhere quern run --mlir=%t.mlir 2>&1 | FileCheck %s --check-prefix=UNREAD
// UNREAD: compiler cannot be loaded
// CHECK: func.func @function(%arg0: memref<37x65xf32, strided<[80, 1], offset: 3>> {quern.arg = "arg0"}, %arg1: memref<65xf32> {quern.arg = "arg1"}, %arg2: memref<37x65xbf16> {quern.arg = "arg2"})
// CHECK: linalg.generic
// FIRST: mlir args=f32:37x65:s80x1:off3,f32:65:a,bf16:37x65:ab uses=rrw
// FIRST-NEXT: from compiled
// FIRST: : ok
// AGAIN: from disk
// AGAIN: : ok
#id = affine_map<(r, c) -> (r, c)>
#column = affine_map<(r, c) -> (c)>
func.func @gelu(%x: memref<37x65xf32, strided<[80, 1], offset: 3>>, %bias: memref<65xf32>, %y: memref<37x65xbf16>) {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %scale = arith.constant 0.707106769 : f32
  linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %bias : memref<37x65xf32, strided<[80, 1], offset: 3>>, memref<65xf32>) outs(%y : memref<37x65xbf16>) {
  ^bb0(%a: f32, %b: f32, %old: bf16):
    %sum = arith.addf %a, %b : f32
    %scaled = arith.mulf %sum, %scale : f32
    %erf = math.erf %scaled : f32
    %more = arith.addf %erf, %one : f32
    %part = arith.mulf %sum, %half : f32
    %value = arith.mulf %part, %more : f32
    %rounded = arith.truncf %value : f32 to bf16
    linalg.yield %rounded : bf16
  }
  return
}
