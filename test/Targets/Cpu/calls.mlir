// A problem that is called several times (quern.calls) is one kernel; each call names the buffers that it gets and where in them it begins. One
// without quern.calls takes its arguments by their names, of which it may have some only. quern.beside stays with the kernel.
// REQUIRES: compiler
// RUN: split-file %s %t
// RUN: quern-opt %t/halves.mlir --schedule --target=avx2 | FileCheck %s --implicit-check-not=linalg.
// RUN: quern-opt %t/halves.mlir --check --target=avx2
// RUN: quern-opt %t/halves.mlir --run --target=avx2 | FileCheck %s --check-prefix=REPLAY
// RUN: not quern-opt %t/short.mlir --run --target=avx2 2>&1 | FileCheck %s --check-prefix=SHORT
// CHECK: func.func @half_kernel(%{{.*}}: memref<8xf32> {quern.arg = "from"}, %{{.*}}: memref<8xf32> {quern.arg = "to"}
// CHECK-SAME: quern.calls = {{\[}}["a", 0, "dst", 32], ["b", 0, "dst", 0]]
// CHECK: func.func @rest_kernel(%{{.*}}: memref<20xf32> {quern.arg = "dst"}
// CHECK-SAME: quern.beside
// REPLAY: a: unchanged
// REPLAY: dst: digest
// REPLAY: b: unchanged
// SHORT: quern.calls must list a name and an offset in bytes for each of the 2 arguments of each call

//--- halves.mlir
#id = affine_map<(i) -> (i)>
func.func @half(%from: memref<8xf32> {quern.arg = "from"}, %to: memref<8xf32> {quern.arg = "to"})
    attributes {quern.calls = [["a", 0, "dst", 32], ["b", 0, "dst", 0]]} {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%from : memref<8xf32>) outs(%to : memref<8xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}
func.func @rest(%dst: memref<4xf32, strided<[1], offset: 16>> {quern.arg = "dst"}) attributes {quern.beside} {
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%one : f32) outs(%dst : memref<4xf32, strided<[1], offset: 16>>)
  return
}

//--- short.mlir
#id = affine_map<(i) -> (i)>
func.func @half(%from: memref<8xf32> {quern.arg = "from"}, %to: memref<8xf32> {quern.arg = "to"})
    attributes {quern.calls = [["a", 0, "dst"]]} {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%from : memref<8xf32>) outs(%to : memref<8xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}
