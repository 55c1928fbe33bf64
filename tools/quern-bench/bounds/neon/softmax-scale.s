// A product per vector; a pair of loads and a pair of stores for two. Two vectors are stored in two cycles on N1, and
// in one cycle on V1 and V2.
// reads: 8 vectors
	ldp q0, q1, [x0, #0]
	ldp q2, q3, [x0, #32]
	ldp q4, q5, [x0, #64]
	ldp q6, q7, [x0, #96]
	fmul v0.4s, v0.4s, v31.4s
	fmul v1.4s, v1.4s, v31.4s
	fmul v2.4s, v2.4s, v31.4s
	fmul v3.4s, v3.4s, v31.4s
	fmul v4.4s, v4.4s, v31.4s
	fmul v5.4s, v5.4s, v31.4s
	fmul v6.4s, v6.4s, v31.4s
	fmul v7.4s, v7.4s, v31.4s
	stp q0, q1, [x0, #0]
	stp q2, q3, [x0, #32]
	stp q4, q5, [x0, #64]
	stp q6, q7, [x0, #96]
	add x0, x0, #128
	cmp x0, x1
	b.ne .-72
