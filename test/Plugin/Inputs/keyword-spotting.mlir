// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A network of dense layers in TOSA that spots 12 words in 4 seconds of 49 x 10 features each (the DNN of "Hello
// Edge").
func.func private @layer(%x: tensor<1x196x10xf32>, %w0: tensor<1x490x144xf32>, %b0: tensor<1x1x144xf32>,
    %w1: tensor<1x144x144xf32>, %b1: tensor<1x1x144xf32>, %w2: tensor<1x144x144xf32>, %b2: tensor<1x1x144xf32>,
    %w3: tensor<1x144x12xf32>, %b3: tensor<1x1x12xf32>) -> tensor<1x4x12xf32> {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %flat = tosa.const_shape {values = dense<[1, 4, 490]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %v1 = tosa.reshape %x, %flat : (tensor<1x196x10xf32>, !tosa.shape<3>) -> tensor<1x4x490xf32>
  // Layer 0.
  %v2 = tosa.matmul %v1, %w0, %zp, %zp : (tensor<1x4x490xf32>, tensor<1x490x144xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x144xf32>
  %v3 = tosa.add %v2, %b0 : (tensor<1x4x144xf32>, tensor<1x1x144xf32>) -> tensor<1x4x144xf32>
  %v4 = tosa.clamp %v3 {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<1x4x144xf32>) -> tensor<1x4x144xf32>
  // Layer 1.
  %v5 = tosa.matmul %v4, %w1, %zp, %zp : (tensor<1x4x144xf32>, tensor<1x144x144xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x144xf32>
  %v6 = tosa.add %v5, %b1 : (tensor<1x4x144xf32>, tensor<1x1x144xf32>) -> tensor<1x4x144xf32>
  %v7 = tosa.clamp %v6 {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<1x4x144xf32>) -> tensor<1x4x144xf32>
  // Layer 2.
  %v8 = tosa.matmul %v7, %w2, %zp, %zp : (tensor<1x4x144xf32>, tensor<1x144x144xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x144xf32>
  %v9 = tosa.add %v8, %b2 : (tensor<1x4x144xf32>, tensor<1x1x144xf32>) -> tensor<1x4x144xf32>
  %v10 = tosa.clamp %v9 {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<1x4x144xf32>) -> tensor<1x4x144xf32>
  // Probabilities of the words.
  %v11 = tosa.matmul %v10, %w3, %zp, %zp : (tensor<1x4x144xf32>, tensor<1x144x12xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x12xf32>
  %v12 = tosa.add %v11, %b3 : (tensor<1x4x12xf32>, tensor<1x1x12xf32>) -> tensor<1x4x12xf32>
  %v13 = tosa.reduce_max %v12 {axis = 2 : i32} : (tensor<1x4x12xf32>) -> tensor<1x4x1xf32>
  %v14 = tosa.sub %v12, %v13 : (tensor<1x4x12xf32>, tensor<1x4x1xf32>) -> tensor<1x4x12xf32>
  %v15 = tosa.exp %v14 : (tensor<1x4x12xf32>) -> tensor<1x4x12xf32>
  %v16 = tosa.reduce_sum %v15 {axis = 2 : i32} : (tensor<1x4x12xf32>) -> tensor<1x4x1xf32>
  %v17 = tosa.reciprocal %v16 : (tensor<1x4x1xf32>) -> tensor<1x4x1xf32>
  %v18 = tosa.mul %v15, %v17, %shift : (tensor<1x4x12xf32>, tensor<1x4x1xf32>, tensor<1xi8>) -> tensor<1x4x12xf32>
  return %v18 : tensor<1x4x12xf32>
}

func.func @main() {
  %low = arith.constant -0.5 : f64
  %high = arith.constant 0.5 : f64
  %s0 = arith.constant 1 : i32
  %e0 = tensor.empty() : tensor<196x10xf32>
  %r0 = linalg.fill_rng_2d ins(%low, %high, %s0 : f64, f64, i32) outs(%e0 : tensor<196x10xf32>) -> tensor<196x10xf32>
  %x = tensor.expand_shape %r0 [[0, 1], [2]] output_shape [1, 196, 10] : tensor<196x10xf32> into tensor<1x196x10xf32>
  %s1 = arith.constant 2 : i32
  %e1 = tensor.empty() : tensor<490x144xf32>
  %r1 = linalg.fill_rng_2d ins(%low, %high, %s1 : f64, f64, i32) outs(%e1 : tensor<490x144xf32>) -> tensor<490x144xf32>
  %w0 = tensor.expand_shape %r1 [[0, 1], [2]] output_shape [1, 490, 144] : tensor<490x144xf32> into tensor<1x490x144xf32>
  %s2 = arith.constant 3 : i32
  %e2 = tensor.empty() : tensor<1x144xf32>
  %r2 = linalg.fill_rng_2d ins(%low, %high, %s2 : f64, f64, i32) outs(%e2 : tensor<1x144xf32>) -> tensor<1x144xf32>
  %b0 = tensor.expand_shape %r2 [[0, 1], [2]] output_shape [1, 1, 144] : tensor<1x144xf32> into tensor<1x1x144xf32>
  %s3 = arith.constant 4 : i32
  %e3 = tensor.empty() : tensor<144x144xf32>
  %r3 = linalg.fill_rng_2d ins(%low, %high, %s3 : f64, f64, i32) outs(%e3 : tensor<144x144xf32>) -> tensor<144x144xf32>
  %w1 = tensor.expand_shape %r3 [[0, 1], [2]] output_shape [1, 144, 144] : tensor<144x144xf32> into tensor<1x144x144xf32>
  %s4 = arith.constant 5 : i32
  %e4 = tensor.empty() : tensor<1x144xf32>
  %r4 = linalg.fill_rng_2d ins(%low, %high, %s4 : f64, f64, i32) outs(%e4 : tensor<1x144xf32>) -> tensor<1x144xf32>
  %b1 = tensor.expand_shape %r4 [[0, 1], [2]] output_shape [1, 1, 144] : tensor<1x144xf32> into tensor<1x1x144xf32>
  %s5 = arith.constant 6 : i32
  %e5 = tensor.empty() : tensor<144x144xf32>
  %r5 = linalg.fill_rng_2d ins(%low, %high, %s5 : f64, f64, i32) outs(%e5 : tensor<144x144xf32>) -> tensor<144x144xf32>
  %w2 = tensor.expand_shape %r5 [[0, 1], [2]] output_shape [1, 144, 144] : tensor<144x144xf32> into tensor<1x144x144xf32>
  %s6 = arith.constant 7 : i32
  %e6 = tensor.empty() : tensor<1x144xf32>
  %r6 = linalg.fill_rng_2d ins(%low, %high, %s6 : f64, f64, i32) outs(%e6 : tensor<1x144xf32>) -> tensor<1x144xf32>
  %b2 = tensor.expand_shape %r6 [[0, 1], [2]] output_shape [1, 1, 144] : tensor<1x144xf32> into tensor<1x1x144xf32>
  %s7 = arith.constant 8 : i32
  %e7 = tensor.empty() : tensor<144x12xf32>
  %r7 = linalg.fill_rng_2d ins(%low, %high, %s7 : f64, f64, i32) outs(%e7 : tensor<144x12xf32>) -> tensor<144x12xf32>
  %w3 = tensor.expand_shape %r7 [[0, 1], [2]] output_shape [1, 144, 12] : tensor<144x12xf32> into tensor<1x144x12xf32>
  %s8 = arith.constant 9 : i32
  %e8 = tensor.empty() : tensor<1x12xf32>
  %r8 = linalg.fill_rng_2d ins(%low, %high, %s8 : f64, f64, i32) outs(%e8 : tensor<1x12xf32>) -> tensor<1x12xf32>
  %b3 = tensor.expand_shape %r8 [[0, 1], [2]] output_shape [1, 1, 12] : tensor<1x12xf32> into tensor<1x1x12xf32>
  %result = call @layer(%x, %w0, %b0, %w1, %b1, %w2, %b2, %w3, %b3)
      : (tensor<1x196x10xf32>, tensor<1x490x144xf32>, tensor<1x1x144xf32>, tensor<1x144x144xf32>,
         tensor<1x1x144xf32>, tensor<1x144x144xf32>, tensor<1x1x144xf32>, tensor<1x144x12xf32>, tensor<1x1x12xf32>) -> tensor<1x4x12xf32>
  %printed = tensor.cast %result : tensor<1x4x12xf32> to tensor<*xf32>
  call @printMemrefF32(%printed) : (tensor<*xf32>) -> ()
  return
}
func.func private @printMemrefF32(tensor<*xf32>) attributes {llvm.emit_c_interface}
