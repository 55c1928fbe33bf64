// Like NEON's, but fmad adds to a constant without a copy, so Horner's scheme takes seven operations: eighteen per
// vector.
// reads: 2 vectors
	ldr z0, [x0]
	ldr z1, [x0, #1, mul vl]
	fsub z0.s, z0.s, z31.s
	fsub z1.s, z1.s, z31.s
	fmax z0.s, p0/m, z0.s, z16.s
	fmax z1.s, p0/m, z1.s, z16.s
	movprfx z2, z18
	fmla z2.s, p0/m, z0.s, z17.s
	movprfx z3, z18
	fmla z3.s, p0/m, z1.s, z17.s
	fsub z4.s, z2.s, z18.s
	fsub z5.s, z3.s, z18.s
	fmla z0.s, p0/m, z4.s, z19.s
	fmla z1.s, p0/m, z5.s, z19.s
	fmla z0.s, p0/m, z4.s, z20.s
	fmla z1.s, p0/m, z5.s, z20.s
	mov z4.d, z21.d
	mov z5.d, z21.d
	fmad z4.s, p0/m, z0.s, z22.s
	fmad z5.s, p0/m, z1.s, z22.s
	fmad z4.s, p0/m, z0.s, z23.s
	fmad z5.s, p0/m, z1.s, z23.s
	fmad z4.s, p0/m, z0.s, z24.s
	fmad z5.s, p0/m, z1.s, z24.s
	fmad z4.s, p0/m, z0.s, z25.s
	fmad z5.s, p0/m, z1.s, z25.s
	fmad z4.s, p0/m, z0.s, z26.s
	fmad z5.s, p0/m, z1.s, z26.s
	fmad z0.s, p0/m, z4.s, z26.s
	fmad z1.s, p0/m, z5.s, z26.s
	lsl z2.s, z2.s, #23
	lsl z3.s, z3.s, #23
	fmul z0.s, z0.s, z2.s
	fmul z1.s, z1.s, z3.s
	fmul z0.s, z0.s, z27.s
	fmul z1.s, z1.s, z27.s
	fadd z28.s, z28.s, z0.s
	fadd z29.s, z29.s, z1.s
	str z0, [x2]
	str z1, [x2, #1, mul vl]
	addvl x0, x0, #2
	addvl x2, x2, #2
	cmp x0, x1
	b.ne .-180
