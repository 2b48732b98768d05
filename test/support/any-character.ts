import * as fc from 'fast-check'

const [FIRST_SURROGATE, SURROGATES, LAST] = [0xd800, 0x800, 0x10ffff]

/** Any character: `unit: 'binary'` of fast-check, which makes a table of all of them for each string type, in half a second. */
export const anyCharacter = fc
  .nat(LAST - SURROGATES)
  .map((number) => String.fromCodePoint(number < FIRST_SURROGATE ? number : number + SURROGATES))
