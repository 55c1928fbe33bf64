// Checks that an operation that no recipe supports (a product whose body is not a product) is refused with its location
// and each recipe's reason. With --naive it runs as scalar loops, next to a kernel of a recipe.
// REQUIRES: compiler
// RUN: not quern run --mlir=%s 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: quern explain --mlir=%s --naive --target=avx512_core | FileCheck %s
// RUN: quern run --mlir=%s --naive --check --repeat=1
// REFUSED: {{.*}}'linalg.generic' at [[#@LINE+9]]:{{[0-9]+}} is not supported, alone or with the next operations: map: {{.*}}contraction: {{.*}}rows: {{.*}}
// CHECK: naive
#id = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>
func.func @running(%x: tensor<24x16xf32>) -> tensor<24xf32> {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %none = tensor.empty() : tensor<24xf32>
  %start = linalg.fill ins(%one : f32) outs(%none : tensor<24xf32>) -> tensor<24xf32>
  %y = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<24x16xf32>) outs(%start : tensor<24xf32>) {
  ^bb0(%a: f32, %s: f32):
    %d = arith.divf %s, %a : f32
    %m = arith.subf %d, %a : f32
    linalg.yield %m : f32
  } -> tensor<24xf32>
  return %y : tensor<24xf32>
}
