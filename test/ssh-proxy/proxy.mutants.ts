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
  {
    id: 'the SSH proxy accepts the forwarding of agents',
    file: 'src/ssh-proxy/session.ts',
    find: "  session.on('close', () => leave(visitor))",
    replace: "  session.on('auth-agent', (accept) => accept?.())\n  session.on('close', () => leave(visitor))",
  },
]
