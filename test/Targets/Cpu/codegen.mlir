// Checks the assembly of one kernel for each instruction set: its registers, its instructions, no call and no external
// symbol.
// RUN: quern-opt %s --codegen --target=avx512_core | FileCheck %s --check-prefix=AVX512 --implicit-check-not=call --implicit-check-not=@PLT --implicit-check-not=@GOT
// RUN: quern-opt %s --codegen --target=avx2 | FileCheck %s --check-prefix=AVX2 --implicit-check-not=call --implicit-check-not=@PLT --implicit-check-not=@GOT --implicit-check-not=zmm
// RUN: quern-opt %s --codegen --target=sse42 | FileCheck %s --check-prefix=SSE --implicit-check-not=call --implicit-check-not=@PLT --implicit-check-not=@GOT --implicit-check-not=ymm --implicit-check-not=vmov

// The tail is one masked move; exp ends with scalef; vectors have 512 bits although the generic tuning prefers 256.
// AVX512: exp_kernel:
// AVX512: vpermi2ps
// AVX512: vscalefps {{.*}}zmm
// AVX512: vmovups {{.*}}zmm{{.*}}{%k
// AVX512: retq
// AVX2: exp_kernel:
// AVX2: vfmadd{{.*}}ymm
// AVX2: vpslld {{.*}}ymm
// AVX2: vmaskmovps
// AVX2: retq
// Without masked moves, lanes of the tail are moved one by one. FMA would be a library call, so products and sums are
// rounded separately.
// SSE: exp_kernel:
// SSE: mulps
// SSE: pslld
// SSE: retq
func.func @exp_kernel(%src: memref<64xf32> {quern.arg = "src"}, %dst: memref<64xf32> {quern.arg = "dst"}, %begin: index, %end: index)
    attributes {quern.kernel = #quern.kernel<space = 1>} {
  %one = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %mask = arith.constant dense<[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0]> : vector<16xi1>
  scf.for %i = %begin to %end step %one {
    %x = vector.maskedload %src[%i], %mask, %zero : memref<64xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
    %y = math.exp %x fastmath<afn> {quern.relax = #quern.relax<nonpositive>} : vector<16xf32>
    vector.maskedstore %dst[%i], %mask, %y : memref<64xf32>, vector<16xi1>, vector<16xf32>
  }
  return
}
