// usmmla, 64 flops in 128 bits, with enough sums to hide its latency.
// multiplies: 1536 flops in 128 bits
	usmmla v0.4s, v30.16b, v31.16b
	usmmla v1.4s, v30.16b, v31.16b
	usmmla v2.4s, v30.16b, v31.16b
	usmmla v4.4s, v30.16b, v31.16b
	usmmla v5.4s, v30.16b, v31.16b
	usmmla v6.4s, v30.16b, v31.16b
	usmmla v7.4s, v30.16b, v31.16b
	usmmla v8.4s, v30.16b, v31.16b
	usmmla v9.4s, v30.16b, v31.16b
	usmmla v10.4s, v30.16b, v31.16b
	usmmla v11.4s, v30.16b, v31.16b
	usmmla v12.4s, v30.16b, v31.16b
	usmmla v13.4s, v30.16b, v31.16b
	usmmla v14.4s, v30.16b, v31.16b
	usmmla v15.4s, v30.16b, v31.16b
	usmmla v16.4s, v30.16b, v31.16b
	usmmla v17.4s, v30.16b, v31.16b
	usmmla v18.4s, v30.16b, v31.16b
	usmmla v19.4s, v30.16b, v31.16b
	usmmla v20.4s, v30.16b, v31.16b
	usmmla v21.4s, v30.16b, v31.16b
	usmmla v22.4s, v30.16b, v31.16b
	usmmla v23.4s, v30.16b, v31.16b
	usmmla v24.4s, v30.16b, v31.16b
