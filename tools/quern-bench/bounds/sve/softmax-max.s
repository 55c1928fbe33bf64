// One operation and one load per vector.
// reads: 8 vectors
	ldr z0, [x0, #0, mul vl]
	ldr z1, [x0, #1, mul vl]
	ldr z2, [x0, #2, mul vl]
	ldr z3, [x0, #3, mul vl]
	ldr z4, [x0, #4, mul vl]
	ldr z5, [x0, #5, mul vl]
	ldr z6, [x0, #6, mul vl]
	ldr z7, [x0, #7, mul vl]
	fmaxnm z16.s, p0/m, z16.s, z0.s
	fmaxnm z17.s, p0/m, z17.s, z1.s
	fmaxnm z18.s, p0/m, z18.s, z2.s
	fmaxnm z19.s, p0/m, z19.s, z3.s
	fmaxnm z20.s, p0/m, z20.s, z4.s
	fmaxnm z21.s, p0/m, z21.s, z5.s
	fmaxnm z22.s, p0/m, z22.s, z6.s
	fmaxnm z23.s, p0/m, z23.s, z7.s
	addvl x0, x0, #8
	cmp x0, x1
	b.ne .-72
