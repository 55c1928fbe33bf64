// Checks that two consecutive products are two problems, with the intermediate value in a region of the launch program;
// bias and relu belong to the first. A second function has two independent products. A third has three equal products:
// one function, called with different buffers.
// REQUIRES: compiler
// RUN: quern dump --mlir=%s:mlp --stage=emit | FileCheck %s
// RUN: quern explain --mlir=%s:mlp --target=avx512_core | FileCheck %s --check-prefix=PLAN
// RUN: quern run --mlir=%s:mlp --check --repeat=1
// RUN: quern run --mlir=%s:mlp --check --repeat=1 --data=designed
// RUN: quern dump --mlir=%s:both --stage=emit | FileCheck %s --check-prefix=BOTH
// RUN: quern run --mlir=%s:both --check --repeat=1
// RUN: quern dump --mlir=%s:thrice --stage=emit | FileCheck %s --check-prefix=THRICE --implicit-check-not=func.func
// RUN: quern run --mlir=%s:thrice --check --repeat=1
// CHECK: quern.program = #quern.program<
// CHECK-NEXT: region "value0" :
// CHECK-NEXT: call @function_0(
// CHECK-NEXT: call @function_1(
// CHECK-NOT: call
// CHECK: func.func @function_0(
// CHECK: func.func @function_1(
// PLAN: contraction: {{.*}} | contraction: {{.*}}; regions of
// BOTH: quern.program = #quern.program<
// BOTH-NEXT: call @function_0("arg0", "result0")
// BOTH-NEXT: call @function_1("arg1", "result1") independent
// BOTH-NOT: call
// A norm whose reductions keep a dim of size 1, as torch-mlir writes them, is one problem.
// RUN: quern explain --mlir=%S/Corpus/norms.mlir:layer_norm_residual --target=avx512_core | FileCheck %s --check-prefix=NORM --implicit-check-not=function_1
// NORM: rows: 8 ops in 3 sweeps
// THRICE: region "value0"
// THRICE-NEXT: region "value1"
// THRICE-NEXT: call @function_0("value0", "arg0", "arg1")
// THRICE-NEXT: call @function_0("value1", "value0", "arg2")
// THRICE-NEXT: call @function_0("result0", "value1", "arg3")
// THRICE: func.func @function_0
#id = affine_map<(r, c) -> (r, c)>
#column = affine_map<(r, c) -> (c)>
#turned = affine_map<(r, c) -> (c, r)>
func.func @mlp(%x: tensor<24x64xf32>, %w1: tensor<64x96xf32>, %b1: tensor<96xf32>, %w2: tensor<96x32xf32>) -> tensor<24x32xf32> {
  %zero = arith.constant 0.0 : f32
  %none = tensor.empty() : tensor<24x96xf32>
  %start = linalg.fill ins(%zero : f32) outs(%none : tensor<24x96xf32>) -> tensor<24x96xf32>
  %p = linalg.matmul ins(%x, %w1 : tensor<24x64xf32>, tensor<64x96xf32>) outs(%start : tensor<24x96xf32>) -> tensor<24x96xf32>
  %h = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %b1 : tensor<24x96xf32>, tensor<96xf32>) outs(%none : tensor<24x96xf32>) {
  ^bb0(%a: f32, %b: f32, %old: f32):
    %sum = arith.addf %a, %b : f32
    %relu = arith.maxnumf %sum, %zero : f32
    linalg.yield %relu : f32
  } -> tensor<24x96xf32>
  %none2 = tensor.empty() : tensor<24x32xf32>
  %start2 = linalg.fill ins(%zero : f32) outs(%none2 : tensor<24x32xf32>) -> tensor<24x32xf32>
  %y = linalg.matmul ins(%h, %w2 : tensor<24x96xf32>, tensor<96x32xf32>) outs(%start2 : tensor<24x32xf32>) -> tensor<24x32xf32>
  return %y : tensor<24x32xf32>
}
func.func @both(%x: tensor<16x48xf32>, %y: tensor<48x20xf32>) -> (tensor<16x48xf32>, tensor<20x48xf32>) {
  %e = tensor.empty() : tensor<16x48xf32>
  %f = tensor.empty() : tensor<20x48xf32>
  %a = linalg.exp ins(%x : tensor<16x48xf32>) outs(%e : tensor<16x48xf32>) -> tensor<16x48xf32>
  %b = linalg.transpose ins(%y : tensor<48x20xf32>) outs(%f : tensor<20x48xf32>) permutation = [1, 0]
  return %a, %b : tensor<16x48xf32>, tensor<20x48xf32>
}
func.func @thrice(%x: tensor<16x16xf32>, %a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %p = linalg.matmul ins(%x, %a : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  %q = linalg.matmul ins(%p, %b : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  %r = linalg.matmul ins(%q, %c : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %r : tensor<16x16xf32>
}
