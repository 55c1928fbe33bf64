// Two loads, an addition and a store per vector.
// reads: 16 vectors
	ldp q0, q1, [x0, #0]
	ldp q2, q3, [x0, #32]
	ldp q4, q5, [x0, #64]
	ldp q6, q7, [x0, #96]
	ldp q16, q17, [x3, #0]
	ldp q18, q19, [x3, #32]
	ldp q20, q21, [x3, #64]
	ldp q22, q23, [x3, #96]
	fadd v0.4s, v0.4s, v16.4s
	fadd v1.4s, v1.4s, v17.4s
	fadd v2.4s, v2.4s, v18.4s
	fadd v3.4s, v3.4s, v19.4s
	fadd v4.4s, v4.4s, v20.4s
	fadd v5.4s, v5.4s, v21.4s
	fadd v6.4s, v6.4s, v22.4s
	fadd v7.4s, v7.4s, v23.4s
	stp q0, q1, [x2, #0]
	stp q2, q3, [x2, #32]
	stp q4, q5, [x2, #64]
	stp q6, q7, [x2, #96]
	add x0, x0, #128
	add x3, x3, #128
	add x2, x2, #128
	cmp x0, x1
	b.ne .-96
