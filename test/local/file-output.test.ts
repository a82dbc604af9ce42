import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FileOutput } from '../../src/node/file-output.ts'

const MODULE = join(import.meta.dirname, '../../src/node/file-output.ts')

/** Runs a program whose output goes to a full device; returns its exit code. */
function runOnFullDisk(prepare: string): number | null {
  // Output in several turns: the error of a stream arrives in a later one.
  const program = `${prepare}
    process.on('uncaughtException', () => process.exit(7))
    for (let line = 0; line < 3; line++) { console.log(line); console.error(line); await new Promise(setImmediate) }
    process.exit(0)`
  const full = openSync('/dev/full', 'w')
  try {
    return spawnSync(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', full, full] }).status
  } finally {
    closeSync(full)
  }
}

describe('[HOST-172] output to a file on a full disk', () => {
  it('does not end a program that drops refused output, and would end another one', () => {
    expect(runOnFullDisk('')).toBe(7)
    expect(runOnFullDisk(`(await import(${JSON.stringify(MODULE)})).dropRefusedOutput()`)).toBe(0)
  })

  it('is written again once there is room, and what was refused stays away', () => {
    let isFull = false
    let text = ''
    const output = new FileOutput(1, (_fd, bytes) => {
      if (isFull) throw new Error('ENOSPC')
      // The file system may take a part.
      const part = bytes.subarray(0, 3)
      text += Buffer.from(part).toString()
      return part.length
    })
    output.write('before\n')
    isFull = true
    output.write('refused\n')
    isFull = false
    output.write('after\n')
    expect(text).toBe('before\nafter\n')
    expect(output.destroyed).toBe(false)
  })
})

describe('[CMD-2] a command whose output is refused', () => {
  it('fails and says so, because its output is its result', () => {
    const full = openSync('/dev/full', 'w')
    const { status, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, '../../src/cli/main.ts'), '--version'], {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    })
    closeSync(full)
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^podplane: the output could not be written \(.*ENOSPC/)])
  })
})
