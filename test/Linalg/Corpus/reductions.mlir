// Input: sums and extremes, with their indices. Checks that each is one problem of rows.
// REQUIRES: compiler
// RUN: quern explain --mlir=%s:argmax --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:top1 --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:sum_of_two_axes --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:mean_of_places --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:least_and_greatest --target=avx2 | FileCheck %s --check-prefix=WHOLE
// RUN: quern explain --mlir=%s:mean_square --target=avx2 | FileCheck %s --check-prefix=WHOLE
// WHOLE: {{^}}@function: 
#rc = affine_map<(r, c) -> (r, c)>
#r = affine_map<(r, c) -> (r)>
#c = affine_map<(r, c) -> (c)>
#v = affine_map<(r) -> (r)>
#none = affine_map<(r) -> ()>

// For equal elements, the index is that of the first.
func.func @argmax(%x: tensor<26x75xf32>) -> (tensor<26xf32>, tensor<26xi32>) {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<26xf32>
  %i = tensor.empty() : tensor<26xi32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<26xf32>) -> tensor<26xf32>
  %z = linalg.fill ins(%zero : i32) outs(%i : tensor<26xi32>) -> tensor<26xi32>
  %y:2 = linalg.generic {indexing_maps = [#rc, #r, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<26x75xf32>) outs(%f, %z : tensor<26xf32>, tensor<26xi32>) {
  ^bb0(%a: f32, %m: f32, %at: i32):
    %index = linalg.index 1 : index
    %number = arith.index_cast %index : index to i32
    %more = arith.cmpf ogt, %a, %m : f32
    %value = arith.select %more, %a, %m : f32
    %place = arith.select %more, %number, %at : i32
    linalg.yield %value, %place : f32, i32
  } -> (tensor<26xf32>, tensor<26xi32>)
  return %y#0, %y#1 : tensor<26xf32>, tensor<26xi32>
}

// The form of TOSA: only the index is returned.
func.func @argmax_index_only(%x: tensor<6x30x20xf32>) -> tensor<6x20xi32> {
  %low = arith.constant -3.40282347E+38 : f32
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<6x20xf32>
  %i = tensor.empty() : tensor<6x20xi32>
  %z = linalg.fill ins(%zero : i32) outs(%i : tensor<6x20xi32>) -> tensor<6x20xi32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<6x20xf32>) -> tensor<6x20xf32>
  %y:2 = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, c)>, affine_map<(a, b, c) -> (a, c)>], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x : tensor<6x30x20xf32>) outs(%z, %f : tensor<6x20xi32>, tensor<6x20xf32>) {
  ^bb0(%a: f32, %at: i32, %m: f32):
    %index = linalg.index 1 : index
    %number = arith.index_cast %index : index to i32
    %more = arith.cmpf ogt, %a, %m : f32
    %value = arith.select %more, %a, %m : f32
    %place = arith.select %more, %number, %at : i32
    linalg.yield %place, %value : i32, f32
  } -> (tensor<6x20xi32>, tensor<6x20xf32>)
  return %y#0 : tensor<6x20xi32>
}

// Probability and index of the most probable class.
func.func @top1(%x: tensor<18x64xf32>) -> (tensor<18xf32>, tensor<18xi32>) {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i32
  %whole = tensor.empty() : tensor<18x64xf32>
  %p = linalg.softmax dimension(1) ins(%x : tensor<18x64xf32>) outs(%whole : tensor<18x64xf32>) -> tensor<18x64xf32>
  %e = tensor.empty() : tensor<18xf32>
  %i = tensor.empty() : tensor<18xi32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<18xf32>) -> tensor<18xf32>
  %z = linalg.fill ins(%zero : i32) outs(%i : tensor<18xi32>) -> tensor<18xi32>
  %y:2 = linalg.generic {indexing_maps = [#rc, #r, #r], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<18x64xf32>) outs(%f, %z : tensor<18xf32>, tensor<18xi32>) {
  ^bb0(%a: f32, %m: f32, %at: i32):
    %index = linalg.index 1 : index
    %number = arith.index_cast %index : index to i32
    %more = arith.cmpf ogt, %a, %m : f32
    %value = arith.select %more, %a, %m : f32
    %place = arith.select %more, %number, %at : i32
    linalg.yield %value, %place : f32, i32
  } -> (tensor<18xf32>, tensor<18xi32>)
  return %y#0, %y#1 : tensor<18xf32>, tensor<18xi32>
}

func.func @sum_of_two_axes(%x: tensor<9x16x25xf32>) -> tensor<16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<9x16x25xf32>) outs(%f : tensor<16xf32>) dimensions = [0, 2]
  return %s : tensor<16xf32>
}

func.func @mean_of_places(%x: tensor<2x5x6x24xbf16>) -> tensor<2x24xbf16> {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 30.0 : f32
  %e = tensor.empty() : tensor<2x24xf32>
  %out = tensor.empty() : tensor<2x24xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x24xf32>) -> tensor<2x24xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (n, h, w, c)>, affine_map<(n, h, w, c) -> (n, c)>], iterator_types = ["parallel", "reduction", "reduction", "parallel"]}
      ins(%x : tensor<2x5x6x24xbf16>) outs(%f : tensor<2x24xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %w = arith.extf %a : bf16 to f32
    %t = arith.addf %w, %o : f32
    linalg.yield %t : f32
  } -> tensor<2x24xf32>
  %y = linalg.generic {indexing_maps = [#rc, #rc], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<2x24xf32>) outs(%out : tensor<2x24xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %m = arith.divf %a, %count : f32
    %t = arith.truncf %m : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<2x24xbf16>
  return %y : tensor<2x24xbf16>
}

func.func @max_of_places(%x: tensor<2x24x5x6xf16>) -> tensor<2x24xf16> {
  %low = arith.constant 0xFC00 : f16
  %e = tensor.empty() : tensor<2x24xf16>
  %f = linalg.fill ins(%low : f16) outs(%e : tensor<2x24xf16>) -> tensor<2x24xf16>
  %s = linalg.reduce { arith.maximumf } ins(%x : tensor<2x24x5x6xf16>) outs(%f : tensor<2x24xf16>) dimensions = [2, 3]
  return %s : tensor<2x24xf16>
}

func.func @least_and_greatest(%x: tensor<26x75xf32>) -> (tensor<26xf32>, tensor<26xf32>) {
  %low = arith.constant 0xFF800000 : f32
  %high = arith.constant 0x7F800000 : f32
  %e = tensor.empty() : tensor<26xf32>
  %f = linalg.fill ins(%high : f32) outs(%e : tensor<26xf32>) -> tensor<26xf32>
  %g = linalg.fill ins(%low : f32) outs(%e : tensor<26xf32>) -> tensor<26xf32>
  %y:2 = linalg.reduce ins(%x, %x : tensor<26x75xf32>, tensor<26x75xf32>) outs(%f, %g : tensor<26xf32>, tensor<26xf32>) dimensions = [1]
    (%a: f32, %b: f32, %m: f32, %n: f32) {
      %s = arith.minimumf %a, %m : f32
      %t = arith.maximumf %b, %n : f32
      linalg.yield %s, %t : f32, f32
    }
  return %y#0, %y#1 : tensor<26xf32>, tensor<26xf32>
}

func.func @sum_s8(%x: tensor<26x75xi8>) -> tensor<26xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<26xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<26xi32>) -> tensor<26xi32>
  %y = linalg.generic {indexing_maps = [#rc, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<26x75xi8>) outs(%f : tensor<26xi32>) {
  ^bb0(%a: i8, %o: i32):
    %w = arith.extsi %a : i8 to i32
    %t = arith.addi %w, %o : i32
    linalg.yield %t : i32
  } -> tensor<26xi32>
  return %y : tensor<26xi32>
}

func.func @dot(%x: tensor<300xf32>, %y: tensor<300xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %z = linalg.dot ins(%x, %y : tensor<300xf32>, tensor<300xf32>) outs(%f : tensor<f32>) -> tensor<f32>
  return %z : tensor<f32>
}

// A whole matrix: both axes are reduced, and the result has rank 0.
func.func @mean_square(%x: tensor<20x30xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 600.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s = linalg.generic {indexing_maps = [#rc, affine_map<(r, c) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%x : tensor<20x30xf32>) outs(%f : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.mulf %a, %a : f32
    %t = arith.addf %q, %o : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  %y = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%s : tensor<f32>) outs(%e : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.divf %a, %count : f32
    linalg.yield %m : f32
  } -> tensor<f32>
  return %y : tensor<f32>
}
