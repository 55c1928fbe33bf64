// usmmla, 64 flops in 128 bits, with enough sums to hide its latency.
// multiplies: 1536 flops in 128 bits
	usmmla z0.s, z30.b, z31.b
	usmmla z1.s, z30.b, z31.b
	usmmla z2.s, z30.b, z31.b
	usmmla z4.s, z30.b, z31.b
	usmmla z5.s, z30.b, z31.b
	usmmla z6.s, z30.b, z31.b
	usmmla z7.s, z30.b, z31.b
	usmmla z8.s, z30.b, z31.b
	usmmla z9.s, z30.b, z31.b
	usmmla z10.s, z30.b, z31.b
	usmmla z11.s, z30.b, z31.b
	usmmla z12.s, z30.b, z31.b
	usmmla z13.s, z30.b, z31.b
	usmmla z14.s, z30.b, z31.b
	usmmla z15.s, z30.b, z31.b
	usmmla z16.s, z30.b, z31.b
	usmmla z17.s, z30.b, z31.b
	usmmla z18.s, z30.b, z31.b
	usmmla z19.s, z30.b, z31.b
	usmmla z20.s, z30.b, z31.b
	usmmla z21.s, z30.b, z31.b
	usmmla z22.s, z30.b, z31.b
	usmmla z23.s, z30.b, z31.b
	usmmla z24.s, z30.b, z31.b
