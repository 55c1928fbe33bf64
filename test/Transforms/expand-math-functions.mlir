// Checks that the other functions are all expanded without calls, and that vectors keep their length (powf of f32 uses
// f64).
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-math{target=avx512_core}))' | FileCheck %s --check-prefixes=ALL,FMA --implicit-check-not='math.{{exp|tanh|log|erf|powf}}' --implicit-check-not='call @'
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-math{target=avx2}))' | FileCheck %s --check-prefixes=ALL,FMA --implicit-check-not='math.{{exp|tanh|log|erf|powf}}' --implicit-check-not=call --implicit-check-not=x86
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-math{target=sse42}))' | FileCheck %s --check-prefixes=ALL,SSE --implicit-check-not='math.{{exp|tanh|log|erf|powf|fma}}' --implicit-check-not=call --implicit-check-not=x86
// RUN: quern-opt %s --codegen --target=avx512_core | FileCheck %s --check-prefix=ASM --implicit-check-not=call --implicit-check-not=@PLT
// RUN: quern-opt %s --codegen --target=sse42 | FileCheck %s --check-prefix=ASM --implicit-check-not=call --implicit-check-not=@PLT

// ASM: functions_kernel:
// ASM: retq
// ALL-LABEL: func.func @functions_kernel(
// tanh is odd; its magnitude is computed from exp(-2|x|) - 1.
// ALL: math.copysign
// erfc squares its argument exactly: by an fma, or in f64.
// FMA: math.fma
// SSE: arith.extf {{.*}} : vector<8xf32> to vector<8xf64>
// powf of f32 is computed in f64 and rounded once.
// ALL: arith.extf {{.*}} : vector<8xf32> to vector<8xf64>
// ALL: arith.truncf {{.*}} : vector<8xf64> to vector<8xf32>
// ALL: return
func.func @functions_kernel(%src: memref<64xf32> {quern.arg = "src"}, %dst: memref<64xf32> {quern.arg = "dst"}, %begin: index, %end: index)
    attributes {quern.kernel = #quern.kernel<space = 1>} {
  %zero = arith.constant 0 : index
  %exponent = arith.constant dense<1.7> : vector<8xf32>
  %x = vector.load %src[%zero] : memref<64xf32>, vector<8xf32>
  %a = math.tanh %x : vector<8xf32>
  %b = math.expm1 %a : vector<8xf32>
  %c = math.log1p %b : vector<8xf32>
  %d = math.erf %c : vector<8xf32>
  %e = math.erfc %d : vector<8xf32>
  %f = math.exp2 %e : vector<8xf32>
  %g = math.log2 %f : vector<8xf32>
  %h = math.fma %g, %g, %x : vector<8xf32>
  %i = math.roundeven %h : vector<8xf32>
  %y = math.powf %i, %exponent : vector<8xf32>
  vector.store %y, %dst[%zero] : memref<64xf32>, vector<8xf32>
  return
}
