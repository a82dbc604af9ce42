import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lockDataDir } from '../../src/local/lock.ts'
import { PROJECT_ROOT } from '../../src/local/paths.ts'
import { identifyProcess, isAlive } from '../../src/node/process-identity.ts'
import { afterEach, beforeEach, describe, expect, it, vi } from '../support/unit.ts'

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

  it('[PLANE-12] does not end its plane when a child cannot be recorded, as on a full disk', async () => {
    const lock = await lockDataDir(directory)
    const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    rmSync(directory, { recursive: true })
    lock.addChild((await startSleeper()).pid)
    lock.markStopping()
    expect(written.mock.calls.map(([text]) => text)).toEqual(
      Array(2).fill(expect.stringMatching(/lock\.json could not be written \(ENOENT/)),
    )
    written.mockRestore()
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

  it('never ends a process that merely has the pid of a previous child', async () => {
    const otherTenant = await startSleeper()
    writeLock({ owner: DEAD_OWNER, stopping: false, children: [{ pid: otherTenant.pid, startTime: '1' }] })
    const lock = await lockDataDir(directory)
    expect(isAlive(otherTenant)).toBe(true)
    lock.release()
  })

  it('[PLANE-13] is refused across pid namespaces while its owner lives, and free once that was killed', async () => {
    const script = `import { lockDataDir } from '${PROJECT_ROOT}/src/local/lock.ts'; await lockDataDir('${directory}'); console.log('locked'); setInterval(() => {}, 1000)`
    const owner = spawn(
      'unshare',
      ['--pid', '--fork', '--kill-child', '--mount-proc', process.execPath, '--input-type=module', '-e', script],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    child = owner
    await once(owner.stdout, 'data')
    await expect(lockDataDir(directory)).rejects.toThrow('in use by another podplane (its process belongs to another container)')
    owner.kill('SIGKILL')
    await once(owner, 'close')
    const lock = await lockDataDir(directory)
    lock.release()
  })

  it('[PLANE-13] is ignored in a copy of the directory: the copy is not in use, and processes of the original are not ended', async () => {
    const lock = await lockDataDir(directory)
    const worker = await startSleeper()
    lock.addChild(worker.pid)
    const copy = mkdtempSync(join(tmpdir(), 'podplane-lock-copy-'))
    try {
      cpSync(directory, copy, { recursive: true })
      const second = await lockDataDir(copy)
      expect([second.tookOver, isAlive(worker)]).toEqual([false, true])
      second.release()
      await expect(lockDataDir(directory)).rejects.toThrow('in use')
    } finally {
      lock.release()
      rmSync(copy, { recursive: true })
    }
  })

  it('survives a torn file', async () => {
    writeFileSync(join(directory, 'lock.json'), '{"owner":{"pid"')
    const lock = await lockDataDir(directory)
    lock.release()
  })

  it('is obtained by one of two that start at once on the directory of a dead owner', async () => {
    writeLock({ owner: DEAD_OWNER, stopping: false, children: [] })
    const results = await Promise.allSettled([lockDataDir(directory), lockDataDir(directory)])
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })
})
