// Two loads, an addition and a store per vector.
// reads: 16 vectors
	ldr z0, [x0, #0, mul vl]
	ldr z1, [x0, #1, mul vl]
	ldr z2, [x0, #2, mul vl]
	ldr z3, [x0, #3, mul vl]
	ldr z4, [x0, #4, mul vl]
	ldr z5, [x0, #5, mul vl]
	ldr z6, [x0, #6, mul vl]
	ldr z7, [x0, #7, mul vl]
	ldr z16, [x3, #0, mul vl]
	ldr z17, [x3, #1, mul vl]
	ldr z18, [x3, #2, mul vl]
	ldr z19, [x3, #3, mul vl]
	ldr z20, [x3, #4, mul vl]
	ldr z21, [x3, #5, mul vl]
	ldr z22, [x3, #6, mul vl]
	ldr z23, [x3, #7, mul vl]
	fadd z0.s, z0.s, z16.s
	fadd z1.s, z1.s, z17.s
	fadd z2.s, z2.s, z18.s
	fadd z3.s, z3.s, z19.s
	fadd z4.s, z4.s, z20.s
	fadd z5.s, z5.s, z21.s
	fadd z6.s, z6.s, z22.s
	fadd z7.s, z7.s, z23.s
	str z0, [x2, #0, mul vl]
	str z1, [x2, #1, mul vl]
	str z2, [x2, #2, mul vl]
	str z3, [x2, #3, mul vl]
	str z4, [x2, #4, mul vl]
	str z5, [x2, #5, mul vl]
	str z6, [x2, #6, mul vl]
	str z7, [x2, #7, mul vl]
	addvl x3, x3, #8
	addvl x0, x0, #8
	addvl x2, x2, #8
	cmp x0, x1
	b.ne .-80
