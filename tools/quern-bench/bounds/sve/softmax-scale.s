// A load, a product and a store per vector.
// reads: 8 vectors
	ldr z0, [x0, #0, mul vl]
	ldr z1, [x0, #1, mul vl]
	ldr z2, [x0, #2, mul vl]
	ldr z3, [x0, #3, mul vl]
	ldr z4, [x0, #4, mul vl]
	ldr z5, [x0, #5, mul vl]
	ldr z6, [x0, #6, mul vl]
	ldr z7, [x0, #7, mul vl]
	fmul z0.s, z0.s, z31.s
	fmul z1.s, z1.s, z31.s
	fmul z2.s, z2.s, z31.s
	fmul z3.s, z3.s, z31.s
	fmul z4.s, z4.s, z31.s
	fmul z5.s, z5.s, z31.s
	fmul z6.s, z6.s, z31.s
	fmul z7.s, z7.s, z31.s
	str z0, [x0, #0, mul vl]
	str z1, [x0, #1, mul vl]
	str z2, [x0, #2, mul vl]
	str z3, [x0, #3, mul vl]
	str z4, [x0, #4, mul vl]
	str z5, [x0, #5, mul vl]
	str z6, [x0, #6, mul vl]
	str z7, [x0, #7, mul vl]
	addvl x0, x0, #8
	cmp x0, x1
	b.ne .-100
