// Pairs of loads and of stores; the stores are the bound.
// reads: 8 vectors
	ldp q0, q1, [x0, #0]
	ldp q2, q3, [x0, #32]
	ldp q4, q5, [x0, #64]
	ldp q6, q7, [x0, #96]
	stp q0, q1, [x2, #0]
	stp q2, q3, [x2, #32]
	stp q4, q5, [x2, #64]
	stp q6, q7, [x2, #96]
	add x0, x0, #128
	add x2, x2, #128
	cmp x0, x1
	b.ne .-44
