/** Characters that other systems confuse: similar glyphs, tables of upper and lower case, normal forms, and invisible characters. */
const ALIKE: readonly [what: string, of: string | RegExp, is: string][] = [
  ['a Cyrillic a', 'a', '\u0430'],
  ['a Cyrillic o', 'o', '\u043e'],
  ['a Cyrillic s', 's', '\u0455'],
  ['a Greek o', 'o', '\u03bf'],
  ['the Kelvin sign', 'k', '\u212a'],
  ['a long s', 's', '\u017f'],
  ['a dotted I', 'i', '\u0130'],
  ['a dotless i', 'i', '\u0131'],
  ['a full-width letter', 's', '\uff53'],
  ['a full-width capital', 's', '\uff33'],
  ['a letter in a circle', 's', '\u24e2'],
  ['a mathematical letter', 's', '\u{1d42c}'],
  ['an accent of its own', 's', 's\u0301'],
  ['a full-width @', '@', '\uff20'],
  ['a small @', '@', '\ufe6b'],
  ['a full-width dot', '.com', '\uff0ecom'],
  ['an ideographic dot', '.com', '\u3002com'],
  ['a Cyrillic o in its domain', '.com', '.c\u043em'],
  ['a soft hyphen', '@', '\u00ad@'],
  ['a joiner', '@', '\u200d@'],
  ['a byte-order mark', /^/, '\ufeff'],
  ['a change of direction', '@', '\u202e@'],
  ['a NUL', /$/, '\0'],
  ['a space', /$/, ' '],
  ['a no-break space', /^/, '\u00a0'],
  ['a dot at its end', /$/, '.'],
  ['a second @', /$/, '@evil.test'],
  ['a list', /$/, ',x@evil.test'],
  ['a part behind a plus', '@', '+x@'],
  ['quotes', /^[^@]+/, '"$&"'],
]

/** Addresses that differ from this one and may be confused with it, for those of its letters that have look-alikes. */
export const lookAlikesOf = (address: string): [what: string, address: string][] =>
  ALIKE.map(([what, of, is]): [string, string] => [what, address.replace(of, is)]).filter(([, other]) => other !== address)
