/** A capital that is the capital of its small letter: the Kelvin sign and a dotted I are none, and would become letters of others. */
const smallOf = (capital: string): string => {
  const small = capital.toLowerCase()
  return small.toUpperCase() === capital ? small : capital
}

/** A text in one case, so that upper and lower case are one and no other letters are. */
export function oneCase(text: string): string {
  return text.replaceAll(/\p{Lu}/gu, smallOf)
}
