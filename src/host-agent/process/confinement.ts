import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { ProcessGroups } from './groups.ts'

/** How built-in programs are kept from the machine; what is undefined here cannot be enforced. */
export interface Confinement {
  /** A user of its own for each program, and its group. */
  userOf: ((id: string) => number) | undefined
  groups: ProcessGroups | undefined
  /** What cannot be enforced, in words for the operator. */
  missing: string[]
}

/** Users that nothing else has: beyond those of people, of services, and of containers with users of their own. */
const FIRST_USER = 1_900_000_000
const USERS = 100_000_000
const TRIAL_MS = 20_000
const TRIAL_PATH = '/usr/local/bin:/usr/bin:/bin'

export const UNCONFINED: Confinement = { userOf: undefined, groups: undefined, missing: [] }

/** Finds out what this agent may do for its built-in programs (HOST-92). `command` runs this very program. */
export async function openConfinement(command: readonly [string, ...string[]]): Promise<Confinement> {
  const isRoot = process.getuid?.() === 0
  const groups = isRoot ? ProcessGroups.open() : undefined
  const trouble = isRoot ? await tryAsStranger(command) : 'the agent is not root'
  return {
    userOf: trouble === null ? userOfProgram : undefined,
    groups,
    missing: [
      ...(trouble === null ? [] : [`built-in images: run as the user of the agent (${trouble})`]),
      ...(groups === undefined ? ['built-in images: have no control group of their own (none can be made)'] : []),
    ],
  }
}

/** The same for the same workload, so that nothing has to be remembered; no two share what the kernel counts by user. */
export function userOfProgram(id: string): number {
  return FIRST_USER + (createHash('sha256').update(id).digest().readUInt32BE() % USERS)
}

/** Whether another user can run this program at all: Node and the agent may lie in a directory that is root's alone. */
async function tryAsStranger([program, ...args]: readonly [string, ...string[]]): Promise<string | null> {
  const stranger = { uid: FIRST_USER, gid: FIRST_USER, cwd: '/', env: { PATH: TRIAL_PATH }, timeout: TRIAL_MS }
  return await promisify(execFile)(program, [...args, '--version'], stranger).then(
    () => null,
    () => `no other user can run ${program} ${args.at(-1) ?? ''}`.trim(),
  )
}
