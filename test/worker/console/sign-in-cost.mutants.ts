import type { Mutant } from '../../support/mutant.ts'

export const MUTANTS: readonly Mutant[] = [
  {
    id: 'S10: signing in by key costs nothing',
    file: 'src/services/sessions/console-sessions.ts',
    find: 'const charge = await chargeRequest(env, { userId, teamId }, nowMs)',
    replace: "const charge = { counted: countedBy('operatorKey'), rateLimit: null }",
  },
  {
    id: 'S13: a sign-in link is used up before its user agrees',
    file: 'src/services/sessions/sign-in-links.ts',
    find: 'const row = await findSignInLink(db, id, nowMs)',
    replace: 'const row = await takeSignInLink(db, id, nowMs)',
  },
]
