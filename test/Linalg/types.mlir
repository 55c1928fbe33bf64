// Checks element types other than f32: arithmetic on bf16 and f16 is done in f32 and rounded after each operation;
// bytes are extended; sums of i32 are exact.
// REQUIRES: compiler
// RUN: quern dump --mlir=%s:halves --stage=emit | FileCheck %s --check-prefix=HALVES
// RUN: quern run --mlir=%s:halves --check --repeat=1
// RUN: quern run --mlir=%s:halves --check --repeat=1 --data=special
// RUN: quern run --mlir=%s:dequantize --check --repeat=1
// RUN: quern run --mlir=%s:integers --check --repeat=1
// RUN: quern run --mlir=%s:doubles --check --repeat=1
// RUN: quern dump --mlir=%s:halves --stage=lower --target=avx512_core_bf16 > /dev/null
// HALVES: arith.extf %{{.*}} : bf16 to f32
// HALVES: arith.addf %{{.*}} : f32
// HALVES: arith.truncf %{{.*}} : f32 to bf16
#id = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>
func.func @halves(%x: tensor<9x40xbf16>, %y: tensor<9x40xbf16>) -> tensor<9x40xbf16> {
  %empty = tensor.empty() : tensor<9x40xbf16>
  %sum = linalg.add ins(%x, %y : tensor<9x40xbf16>, tensor<9x40xbf16>) outs(%empty : tensor<9x40xbf16>) -> tensor<9x40xbf16>
  %z = linalg.tanh ins(%sum : tensor<9x40xbf16>) outs(%empty : tensor<9x40xbf16>) -> tensor<9x40xbf16>
  return %z : tensor<9x40xbf16>
}
func.func @dequantize(%x: memref<9x40xi8>, %scale: memref<9xf32>, %y: memref<9x40xf16>) {
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %scale : memref<9x40xi8>, memref<9xf32>) outs(%y : memref<9x40xf16>) {
  ^bb0(%q: i8, %s: f32, %old: f16):
    %f = arith.sitofp %q : i8 to f32
    %m = arith.mulf %f, %s : f32
    %h = arith.truncf %m : f32 to f16
    linalg.yield %h : f16
  }
  return
}
func.func @integers(%x: memref<9x40xi32>, %y: memref<9x40xi32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : memref<9x40xi32>) outs(%y : memref<9x40xi32>) {
  ^bb0(%a: i32, %old: i32):
    %sum = arith.addi %a, %a : i32
    linalg.yield %sum : i32
  }
  return
}
func.func @doubles(%x: tensor<9x40xf64>) -> tensor<9xf64> {
  %zero = arith.constant 0.0 : f64
  %none = tensor.empty() : tensor<9xf64>
  %start = linalg.fill ins(%zero : f64) outs(%none : tensor<9xf64>) -> tensor<9xf64>
  %y = linalg.reduce ins(%x : tensor<9x40xf64>) outs(%start : tensor<9xf64>) dimensions = [1]
    (%a: f64, %s: f64) {
      %sum = arith.addf %a, %s : f64
      linalg.yield %sum : f64
    }
  return %y : tensor<9xf64>
}
