// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
func.func @swish_1024x1024(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<1024x1024xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>],
                       iterator_types = ["parallel", "parallel"]} ins(%x : tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) {
  ^bb0(%a: f32, %old: f32):
    %n = arith.negf %a : f32
    %p = math.exp %n : f32
    %q = arith.addf %p, %one : f32
    %s = arith.divf %a, %q : f32
    linalg.yield %s : f32
  } -> tensor<1024x1024xf32>
  return %y : tensor<1024x1024xf32>
}
func.func @silu_gate_1024x1024(%x: tensor<1024x1024xf32>, %gate: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<1024x1024xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>],
                       iterator_types = ["parallel", "parallel"]} ins(%x : tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) {
  ^bb0(%a: f32, %old: f32):
    %n = arith.negf %a : f32
    %p = math.exp %n : f32
    %q = arith.addf %p, %one : f32
    %s = arith.divf %a, %q : f32
    linalg.yield %s : f32
  } -> tensor<1024x1024xf32>
  %y = linalg.mul ins(%s, %gate : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %y : tensor<1024x1024xf32>
}
func.func @swish_4096x4096(%x: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>],
                       iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4096x4096xf32>) outs(%e : tensor<4096x4096xf32>) {
  ^bb0(%a: f32, %old: f32):
    %n = arith.negf %a : f32
    %p = math.exp %n : f32
    %q = arith.addf %p, %one : f32
    %s = arith.divf %a, %q : f32
    linalg.yield %s : f32
  } -> tensor<4096x4096xf32>
  return %y : tensor<4096x4096xf32>
}
func.func @silu_gate_4096x4096(%x: tensor<4096x4096xf32>, %gate: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>],
                       iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4096x4096xf32>) outs(%e : tensor<4096x4096xf32>) {
  ^bb0(%a: f32, %old: f32):
    %n = arith.negf %a : f32
    %p = math.exp %n : f32
    %q = arith.addf %p, %one : f32
    %s = arith.divf %a, %q : f32
    linalg.yield %s : f32
  } -> tensor<4096x4096xf32>
  %y = linalg.mul ins(%s, %gate : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %y : tensor<4096x4096xf32>
}
