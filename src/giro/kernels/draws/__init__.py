"""Every distribution giro draws from, made of the uniform numbers of a generator alone.

NumPy keeps the uniform numbers of a seed the same from version to version and machine to machine,
but not the draws that its distributions make of them. So giro calls no method of a generator other
than `random()`. Each uniform number is a multiple of 2^-53.

The promise: the same uniform numbers give the same draws, with every version of NumPy and numba,
compiled or not. All but some gamma and beta draws are made of sums, products, quotients and square
roots, which IEEE 754 fixes to the last bit, and of tables computed in whole numbers. A machine
whose exp or log differs in its last bit may

- decide differently if a uniform number falls within that bit of a bound, about once in 10^15 of
  the few draws that need exp or log at all;
- give gamma draws of shape below 1, and beta draws with such a shape, that differ in their last
  bits.
"""
