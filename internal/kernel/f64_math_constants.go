package kernel

import "math"

// trigMax bounds the arguments whose sine and cosine vectors compute.
const trigMax = 0x1p30

// Numbers of the vector functions, each eight times over, so that they load as
// vectors (and fold into the instruction that uses them).
const (
	cOne = iota
	cTwo
	cHalf
	cInf
	cNaN
	cSign
	cInt1
	cInt2
	cMagic // 1.5·2^52: adding it rounds to an integer, which the low bits then hold
	cBias
	cTwo52
	cTwo54

	cExpMax // e^x is infinite above, 0 below cExpMin
	cExpMin
	cLog2E
	cNegLn2
	cNegLn2Rest
	cExp3
	cExp4
	cExp5
	cExp6
	cExp7
	cExp8
	cExp9
	cExp10
	cExp11
	cExp12

	cSmallestNormal
	cSplit // bits of 1 less bits of √½
	cMantissa
	cRootHalf
	cExponent // takes the bias, and the 2^52 put under it, off an exponent
	cExponentTiny
	cLn2High // 33 bits: times an exponent it is exact
	cLn2Low
	cLog1
	cLog2
	cLog3
	cLog4
	cLog5
	cLog6
	cLog7
	cThird
	cThirdRest
	cAtanh5
	cAtanh7
	cAtanh9
	cAtanh11
	cAtanh13
	cAtanh15
	cAtanh17
	cAtanh19

	cTrigMax
	cTrigMin
	cTwoOverPi
	cNegHalfPi1
	cNegHalfPi2
	cNegHalfPi3
	cSin1
	cSin2
	cSin3
	cSin4
	cSin5
	cSin6
	cCos1
	cCos2
	cCos3
	cCos4
	cCos5
	cCos6

	cTanhSwitch
	cTanhP0
	cTanhP1
	cTanhP2
	cTanhQ0
	cTanhQ1
	cTanhQ2

	cGeluLow
	cGeluHigh
	cGeluLinear
	cGeluSlope
	cGeluLinear2
	cGeluCubic2
	cGelu1
	cGelu2
	cGelu3
	cGelu4
	cGelu5
	cGelu6
	cGelu7
	cGelu8
	cGelu9
	cGelu10
	cGelu11
	constantCount
)

var mathConstants = func() (table [constantCount][8]float64) {
	bits := math.Float64frombits
	for i, v := range [constantCount]float64{
		cOne: 1, cTwo: 2, cHalf: 0.5, cInf: math.Inf(1), cNaN: math.NaN(),
		cSign: bits(1 << 63), cInt1: bits(1), cInt2: bits(2),
		cMagic: 0x1.8p52, cBias: bits(1023), cTwo52: 0x1p52, cTwo54: 0x1p54,

		cExpMax: 710, cExpMin: -746, cLog2E: math.Log2E,
		cNegLn2: -math.Ln2, cNegLn2Rest: -0x1.abc9e3b39803fp-56, // log 2 = 0x1.62e42fefa39efp-1 + 0x1.abc9e3b39803fp-56
		cExp3: 0.1666666666666667, cExp4: 0.04166666666666667, cExp5: 0.008333333333326112,
		cExp6: 0.001388888888888373, cExp7: 0.0001984126987490126, cExp8: 2.4801587325605324e-05,
		cExp9: 2.7557255297969643e-06, cExp10: 2.755727357010214e-07, cExp11: 2.5105259538448494e-08,
		cExp12: 2.0914717341716378e-09,

		cSmallestNormal: 0x1p-1022, cSplit: bits(0x3ff0000000000000 - 0x3fe6a09e667f3bcd),
		cMantissa: bits(1<<52 - 1), cRootHalf: bits(0x3fe6a09e667f3bcd),
		cExponent: 0x1p52 + 1023, cExponentTiny: 0x1p52 + 1023 + 54,
		cLn2High: 6.93147180369123816490e-01, cLn2Low: 1.90821492927058770002e-10,
		cLog1: 6.666666666666735130e-01, cLog2: 3.999999999940941908e-01, cLog3: 2.857142874366239149e-01,
		cLog4: 2.222219843214978396e-01, cLog5: 1.818357216161805012e-01, cLog6: 1.531383769920937332e-01,
		cLog7:  1.479819860511658591e-01,
		cThird: 0.3333333333333333, cThirdRest: 1.850371707708594e-17,
		cAtanh5: 0.2, cAtanh7: 0.14285714285714685, cAtanh9: 0.11111111110826383, cAtanh11: 0.09090909168049924,
		cAtanh13: 0.0769229744350359, cAtanh15: 0.0666740439940617, cAtanh17: 0.05853063232281699,
		cAtanh19: 0.058621635304233734,

		cTrigMax: trigMax, cTrigMin: -trigMax, cTwoOverPi: 2 / math.Pi,
		cNegHalfPi1: -1.5707963267948966, cNegHalfPi2: -6.123233995736766e-17, cNegHalfPi3: 1.4973849048591698e-33,
		cSin1: -1.66666666666666324348e-01, cSin2: 8.33333333332248946124e-03, cSin3: -1.98412698298579493134e-04,
		cSin4: 2.75573137070700676789e-06, cSin5: -2.50507602534068634195e-08, cSin6: 1.58969099521155010221e-10,
		cCos1: 4.16666666666666019037e-02, cCos2: -1.38888888888741095749e-03, cCos3: 2.48015872894767294178e-05,
		cCos4: -2.75573143513906633035e-07, cCos5: 2.08757232129817482790e-09, cCos6: -1.13596475577881948265e-11,

		cTanhSwitch: 0.625,
		cTanhP0:     -9.64399179425052238628e-1, cTanhP1: -9.92877231001918586564e1, cTanhP2: -1.61468768441708447952e3,
		cTanhQ0: 1.12811678491631932401e2, cTanhQ1: 2.23548839060100448583e3, cTanhQ2: 4.84406305325125486048e3,

		cGeluLow: -18, cGeluHigh: 18, cGeluLinear: geluLinear, cGeluSlope: 3 * geluCubic,
		cGeluLinear2: -2.3022081981443248, cGeluCubic2: -0.1029432395800235,
		cGelu1: 0.6931471805599453, cGelu2: 0.24022650695910158, cGelu3: 0.055504108664821625, cGelu4: 0.009618129107587256,
		cGelu5: 0.001333355814640647, cGelu6: 0.00015403530463724353, cGelu7: 1.5252733841556773e-05, cGelu8: 1.3215432535912375e-06,
		cGelu9: 1.0178057087733941e-07, cGelu10: 7.074194297288521e-09, cGelu11: 4.4558179083360645e-10,
	} {
		for j := range table[i] {
			table[i][j] = v
		}
	}
	return table
}()
