const FIELDS = /^[A-Za-z]\w*(\.\w+)*(,[A-Za-z]\w*(\.\w+)*)*$/

/**
 * The words of a command line, with what `--json` takes bound to it: members behind the command, such as `pods list --json id,status`, and nothing
 * before it, where the next word is a noun. What stands behind `--` is left alone.
 */
export function normalizeArguments(argv: readonly string[]): string[] {
  const end = argv.indexOf('--')
  const [own, passed] = end < 0 ? [argv, []] : [argv.slice(0, end), argv.slice(end)]
  const words: string[] = []
  let hasCommand = false
  for (let index = 0; index < own.length; index += 1) {
    const word = own[index] ?? ''
    const next = own[index + 1]
    if (word !== '--json') {
      if (!word.startsWith('-') && !takesValue(own[index - 1])) hasCommand = true
      words.push(word)
    } else if (hasCommand && next !== undefined && FIELDS.test(next)) {
      words.push(`--json=${next}`)
      index += 1
    } else words.push('--json')
  }
  // An optional value would otherwise take the noun behind it.
  return [...words.filter((word) => word !== '--json'), ...(words.includes('--json') ? ['--json'] : []), ...passed]
}

function takesValue(word: string | undefined): boolean {
  return word === '--context' || word === '--url' || word === '--timeout' || word === '--print'
}
