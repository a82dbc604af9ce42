/**
 * Lower case of a capital letter, if that is reversible. The Kelvin sign and the dotted I are not, and would become the letters of others.
 */
const smallOf = (capital: string): string => {
  const small = capital.toLowerCase()
  return small.toUpperCase() === capital ? small : capital
}

/** Text in lower case, so that texts that differ in case alone become equal, and no others do. */
export function oneCase(text: string): string {
  return text.replaceAll(/\p{Lu}/gu, smallOf)
}
