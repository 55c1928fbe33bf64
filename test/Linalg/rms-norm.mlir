// Input: an RMS norm on tensors. Checks that upstream's passes bufferize it without a copy, that the result is an
// argument, and that the rows recipe schedules it as one problem.
// REQUIRES: compiler
// RUN: quern dump --mlir=%s --stage=emit | FileCheck %s --implicit-check-not=tensor --implicit-check-not=quern.program
// RUN: quern explain --mlir=%s --target=avx512_core | FileCheck %s --check-prefix=PLAN
// RUN: quern run --mlir=%s --check --repeat=1
// RUN: quern run --mlir=%s --check --repeat=1 --data=designed
// RUN: quern dump --mlir=%s --stage=schedule --target=avx512_core | FileCheck %s --check-prefix=WIDE
// CHECK: func.func @function({{.*}} {quern.arg = "arg0"}, {{.*}} {quern.arg = "arg1"}, {{.*}} {quern.arg = "result0"})
// CHECK: memref.alloc() : memref<64xf32>
// CHECK-NOT: memref.alloc
// CHECK: linalg.fill
// CHECK: arith.addf {{.*}} fastmath<reassoc,contract>
// PLAN: plan {{ *}}{{.*}}; rows: {{.*}}; 64 iterations
// WIDE: vector<16xf32>
#row = affine_map<(r, c) -> (r)>
#id = affine_map<(r, c) -> (r, c)>
#column = affine_map<(r, c) -> (c)>
func.func @rms_norm(%x: tensor<64x256xf32>, %weight: tensor<256xf32>) -> tensor<64x256xf32> {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 256.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %none = tensor.empty() : tensor<64xf32>
  %start = linalg.fill ins(%zero : f32) outs(%none : tensor<64xf32>) -> tensor<64xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x256xf32>) outs(%start : tensor<64xf32>) {
  ^bb0(%a: f32, %s: f32):
    %square = arith.mulf %a, %a : f32
    %sum = arith.addf %s, %square : f32
    linalg.yield %sum : f32
  } -> tensor<64xf32>
  %empty = tensor.empty() : tensor<64x256xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %squares, %weight : tensor<64x256xf32>, tensor<64xf32>, tensor<256xf32>) outs(%empty : tensor<64x256xf32>) {
  ^bb0(%a: f32, %s: f32, %w: f32, %old: f32):
    %mean = arith.divf %s, %count : f32
    %more = arith.addf %mean, %epsilon : f32
    %r = math.rsqrt %more : f32
    %scaled = arith.mulf %a, %r : f32
    %value = arith.mulf %scaled, %w : f32
    linalg.yield %value : f32
  } -> tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
