/** Exit codes of the command line (CMD-2): one table for the code, for `help exit-codes` and for the tests. */
export const EXIT_CODES = [
  { code: 0, name: 'OK', meaning: 'done' },
  {
    code: 1,
    name: 'BAD_OUTCOME',
    meaning: 'the command ran and the outcome is bad: a job FAILED, a pod is in ERROR, a check of doctor failed',
  },
  { code: 2, name: 'USAGE', meaning: 'the command line, or a file that it names, is invalid' },
  { code: 3, name: 'NOT_ALLOWED', meaning: 'not signed in, or not allowed' },
  { code: 4, name: 'NOT_FOUND', meaning: 'the resource does not exist' },
  { code: 5, name: 'REFUSED', meaning: 'the plane refused the request: input (400, 422), state (409) or precondition (412)' },
  { code: 6, name: 'NO_CAPACITY', meaning: 'no capacity, a quota, a budget or a rate limit' },
  { code: 7, name: 'TIMED_OUT', meaning: '--wait or --timeout ran out' },
  { code: 8, name: 'UNREACHABLE', meaning: 'the plane cannot be reached or cannot answer now; a retry may succeed' },
  { code: 130, name: 'INTERRUPTED', meaning: 'interrupted by Ctrl-C' },
] as const

type Entry = (typeof EXIT_CODES)[number]

/** Exit codes by name. */
export const EXIT = Object.fromEntries(EXIT_CODES.map(({ name, code }) => [name, code])) as {
  [Name in Entry['name']]: Extract<Entry, { name: Name }>['code']
}

/** Text of `podplane help exit-codes`. */
export function exitCodesHelp(): string {
  const lines = EXIT_CODES.map(({ code, meaning }) => `${String(code).padStart(5)}  ${meaning}`)
  const notes = ['', 'exec and ssh exit with the exit code of the command in the pod.']
  return `Exit codes\n\n${lines.join('\n')}\n${notes.join('\n')}\n`
}
