import type { Mutant } from './table.ts'

// Bugs of signing in at the console.

const CONSOLE = 'src/domain/session/console.ts'
const CALLERS = 'src/services/sessions/console-callers.ts'
const FLOW = 'src/domain/session/code-flow.ts'

/** Killed by the unit tests of the pure rules. */
export const CONSOLE_DOMAIN_MUTANTS: readonly Mutant[] = [
  { id: 'a WebSocket by cookie needs no origin', file: CONSOLE, find: 'isSocket && origin === null', replace: 'false' },
  { id: 'a cookie changes things for any page', file: CONSOLE, find: 'changes && requestedWith !== PAGE_MARK', replace: 'false' },
  { id: 'signing in leads anywhere', file: CONSOLE, find: 'origin === here && isPage', replace: 'isPage' },
  {
    id: 'a device that was let in may ask as often as it likes',
    file: 'src/domain/session/device-login.ts',
    find: 'known !== undefined && nowMs - known.polledAt < intervalSeconds * 1000',
    replace: 'false',
  },
]

/** Killed by the tests of the plane's part. */
export const CONSOLE_WORKER_MUTANTS: readonly Mutant[] = [
  {
    id: 'a cookie counts wherever it comes from',
    file: 'src/http/callers/console-credential.ts',
    find: 'fault: crossSiteFault(request)',
    replace: 'fault: null',
  },
  {
    id: 'a bad key is as if there were none',
    file: 'src/http/callers/console-credential.ts',
    find: 'if (said !== null) return said',
    replace: '',
  },
  { id: 'a session outlives its key', file: CALLERS, find: 'return key && { ...session, key }', replace: 'return { ...session, key }' },
  { id: 'a session has no end', file: CALLERS, find: 'row.expiresAt <= nowMs || ', replace: '' },
  { id: 'who is no operator any more opens the operator API', file: CALLERS, find: "row.made !== 'OIDC' || ", replace: 'true || ' },
  { id: 'another browser’s way back signs in', file: FLOW, find: " || query.get('state') !== attempt.state", replace: '' },
  {
    id: 'an ID token of another client is taken',
    file: 'src/services/sessions/code-flow.ts',
    find: 'claims.azp !== undefined && claims.azp !== id',
    replace: 'false',
  },
  {
    id: 'the session that a browser had goes on',
    file: 'src/http/console/session-routes.ts',
    find: "  if ('problem' in opened) throw authenticationProblem(opened)\n  await endFormer(c)\n",
    replace: "  if ('problem' in opened) throw authenticationProblem(opened)\n",
  },
]
