// Checks the series of exp. NEON's fused multiply-add overwrites its addend, so adding to a constant takes a copy: the
// series uses pairs of coefficients, and 1 is added last. SVE can overwrite a factor instead: Horner's scheme.
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-math{target=neon}))' | FileCheck %s --check-prefix=NEON
// RUN: quern-opt %s --pass-pipeline='builtin.module(func.func(quern-expand-math{target=sve:vl=256}))' | FileCheck %s --check-prefix=SVE
// NEON: %[[SQUARE:.*]] = arith.mulf %[[R:.*]], %[[R]]
// NEON: %[[HIGH:.*]] = math.fma %[[R]], %{{cst.*}}, %{{cst.*}}
// NEON: %[[MORE:.*]] = math.fma %[[SQUARE]], %{{cst.*}}, %[[HIGH]]
// NEON: %[[LOW:.*]] = math.fma %[[R]], %{{cst.*}}, %{{cst.*}}
// NEON: %[[Q:.*]] = math.fma %[[SQUARE]], %[[MORE]], %[[LOW]]
// NEON: %[[LESS:.*]] = math.fma %[[SQUARE]], %[[Q]], %[[R]]
// NEON: arith.addf %[[LESS]], %cst
// SVE-NOT: arith.addf
// SVE-COUNT-9: math.fma
// SVE-NOT: math.fma
func.func @exp(%x: vector<4xf32>) -> vector<4xf32> {
  %y = math.exp %x fastmath<afn> {quern.relax = #quern.relax<nonpositive>} : vector<4xf32>
  return %y : vector<4xf32>
}
