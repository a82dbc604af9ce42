import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { ProcessGroups } from './groups.ts'

/** The isolation of built-in programs from the machine; undefined parts cannot be enforced. */
export interface Confinement {
  /** Returns a uid, also used as gid, that belongs to one program alone. */
  userOf: ((id: string) => number) | undefined
  groups: ProcessGroups | undefined
  /** Measures that cannot be enforced, described for the operator. */
  missing: string[]
}

/** First of a range of uids that nothing else uses: above those of people, services and containers with user namespaces. */
const FIRST_USER = 1_900_000_000
const USERS = 100_000_000
const PROBE_MS = 20_000
const PROBE_PATH = '/usr/local/bin:/usr/bin:/bin'

export const UNCONFINED: Confinement = { userOf: undefined, groups: undefined, missing: [] }

/** Tests which measures this agent can apply to its built-in programs (HOST-92). `command` runs the agent's own program. */
export async function openConfinement(command: readonly [string, ...string[]]): Promise<Confinement> {
  const isRoot = process.getuid?.() === 0
  const groups = isRoot ? ProcessGroups.open() : undefined
  const trouble = isRoot ? await tryAsOtherUser(command) : 'the agent is not root'
  return {
    userOf: trouble === null ? userOfProgram : undefined,
    groups,
    missing: [
      ...(trouble === null ? [] : [`built-in images: run as the user of the agent (${trouble})`]),
      ...(groups === undefined ? ['built-in images: have no control group of their own (none can be made)'] : []),
    ],
  }
}

/**
 * Returns the same uid for the same workload, so that nothing has to be stored. The kernel's per-user limits are then counted for each
 * workload alone.
 */
export function userOfProgram(id: string): number {
  return FIRST_USER + (createHash('sha256').update(id).digest().readUInt32BE() % USERS)
}

/**
 * Returns null when another user can run this program, otherwise the problem: Node and the agent may lie in a directory that only root can
 * enter.
 */
async function tryAsOtherUser([program, ...args]: readonly [string, ...string[]]): Promise<string | null> {
  const otherUser = { uid: FIRST_USER, gid: FIRST_USER, cwd: '/', env: { PATH: PROBE_PATH }, timeout: PROBE_MS }
  return await promisify(execFile)(program, [...args, '--version'], otherUser).then(
    () => null,
    () => `no other user can run ${program} ${args.at(-1) ?? ''}`.trim(),
  )
}
