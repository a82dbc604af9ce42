const FIELDS = /^[A-Za-z]\w*(\.\w+)*(,[A-Za-z]\w*(\.\w+)*)*$/

/**
 * Arguments with the value of `--json` bound to it: field names if it follows the command, as in `pods list --json id,status`, and no value
 * before the command, where the next word is a noun. Words after `--` stay unchanged.
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
  // `--json` goes last, where its optional value cannot be the noun that follows.
  return [...words.filter((word) => word !== '--json'), ...(words.includes('--json') ? ['--json'] : []), ...passed]
}

function takesValue(word: string | undefined): boolean {
  return word === '--context' || word === '--url' || word === '--timeout' || word === '--print'
}
