// With e = exp(-|x|): (x < 0 ? e : 1) / (1 + e). Two operations before those of exp (see softmax-exp) replace its
// difference and sum; three operations and a division follow. N1 divides four elements in seven cycles.
// reads: 2 vectors
	ldp q0, q1, [x0]
	fabs v2.4s, v0.4s
	fabs v3.4s, v1.4s
	fneg v2.4s, v2.4s
	fneg v3.4s, v3.4s
	fmax v2.4s, v2.4s, v16.4s
	fmax v3.4s, v3.4s, v16.4s
	mov v4.16b, v18.16b
	mov v5.16b, v18.16b
	fmla v4.4s, v2.4s, v17.4s
	fmla v5.4s, v3.4s, v17.4s
	fsub v6.4s, v4.4s, v18.4s
	fsub v7.4s, v5.4s, v18.4s
	fmla v2.4s, v6.4s, v19.4s
	fmla v3.4s, v7.4s, v19.4s
	fmla v2.4s, v6.4s, v20.4s
	fmla v3.4s, v7.4s, v20.4s
	fmul v6.4s, v2.4s, v2.4s
	fmul v7.4s, v3.4s, v3.4s
	mov v8.16b, v22.16b
	mov v9.16b, v22.16b
	fmla v8.4s, v2.4s, v21.4s
	fmla v9.4s, v3.4s, v21.4s
	fmla v8.4s, v6.4s, v25.4s
	fmla v9.4s, v7.4s, v25.4s
	mov v10.16b, v24.16b
	mov v11.16b, v24.16b
	fmla v10.4s, v2.4s, v23.4s
	fmla v11.4s, v3.4s, v23.4s
	fmla v10.4s, v6.4s, v8.4s
	fmla v11.4s, v7.4s, v9.4s
	fmla v2.4s, v6.4s, v10.4s
	fmla v3.4s, v7.4s, v11.4s
	fadd v2.4s, v2.4s, v26.4s
	fadd v3.4s, v3.4s, v26.4s
	shl v4.4s, v4.4s, #23
	shl v5.4s, v5.4s, #23
	fmul v2.4s, v2.4s, v4.4s
	fmul v3.4s, v3.4s, v5.4s
	fmul v2.4s, v2.4s, v27.4s
	fmul v3.4s, v3.4s, v27.4s
	fcmlt v8.4s, v0.4s, #0.0
	fcmlt v9.4s, v1.4s, #0.0
	bsl v8.16b, v2.16b, v26.16b
	bsl v9.16b, v3.16b, v26.16b
	fadd v2.4s, v2.4s, v26.4s
	fadd v3.4s, v3.4s, v26.4s
	fdiv v0.4s, v8.4s, v2.4s
	fdiv v1.4s, v9.4s, v3.4s
	stp q0, q1, [x2]
	add x0, x0, #32
	add x2, x2, #32
	cmp x0, x1
	b.ne .-200
