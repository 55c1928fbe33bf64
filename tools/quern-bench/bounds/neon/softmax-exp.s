// exp(x - max), its sum, and its store. Twenty operations per vector: the difference; the clamp; four and a copy for
// n = round(x / log 2) and r = x - n log 2; nine for 1 + (r + r^2 q(r)), where each fmla that adds to a constant needs
// a copy of it; three to scale by 2^n (two products, because results may be denormal); the sum. N1 starts two per
// cycle, V1 and V2 four.
// reads: 2 vectors
	ldp q0, q1, [x0]
	fsub v0.4s, v0.4s, v31.4s
	fsub v1.4s, v1.4s, v31.4s
	fmax v0.4s, v0.4s, v16.4s
	fmax v1.4s, v1.4s, v16.4s
	mov v2.16b, v18.16b
	mov v3.16b, v18.16b
	fmla v2.4s, v0.4s, v17.4s
	fmla v3.4s, v1.4s, v17.4s
	fsub v4.4s, v2.4s, v18.4s
	fsub v5.4s, v3.4s, v18.4s
	fmla v0.4s, v4.4s, v19.4s
	fmla v1.4s, v5.4s, v19.4s
	fmla v0.4s, v4.4s, v20.4s
	fmla v1.4s, v5.4s, v20.4s
	fmul v4.4s, v0.4s, v0.4s
	fmul v5.4s, v1.4s, v1.4s
	mov v6.16b, v22.16b
	mov v7.16b, v22.16b
	fmla v6.4s, v0.4s, v21.4s
	fmla v7.4s, v1.4s, v21.4s
	fmla v6.4s, v4.4s, v25.4s
	fmla v7.4s, v5.4s, v25.4s
	mov v8.16b, v24.16b
	mov v9.16b, v24.16b
	fmla v8.4s, v0.4s, v23.4s
	fmla v9.4s, v1.4s, v23.4s
	fmla v8.4s, v4.4s, v6.4s
	fmla v9.4s, v5.4s, v7.4s
	fmla v0.4s, v4.4s, v8.4s
	fmla v1.4s, v5.4s, v9.4s
	fadd v0.4s, v0.4s, v26.4s
	fadd v1.4s, v1.4s, v26.4s
	shl v2.4s, v2.4s, #23
	shl v3.4s, v3.4s, #23
	fmul v0.4s, v0.4s, v2.4s
	fmul v1.4s, v1.4s, v3.4s
	fmul v0.4s, v0.4s, v27.4s
	fmul v1.4s, v1.4s, v27.4s
	fadd v28.4s, v28.4s, v0.4s
	fadd v29.4s, v29.4s, v1.4s
	stp q0, q1, [x2]
	add x0, x0, #32
	add x2, x2, #32
	cmp x0, x1
	b.ne .-180
