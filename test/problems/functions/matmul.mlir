// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
func.func @gelu_linear_512(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>, %bias: tensor<512xf32>) -> tensor<512x512xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %root = arith.constant 0.707106769 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %m = linalg.matmul ins(%x, %w : tensor<512x512xf32>, tensor<512x512xf32>) outs(%start : tensor<512x512xf32>) -> tensor<512x512xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (c)>, affine_map<(r, c) -> (r, c)>],
                       iterator_types = ["parallel", "parallel"]} ins(%m, %bias : tensor<512x512xf32>, tensor<512xf32>) outs(%e : tensor<512x512xf32>) {
  ^bb0(%a: f32, %b: f32, %old: f32):
    %z = arith.addf %a, %b : f32
    %q = arith.mulf %z, %root : f32
    %f = math.erf %q : f32
    %g = arith.addf %f, %one : f32
    %h = arith.mulf %z, %half : f32
    %r = arith.mulf %h, %g : f32
    linalg.yield %r : f32
  } -> tensor<512x512xf32>
  return %y : tensor<512x512xf32>
}
func.func @gelu_linear_1024(%x: tensor<1024x1024xf32>, %w: tensor<1024x1024xf32>, %bias: tensor<1024xf32>) -> tensor<1024x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %root = arith.constant 0.707106769 : f32
  %e = tensor.empty() : tensor<1024x1024xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %m = linalg.matmul ins(%x, %w : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%start : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (c)>, affine_map<(r, c) -> (r, c)>],
                       iterator_types = ["parallel", "parallel"]} ins(%m, %bias : tensor<1024x1024xf32>, tensor<1024xf32>) outs(%e : tensor<1024x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %old: f32):
    %z = arith.addf %a, %b : f32
    %q = arith.mulf %z, %root : f32
    %f = math.erf %q : f32
    %g = arith.addf %f, %one : f32
    %h = arith.mulf %z, %half : f32
    %r = arith.mulf %h, %g : f32
    linalg.yield %r : f32
  } -> tensor<1024x1024xf32>
  return %y : tensor<1024x1024xf32>
}
func.func @gelu_linear_2048(%x: tensor<2048x2048xf32>, %w: tensor<2048x2048xf32>, %bias: tensor<2048xf32>) -> tensor<2048x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %root = arith.constant 0.707106769 : f32
  %e = tensor.empty() : tensor<2048x2048xf32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %m = linalg.matmul ins(%x, %w : tensor<2048x2048xf32>, tensor<2048x2048xf32>) outs(%start : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (c)>, affine_map<(r, c) -> (r, c)>],
                       iterator_types = ["parallel", "parallel"]} ins(%m, %bias : tensor<2048x2048xf32>, tensor<2048xf32>) outs(%e : tensor<2048x2048xf32>) {
  ^bb0(%a: f32, %b: f32, %old: f32):
    %z = arith.addf %a, %b : f32
    %q = arith.mulf %z, %root : f32
    %f = math.erf %q : f32
    %g = arith.addf %f, %one : f32
    %h = arith.mulf %z, %half : f32
    %r = arith.mulf %h, %g : f32
    linalg.yield %r : f32
  } -> tensor<2048x2048xf32>
  return %y : tensor<2048x2048xf32>
}
