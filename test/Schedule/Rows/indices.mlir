// Input: the position of the greatest element of a row (the first of equal ones), and a sum of the elements on or below
// a diagonal. Checks that indices are vectors of i32, along the row and across rows, and that a minimum of integers is
// supported. An index of 64 bits is refused.
// REQUIRES: compiler
// RUN: split-file %s %t
// RUN: quern-opt %t/place.mlir --schedule --target=avx512_core | FileCheck %s --check-prefix=PLACE --implicit-check-not=linalg.
// RUN: quern-opt %t/place.mlir --check
// RUN: quern-opt %t/place.mlir --check --target=sse42
// RUN: quern-opt %t/across.mlir --schedule --target=avx2 | FileCheck %s --check-prefix=ACROSS --implicit-check-not=linalg.
// RUN: quern-opt %t/across.mlir --check
// RUN: quern-opt %t/across.mlir --check --target=sse42
// RUN: not quern-opt %t/long.mlir --quern-schedule-rows=target=avx512_core 2>&1 | FileCheck %s --check-prefix=LONG
// PLACE: dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : vector<16xi32>
// PLACE: arith.minsi {{.*}} vector<16xi32>
// PLACE: vector.reduction <minsi>
// ACROSS: across_rows =
// ACROSS: arith.cmpi sle, {{.*}} : vector<8xi32>
// LONG: an index in a body is not cast to 32 bits
//--- place.mlir
#id = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>
func.func @place(%x: memref<7x75xf32> {quern.arg = "x"}, %best: memref<7xf32> {quern.arg = "best"}, %at: memref<7xi32> {quern.arg = "at"}) {
  %low = arith.constant 0xFF800000 : f32
  %none = arith.constant 2147483647 : i32
  linalg.fill ins(%low : f32) outs(%best : memref<7xf32>)
  linalg.fill ins(%none : i32) outs(%at : memref<7xi32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<7x75xf32>) outs(%best : memref<7xf32>) {
  ^bb0(%a: f32, %m: f32):
    %t = arith.maxnumf %a, %m : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %best : memref<7x75xf32>, memref<7xf32>) outs(%at : memref<7xi32>) {
  ^bb0(%a: f32, %b: f32, %m: i32):
    %i = linalg.index 1 : index
    %n = arith.index_cast %i : index to i32
    %same = arith.cmpf oeq, %a, %b : f32
    %here = arith.select %same, %n, %none : i32
    %t = arith.minsi %here, %m : i32
    linalg.yield %t : i32
  }
  return
}
//--- across.mlir
#id = affine_map<(r, c) -> (r, c)>
#column = affine_map<(r, c) -> (c)>
func.func @triangle(%x: memref<30x41xf32> {quern.arg = "x"}, %y: memref<41xf32> {quern.arg = "y"}) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<41xf32>)
  linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]} ins(%x : memref<30x41xf32>) outs(%y : memref<41xf32>) {
  ^bb0(%a: f32, %s: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %r = arith.index_cast %i : index to i32
    %c = arith.index_cast %j : index to i32
    %seen = arith.cmpi sle, %c, %r : i32
    %here = arith.select %seen, %a, %zero : f32
    %t = arith.addf %here, %s fastmath<reassoc> : f32
    linalg.yield %t : f32
  }
  return
}
//--- long.mlir
func.func @long(%y: memref<8x16xi32> {quern.arg = "y"}) {
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "parallel"]} outs(%y : memref<8x16xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %s = arith.addi %i, %j : index
    %n = arith.index_cast %s : index to i32
    linalg.yield %n : i32
  }
  return
}
