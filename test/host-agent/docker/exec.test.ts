import { describe, expect, test } from 'vitest'
import { ContainerExecs, MAX_SESSIONS } from '../../../src/host-agent/docker/streams/exec.ts'
import { EXEC_MARK, HANGUP_SCRIPT, SIGNAL_SCRIPT } from '../../../src/host-agent/docker/streams/exec-script.ts'
import { TerminalSize } from '../../../src/host-agent/docker/streams/terminal-size.ts'
import type { DockerEngine, ExecSpec } from '../../../src/host-agent/engine/engine.ts'

/** An engine that runs nothing and records the requested commands. */
function played() {
  const asked: (ExecSpec & { name: string })[] = []
  const engine = {
    createExec: async (name: string, spec: ExecSpec) => {
      asked.push({ name, ...spec })
      return String(asked.length)
    },
    startExec: async () => ({ output: (async function* () {})(), write: async () => {}, endInput: () => {}, close: () => {} }),
    resizeExec: async () => {},
    inspectExec: async () => ({ running: false, exitCode: 0 }),
  }
  const scripts = () => asked.map(({ command }) => ([HANGUP_SCRIPT, SIGNAL_SCRIPT] as string[]).indexOf(command[2] ?? ''))
  return { asked, scripts, execs: new ContainerExecs(engine as unknown as DockerEngine) }
}
const SHELL = { command: ['sh'], terminal: null }

describe('the size of a terminal', () => {
  test('[HOST-166] is sent again while the command does not exist yet, only the newest, and given up in the end', async () => {
    const said: string[] = []
    let refusals = 3
    const size = new TerminalSize(async (rows, cols) => {
      said.push(`${rows} ${cols}`)
      if (refusals-- > 0) throw new Error('exec is not running')
    })
    await Promise.all([size.change(20, 90), size.change(33, 111)])
    expect(said).toEqual(['20 90', '33 111', '33 111', '33 111'])
    await size.change(10, 10)
    expect(said.slice(4)).toEqual(['10 10'])
    refusals = Number.POSITIVE_INFINITY
    await size.change(1, 1)
    expect(said).toHaveLength(5 + 7)
    const waiting = size.change(2, 2)
    size.end()
    await Promise.all([waiting, size.change(3, 3)])
    expect(said).toHaveLength(5 + 7 + 1)
  })
})

describe('commands in a container', () => {
  test('[HOST-135] first end the commands of a previous agent process there, once', async () => {
    const { asked, scripts, execs } = played()
    await Promise.all([execs.start('c', SHELL), execs.start('c', SHELL)])
    expect([scripts(), asked[0]?.command.slice(4)]).toEqual([
      [0, -1, -1],
      ['', 'HUP'],
    ])
    await execs.start('d', SHELL)
    execs.discard('c')
    await execs.start('c', SHELL)
    expect(asked.map(({ name }) => name)).toEqual(['c', 'c', 'c', 'd', 'd', 'c', 'c'])
  })

  test('[HOST-133] are ended by the marker that they were started with, once', async () => {
    const { asked, scripts, execs } = played()
    const session = await execs.start('c', { command: null, terminal: { name: 'vt100', rows: 1, cols: 2 } })
    const mark = asked[1]?.env[0]?.split('=')[1] ?? ''
    expect([asked[1]?.tty, asked[1]?.env, mark]).toEqual([
      true,
      [`${EXEC_MARK}=${mark}`, 'TERM=vt100'],
      expect.stringMatching(/^[0-9a-f]{32}$/),
    ])
    await session.signal('INT')
    await session.end()
    await session.end()
    expect([scripts(), asked[2]?.command.slice(4), asked[3]?.command.slice(4)]).toEqual([
      [0, -1, 1, 0],
      [mark, 'INT'],
      [mark, 'HUP'],
    ])
  })

  test('[HOST-130] are bounded per container, and one that ends frees its place', async () => {
    const { execs } = played()
    const sessions = await Promise.all(Array.from({ length: MAX_SESSIONS }, () => execs.start('c', SHELL)))
    await expect(execs.start('c', SHELL)).rejects.toThrow('96 commands already run in this container, which is the maximum')
    await execs.start('d', SHELL)
    expect(await sessions[0]?.exitCode()).toBe(0)
    await sessions[1]?.end()
    await sessions[1]?.end()
    await execs.start('c', SHELL)
    await execs.start('c', SHELL)
    await expect(execs.start('c', SHELL)).rejects.toThrow('which is the maximum')
  })
})
