import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'vitest'
import { type Confinement, openConfinement, UNCONFINED, userOfProgram } from '../../../src/host-agent/process/confinement.ts'
import { ProcessGroups } from '../../../src/host-agent/process/groups.ts'
import { ProcessRuntime } from '../../../src/host-agent/process/runtime.ts'
import { RelayCallers } from '../../../src/host-agent/relay/admission/callers.ts'
import type { StartHooks } from '../../../src/host-agent/runtime.ts'
import { waitUntil } from '../../support/time.ts'
import { makeWorkload } from '../support/workload.ts'

const ENTRY = join(import.meta.dirname, '../../../src/host-agent/main.ts')
const COMMAND = [process.execPath, ENTRY] as const
const hooks: StartHooks = { onState: () => {}, signal: new AbortController().signal }
const isRoot = process.getuid?.() === 0
/** A checkout below a directory of root alone, such as /root, cannot be run by another user. */
const canOthersRun = pathsAbove(ENTRY).every((path) => (statSync(path).mode & 0o001) !== 0)

function pathsAbove(path: string): string[] {
  const parent = dirname(path)
  return parent === path ? [] : [parent, ...pathsAbove(parent)]
}

let dir: string
beforeEach(() => {
  // Like a state directory: only its owner may read it.
  dir = mkdtempSync(join(tmpdir(), 'podplane-confined-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))

/** A tree of control groups as the kernel shows it, with only the files that are read. */
function makeTree(version: 1 | 2): string {
  const root = join(dir, 'cgroup')
  for (const path of version === 2 ? ['podplane'] : ['memory', 'pids']) mkdirSync(join(root, path), { recursive: true })
  if (version === 2) {
    writeFileSync(join(root, 'cgroup.controllers'), 'cpu memory pids\n')
    writeFileSync(join(root, 'podplane/cgroup.subtree_control'), '')
  }
  return root
}

describe('control groups of built-in programs', () => {
  test('[HOST-92][H10] bound memory and processes in both versions', ({ expect }) => {
    const one = makeTree(1)
    const groups = ProcessGroups.open(one)
    groups?.create('w1')
    groups?.enter('w1', 4_711)
    expect(readFileSync(join(one, 'memory/podplane/w1/memory.limit_in_bytes'), 'utf8')).toBe('536870912')
    expect(readFileSync(join(one, 'pids/podplane/w1/pids.max'), 'utf8')).toBe('64')
    expect(readFileSync(join(one, 'memory/podplane/w1/cgroup.procs'), 'utf8')).toBe('4711')
    rmSync(one, { recursive: true })
    const two = makeTree(2)
    ProcessGroups.open(two)?.create('w1')
    expect(readFileSync(join(two, 'podplane/w1/memory.max'), 'utf8')).toBe('536870912')
    expect(readFileSync(join(two, 'podplane/w1/pids.max'), 'utf8')).toBe('64')
    expect(readFileSync(join(two, 'podplane/cgroup.subtree_control'), 'utf8')).toBe('+memory +pids')
  })

  test('[HOST-92] are not used where the kernel has none', ({ expect }) => {
    expect(ProcessGroups.open(join(dir, 'nowhere'))).toBeUndefined()
  })
})

test('[HOST-92] every program has a user of its own, the same at every start', ({ expect }) => {
  const users = Array.from({ length: 1_000 }, (_, n) => userOfProgram(`w${n}`))
  expect(new Set(users).size).toBe(1_000)
  expect(userOfProgram('w1')).toBe(users[1])
  expect(Math.min(...users)).toBeGreaterThanOrEqual(1_900_000_000)
  expect(Math.max(...users)).toBeLessThan(2 ** 31)
})

describe('an agent', () => {
  /** The kernel has one group of a name, and other files run programs on this machine meanwhile. */
  const ID = 'confined'

  async function runIdle(confinement: Confinement) {
    const callers = new RelayCallers('loopback')
    const runtime = new ProcessRuntime({ dir, command: COMMAND, relayUrl: 'http://127.0.0.1:9', callers, confinement })
    await runtime.start(makeWorkload({ id: ID }), hooks)
    const { pid } = JSON.parse(readFileSync(join(dir, ID, 'process.json'), 'utf8')) as { pid: number }
    await waitUntil('the program runs', () => readFileSync(join(dir, ID, 'output.log'), 'utf8').includes('idle: running'))
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const oomScore = readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8').trim()
    const groups = readFileSync(`/proc/${pid}/cgroup`, 'utf8')
    await runtime.stop(ID, 5_000)
    const exit = await runtime.watch(ID)
    await runtime.remove(ID)
    runtime.close()
    return { uids: /^Uid:\s+(.*)$/m.exec(status)?.[1]?.split('\t').map(Number), oomScore, groups, exit }
  }

  test('[HOST-92][H10] that is root runs each as a user and in a group of its own, and reports what it cannot do', async ({ expect }) => {
    const confinement = await openConfinement(COMMAND)
    const { uids, groups, exit, oomScore } = await runIdle(confinement)
    const user = confinement.userOf === undefined ? process.getuid?.() : userOfProgram(ID)
    expect(uids).toEqual([user, user, user, user])
    expect(groups.includes(`/podplane/${ID}`)).toBe(confinement.groups !== undefined)
    // Its exit code is in a file that it writes by itself, below a directory that it cannot reach from above.
    expect(exit).toMatchObject({ exitCode: 0, reason: 'exited with code 0' })
    expect(oomScore).toBe('500')
    expect(existsSync(join(dir, ID))).toBe(false)
    const shared = `the user of the agent (${isRoot ? `no other user can run ${process.execPath} ${ENTRY}` : 'the agent is not root'})`
    if (isRoot && canOthersRun) expect(confinement).toEqual({ userOf: userOfProgram, groups: expect.any(ProcessGroups), missing: [] })
    else expect(confinement.missing[0]).toBe(`built-in images: run as ${shared}`)
  })

  test('[HOST-92] without these rights runs them as itself', async ({ expect }) => {
    const { uids, exit } = await runIdle(UNCONFINED)
    expect(new Set(uids)).toEqual(new Set([process.getuid?.()]))
    expect(exit.exitCode).toBe(0)
    expect(statSync(dir).mode & 0o777).toBe(0o700)
  })
})
