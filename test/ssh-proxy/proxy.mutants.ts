import type { Mutant } from '../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'any port of any host is forwarded',
    file: 'src/ssh-proxy/session.ts',
    find: '!isPod(destIP, visitor.login.user) || ',
    replace: '',
  },
  {
    id: 'an offered SSH key counts as proven',
    file: 'src/ssh-proxy/login.ts',
    find: 'const isProven = login !== null && context.signature !== undefined && isSigned(context, login.key)',
    replace: 'const isProven = login !== null',
  },
]
