// A load and a store per vector.
// reads: 8 vectors
	ldr z0, [x0, #0, mul vl]
	ldr z1, [x0, #1, mul vl]
	ldr z2, [x0, #2, mul vl]
	ldr z3, [x0, #3, mul vl]
	ldr z4, [x0, #4, mul vl]
	ldr z5, [x0, #5, mul vl]
	ldr z6, [x0, #6, mul vl]
	ldr z7, [x0, #7, mul vl]
	str z0, [x2, #0, mul vl]
	str z1, [x2, #1, mul vl]
	str z2, [x2, #2, mul vl]
	str z3, [x2, #3, mul vl]
	str z4, [x2, #4, mul vl]
	str z5, [x2, #5, mul vl]
	str z6, [x2, #6, mul vl]
	str z7, [x2, #7, mul vl]
	addvl x0, x0, #8
	addvl x2, x2, #8
	cmp x0, x1
	b.ne .-80
