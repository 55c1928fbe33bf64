// Input: a scaled, masked softmax on tensors, with upstream's linalg.softmax. Checks that the argument of exp is known
// to be at most 0 and that each row is multiplied by one reciprocal.
// REQUIRES: compiler
// RUN: quern dump --mlir=%s --stage=emit | FileCheck %s --implicit-check-not=tensor --implicit-check-not=linalg.softmax
// RUN: quern explain --mlir=%s --target=avx512_core | FileCheck %s --check-prefix=PLAN
// RUN: quern run --mlir=%s --check --repeat=1
// CHECK: {quern.arg = "result0"}
// CHECK: arith.maxnumf
// CHECK: math.exp {{.*}} fastmath<afn> {quern.relax = #quern.relax<nonpositive>}
// CHECK: linalg.generic {{.*}} ins(%{{[a-z_0-9]+}} : memref<4x33xf32>) outs(%{{[a-z_0-9]+}} : memref<4x33xf32>)
// CHECK: arith.divf
// CHECK: ins({{.*}} : memref<4x33x129xf32>, memref<4x33xf32>)
// CHECK: arith.mulf
// PLAN: rows:
#id = affine_map<(h, r, c) -> (h, r, c)>
#mask = affine_map<(h, r, c) -> (r, c)>
func.func @softmax(%x: tensor<4x33x129xf32>, %mask: tensor<33x129xf32>) -> tensor<4x33x129xf32> {
  %scale = arith.constant 0.125 : f32
  %empty = tensor.empty() : tensor<4x33x129xf32>
  %masked = linalg.generic {indexing_maps = [#id, #mask, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %mask : tensor<4x33x129xf32>, tensor<33x129xf32>) outs(%empty : tensor<4x33x129xf32>) {
  ^bb0(%a: f32, %m: f32, %old: f32):
    %scaled = arith.mulf %a, %scale : f32
    %value = arith.addf %scaled, %m : f32
    linalg.yield %value : f32
  } -> tensor<4x33x129xf32>
  %y = linalg.softmax dimension(2) ins(%masked : tensor<4x33x129xf32>) outs(%empty : tensor<4x33x129xf32>) -> tensor<4x33x129xf32>
  return %y : tensor<4x33x129xf32>
}
