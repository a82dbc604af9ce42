import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lockDataDir } from '../../src/local/lock.ts'
import { identifyProcess, isAlive } from '../../src/node/process-identity.ts'
import { afterEach, beforeEach, describe, expect, it } from '../support/unit.ts'

let directory: string
let child: ChildProcess | undefined
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'podplane-lock-'))
})
afterEach(() => {
  child?.kill('SIGKILL')
  child = undefined
  rmSync(directory, { recursive: true, force: true })
})

const DEAD_OWNER = { pid: 2 ** 22 + 1, startTime: '1' }
const writeLock = (lock: unknown) => writeFileSync(join(directory, 'lock.json'), JSON.stringify(lock))

async function startSleeper() {
  const sleeper = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  child = sleeper
  await new Promise((resolve) => sleeper.once('spawn', resolve))
  const identity = identifyProcess(sleeper.pid ?? 0)
  if (identity === undefined) throw new Error('the child ended')
  return identity
}

describe('the lock of a data directory', () => {
  it('is refused while its owner lives, naming it', async () => {
    writeLock({ owner: await startSleeper(), stopping: false, children: [] })
    await expect(lockDataDir(directory)).rejects.toThrow(`is in use by another podplane (process ${child?.pid})`)
  })

  it('waits for an owner that is stopping', async () => {
    const owner = await startSleeper()
    writeLock({ owner, stopping: true, children: [] })
    const waiting = lockDataDir(directory)
    child?.kill('SIGKILL')
    const lock = await waiting
    expect(isAlive(owner)).toBe(false)
    lock.release()
  })

  it('is taken over from a dead owner, whose recorded children are ended', async () => {
    const orphan = await startSleeper()
    writeLock({ owner: DEAD_OWNER, stopping: false, children: [orphan] })
    const lock = await lockDataDir(directory)
    expect(isAlive(orphan)).toBe(false)
    lock.release()
    expect(existsSync(join(directory, 'lock.json'))).toBe(false)
  })

  it('never ends a process that merely has the pid of a former child', async () => {
    const stranger = await startSleeper()
    writeLock({ owner: DEAD_OWNER, stopping: false, children: [{ pid: stranger.pid, startTime: '1' }] })
    const lock = await lockDataDir(directory)
    expect(isAlive(stranger)).toBe(true)
    lock.release()
  })

  it('survives a torn file', async () => {
    writeFileSync(join(directory, 'lock.json'), '{"owner":{"pid"')
    const lock = await lockDataDir(directory)
    lock.release()
  })

  it('goes to one of two that start at once on the directory of a dead owner', async () => {
    writeLock({ owner: DEAD_OWNER, stopping: false, children: [] })
    const results = await Promise.allSettled([lockDataDir(directory), lockDataDir(directory)])
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })
})
