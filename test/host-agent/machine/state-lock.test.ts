import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lockStateDir } from '../../../src/host-agent/machine/state-lock.ts'
import { PROJECT_ROOT } from '../../../src/local/paths.ts'
import { afterEach, beforeEach, describe, expect, it } from '../../support/unit.ts'

let directory: string
let owner: ChildProcess | undefined
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'podplane-state-lock-'))
})
afterEach(() => {
  owner?.kill('SIGKILL')
  owner = undefined
  rmSync(directory, { recursive: true, force: true })
})

/** A separate process that has the lock, here or in its own pid namespace. */
async function startOwner(...before: string[]): Promise<ChildProcess> {
  const script = `import { lockStateDir } from '${PROJECT_ROOT}/src/host-agent/machine/state-lock.ts'; lockStateDir('${directory}'); console.log('locked'); setInterval(() => {}, 1000)`
  const [program = '', ...args] = [...before, process.execPath, '--input-type=module', '-e', script]
  const started = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  owner = started
  await once(started.stdout, 'data')
  return started
}

describe('[HOST-180] the lock of a state directory', () => {
  it('is refused while its owner lives, naming it', async () => {
    const { pid } = await startOwner()
    expect(() => lockStateDir(directory)).toThrow(`is in use by another agent (process ${pid})`)
  })

  it('is refused across pid namespaces while its owner lives, and free once that was killed', async () => {
    const started = await startOwner('unshare', '--pid', '--fork', '--kill-child', '--mount-proc')
    expect(() => lockStateDir(directory)).toThrow('is in use by another agent (its process belongs to another container)')
    started.kill('SIGKILL')
    await once(started, 'close')
    lockStateDir(directory)()
  })

  it('is free again once it was released, and refused before within one process', () => {
    const unlock = lockStateDir(directory)
    expect(() => lockStateDir(directory)).toThrow('is in use by another agent')
    unlock()
    lockStateDir(directory)()
  })
})
