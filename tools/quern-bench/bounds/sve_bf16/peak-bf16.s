// bfmmla, 32 flops in 128 bits, with enough sums to hide its latency.
// multiplies: 768 flops in 128 bits
	bfmmla z0.s, z30.h, z31.h
	bfmmla z1.s, z30.h, z31.h
	bfmmla z2.s, z30.h, z31.h
	bfmmla z4.s, z30.h, z31.h
	bfmmla z5.s, z30.h, z31.h
	bfmmla z6.s, z30.h, z31.h
	bfmmla z7.s, z30.h, z31.h
	bfmmla z8.s, z30.h, z31.h
	bfmmla z9.s, z30.h, z31.h
	bfmmla z10.s, z30.h, z31.h
	bfmmla z11.s, z30.h, z31.h
	bfmmla z12.s, z30.h, z31.h
	bfmmla z13.s, z30.h, z31.h
	bfmmla z14.s, z30.h, z31.h
	bfmmla z15.s, z30.h, z31.h
	bfmmla z16.s, z30.h, z31.h
	bfmmla z17.s, z30.h, z31.h
	bfmmla z18.s, z30.h, z31.h
	bfmmla z19.s, z30.h, z31.h
	bfmmla z20.s, z30.h, z31.h
	bfmmla z21.s, z30.h, z31.h
	bfmmla z22.s, z30.h, z31.h
	bfmmla z23.s, z30.h, z31.h
	bfmmla z24.s, z30.h, z31.h
