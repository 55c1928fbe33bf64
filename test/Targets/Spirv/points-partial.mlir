// An intermediate of which an op writes a part: one wants to see what the op wrote only where it did, and what was there before elsewhere. Of
// every second element the remainder tells, of a window the distance from its beginning.
// RUN: quern-opt %s --schedule --target=spirv64 | FileCheck %s

// CHECK-LABEL: func.func @every_second_kernel(
// CHECK-SAME: %[[SRC:[a-z0-9]+]]: memref<20xf32>{{.*}}, %[[DST:[a-z0-9]+]]: memref<40xf32>
// CHECK-SAME: quern.plan = "points: 40 in groups of 64"
// CHECK-DAG: %[[C2:[a-z0-9_]+]] = arith.constant 2 : index
// CHECK-DAG: %[[C20:[a-z0-9_]+]] = arith.constant 20 : index
// CHECK-DAG: %[[C0:[a-z0-9_]+]] = arith.constant 0 : index
// CHECK-DAG: %[[ZERO:[a-z0-9_]+]] = arith.constant 0.0
// CHECK: %[[HALF:[a-z0-9_]+]] = arith.divui %[[AT:[a-z0-9_]+]], %[[C2]]
// CHECK: %[[FITS:[a-z0-9_]+]] = arith.cmpi ult, %[[HALF]], %[[C20]]
// CHECK: %[[REST:[a-z0-9_]+]] = arith.remui %[[AT]], %[[C2]]
// CHECK: %[[EVEN:[a-z0-9_]+]] = arith.cmpi eq, %[[REST]], %[[C0]]
// CHECK: %[[EXISTS:[a-z0-9_]+]] = arith.andi %[[FITS]], %[[EVEN]]
// CHECK: %[[ELEMENT:[a-z0-9_]+]] = scf.if %[[EXISTS]] -> (f32) {
// CHECK: memref.load %[[SRC]][%[[HALF]]]
// CHECK: } else {
// CHECK: scf.yield %[[ZERO]]
// CHECK: memref.store %[[ELEMENT]], %[[DST]][%[[AT]]]
#one = affine_map<(i) -> (i)>
#even = affine_map<(i) -> (i * 2)>
func.func @every_second(%src: memref<20xf32> {quern.arg = "src"}, %dst: memref<40xf32> {quern.arg = "dst"}) {
  %zero = arith.constant 0.0 : f32
  %between = memref.alloc() : memref<40xf32>
  linalg.fill ins(%zero : f32) outs(%between : memref<40xf32>)
  linalg.generic {indexing_maps = [#one, #even], iterator_types = ["parallel"]} ins(%src : memref<20xf32>) outs(%between : memref<40xf32>) {
  ^bb0(%x: f32, %out: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  }
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%between : memref<40xf32>) outs(%dst : memref<40xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  }
  return
}

// CHECK-LABEL: func.func @window_kernel(
// CHECK-SAME: %[[SRC:[a-z0-9]+]]: memref<20xf32>
// CHECK-DAG: %[[LESS:[-a-z0-9_]+]] = arith.constant -7 : index
// CHECK-DAG: %[[C20:[a-z0-9_]+]] = arith.constant 20 : index
// CHECK: %[[INSIDE:[a-z0-9_]+]] = arith.addi %{{[a-z0-9_]+}}, %[[LESS]]
// CHECK: %[[EXISTS:[a-z0-9_]+]] = arith.cmpi ult, %[[INSIDE]], %[[C20]]
// CHECK: scf.if %[[EXISTS]] -> (f32) {
// CHECK: memref.load %[[SRC]][%[[INSIDE]]]
func.func @window(%src: memref<20xf32> {quern.arg = "src"}, %dst: memref<40xf32> {quern.arg = "dst"}) {
  %zero = arith.constant 0.0 : f32
  %between = memref.alloc() : memref<40xf32>
  linalg.fill ins(%zero : f32) outs(%between : memref<40xf32>)
  %inner = memref.subview %between[7] [20] [1] : memref<40xf32> to memref<20xf32, strided<[1], offset: 7>>
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%src : memref<20xf32>) outs(%inner : memref<20xf32, strided<[1], offset: 7>>) {
  ^bb0(%x: f32, %out: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  }
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%between : memref<40xf32>) outs(%dst : memref<40xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  }
  return
}
