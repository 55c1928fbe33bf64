// Like NEON's, but with -|x| by one OR, which needs a copy, and with Horner's scheme of softmax-exp. V1 divides eight
// elements in fourteen cycles.
// reads: 2 vectors
	ldr z0, [x0]
	ldr z1, [x0, #1, mul vl]
	mov z2.d, z0.d
	mov z3.d, z1.d
	orr z2.s, z2.s, #0x80000000
	orr z3.s, z3.s, #0x80000000
	fmax z2.s, p0/m, z2.s, z16.s
	fmax z3.s, p0/m, z3.s, z16.s
	movprfx z4, z18
	fmla z4.s, p0/m, z2.s, z17.s
	movprfx z5, z18
	fmla z5.s, p0/m, z3.s, z17.s
	fsub z6.s, z4.s, z18.s
	fsub z7.s, z5.s, z18.s
	fmla z2.s, p0/m, z6.s, z19.s
	fmla z3.s, p0/m, z7.s, z19.s
	fmla z2.s, p0/m, z6.s, z20.s
	fmla z3.s, p0/m, z7.s, z20.s
	mov z6.d, z21.d
	mov z7.d, z21.d
	fmad z6.s, p0/m, z2.s, z22.s
	fmad z7.s, p0/m, z3.s, z22.s
	fmad z6.s, p0/m, z2.s, z23.s
	fmad z7.s, p0/m, z3.s, z23.s
	fmad z6.s, p0/m, z2.s, z24.s
	fmad z7.s, p0/m, z3.s, z24.s
	fmad z6.s, p0/m, z2.s, z25.s
	fmad z7.s, p0/m, z3.s, z25.s
	fmad z6.s, p0/m, z2.s, z26.s
	fmad z7.s, p0/m, z3.s, z26.s
	fmad z2.s, p0/m, z6.s, z26.s
	fmad z3.s, p0/m, z7.s, z26.s
	lsl z4.s, z4.s, #23
	lsl z5.s, z5.s, #23
	fmul z2.s, z2.s, z4.s
	fmul z3.s, z3.s, z5.s
	fmul z2.s, z2.s, z27.s
	fmul z3.s, z3.s, z27.s
	fcmlt p1.s, p0/z, z0.s, #0.0
	fcmlt p2.s, p0/z, z1.s, #0.0
	sel z6.s, p1, z2.s, z26.s
	sel z7.s, p2, z3.s, z26.s
	fadd z2.s, z2.s, z26.s
	fadd z3.s, z3.s, z26.s
	fdivr z2.s, p0/m, z2.s, z6.s
	fdivr z3.s, p0/m, z3.s, z7.s
	str z2, [x2]
	str z3, [x2, #1, mul vl]
	addvl x0, x0, #2
	addvl x2, x2, #2
	cmp x0, x1
	b.ne .-180
