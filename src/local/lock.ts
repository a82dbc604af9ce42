import { mkdirSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { lockFile } from '../node/exclusive-file.ts'
import { errorText, hasCode, OperatorError } from '../node/fail.ts'
import { readJsonFile, writeLosableJsonFile } from '../node/json-file.ts'
import { identifyProcess, isAlive, type ProcessIdentity } from '../node/process-identity.ts'

const Identity = z.object({ pid: z.number().int().positive(), startTime: z.string() })
const LockRecord = z.object({
  owner: Identity,
  /** Set while the owner shuts down, so that a start right after it waits instead of failing. */
  stopping: z.boolean(),
  /** Processes that outlive an owner killed by SIGKILL and then still hold the port. */
  children: z.array(Identity),
  /** Identity of the directory: a record in a copy of the directory is ignored. Records of older releases have none. */
  directory: z.string().optional(),
})
type LockRecord = z.infer<typeof LockRecord>

const STOPPING_OWNER_WAIT_MS = 20_000
const GUARD_WAIT_MS = 5_000
/** The guard is held for a few milliseconds only; an older one was left by a process that died while holding it. */
const GUARD_STALE_MS = 10_000
const KILL_WAIT_MS = 5_000
const POLL_MS = 50

/** The exclusive right of this process to a data directory. */
export interface DataDirLock {
  /** Whether processes of an earlier owner were killed by this call. */
  tookOver: boolean
  /** Records a child process, so that a later start can kill it if this process is killed. */
  addChild(pid: number): void
  markStopping(): void
  release(): void
}

/**
 * Locks a data directory for this process, or throws an error that names the owner. If the owner was killed, exactly the child processes
 * that it recorded are killed: pid and start time must both match. A kernel lock also works between containers, where the pid of the owner
 * is meaningless (PLANE-13). A copy of a locked directory is not locked.
 */
export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  const path = lockPath(dataDir)
  const owner = identifyProcess(process.pid)
  if (owner === undefined) throw new Error('cannot read the start time of this process')
  const record: LockRecord = { owner, stopping: false, children: [], directory: identifyDirectory(dataDir) }
  let tookOver = false
  let held: ReturnType<typeof lockFile>
  await waitForStoppingOwner(dataDir)
  await withGuard(`${path}.guard`, async () => {
    const previous = readLock(dataDir)
    if (previous !== undefined && isAlive(previous.owner)) throw inUse(dataDir, `process ${previous.owner.pid}`)
    held = lockFile(join(dataDir, 'owner.lock'))
    if (held === undefined) throw inUse(dataDir, 'its process belongs to another container')
    for (const child of previous?.children ?? []) tookOver = (await endProcess(child)) || tookOver
    writeLosableJsonFile(path, record)
  })
  return {
    tookOver,
    addChild(pid) {
      const child = identifyProcess(pid)
      if (child === undefined) return
      record.children = [...record.children.filter(isAlive), child]
      update(path, record)
    },
    markStopping() {
      record.stopping = true
      update(path, record)
    },
    release() {
      rmSync(path, { force: true })
      held?.release()
    },
  }
}

/**
 * Writes the record of a running plane. A full disk must not end the plane: without the record, a start after a kill is refused while a
 * process of this plane still has the kernel lock.
 */
function update(path: string, record: LockRecord): void {
  try {
    writeLosableJsonFile(path, record)
  } catch (error) {
    process.stderr.write(`${path} could not be written (${errorText(error)})\n`)
  }
}

function inUse(dataDir: string, by: string): OperatorError {
  return new OperatorError(`${dataDir} is in use by another podplane (${by}); stop that one, or set PODPLANE_DATA to another directory`)
}

function readLock(dataDir: string): LockRecord | undefined {
  const record = LockRecord.safeParse(readJsonFile(lockPath(dataDir))).data
  return record?.directory === undefined || record.directory === identifyDirectory(dataDir) ? record : undefined
}

const lockPath = (dataDir: string): string => join(dataDir, 'lock.json')

/** A moved directory keeps its identity; a copy has another one. */
function identifyDirectory(path: string): string {
  const { dev, ino } = statSync(path)
  return `${dev}:${ino}`
}

async function waitForStoppingOwner(dataDir: string): Promise<void> {
  const deadline = Date.now() + STOPPING_OWNER_WAIT_MS
  for (let lock = readLock(dataDir); lock?.stopping && isAlive(lock.owner) && Date.now() < deadline; lock = readLock(dataDir))
    await sleep(POLL_MS)
}

// Two starts may find the same dead owner at once; without the guard both would take over the directory.
async function withGuard(path: string, work: () => Promise<void>): Promise<void> {
  const deadline = Date.now() + GUARD_WAIT_MS
  while (!tryCreateGuard(path)) {
    if (Date.now() > deadline) throw new OperatorError(`another podplane is starting on the same data directory (${path})`)
    await sleep(POLL_MS)
  }
  try {
    await work()
  } finally {
    rmdirSync(path)
  }
}

function tryCreateGuard(path: string): boolean {
  try {
    mkdirSync(path)
    return true
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
    const made = statSync(path, { throwIfNoEntry: false })?.mtimeMs
    if (made !== undefined && Date.now() - made > GUARD_STALE_MS) rmSync(path, { recursive: true, force: true })
    return false
  }
}

// SIGKILL, because SIGTERM would make an agent stop its workloads; a killed agent leaves them for the next agent to adopt.
async function endProcess(child: ProcessIdentity): Promise<boolean> {
  if (!isAlive(child)) return false
  process.kill(child.pid, 'SIGKILL')
  const deadline = Date.now() + KILL_WAIT_MS
  while (isAlive(child)) {
    if (Date.now() > deadline) throw new OperatorError(`process ${child.pid} of an earlier run does not end; end it, then start again`)
    await sleep(POLL_MS)
  }
  return true
}
