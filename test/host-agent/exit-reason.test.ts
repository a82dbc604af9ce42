import { describe, test } from 'vitest'
import { describeExit } from '../../src/host-agent/exit-reason.ts'
import { computesForMs } from '../support/time.ts'

describe('exit reasons', () => {
  const facts = { exitCode: 1, signal: null, outOfMemory: false, tail: [] as string[] }

  test('have the kind of the end and the last output', ({ expect }) => {
    const python = ['Traceback (most recent call last):', '  File "a.py", line 1', "ModuleNotFoundError: No module named 'torch'", '']
    expect(describeExit({ ...facts, tail: python })).toBe("exited with code 1: ModuleNotFoundError: No module named 'torch'")
    const node = ['Error: boom', '    at main (a.js:1:1)', '', 'Node.js v24.1.0']
    expect(describeExit({ ...facts, tail: node })).toBe('exited with code 1: Error: boom')
    expect(describeExit({ ...facts, exitCode: 0, tail: ['done'] })).toBe('exited with code 0')
    expect(describeExit({ ...facts, exitCode: 137, outOfMemory: true, tail: ['loading'] })).toBe('killed by signal SIGKILL (out of memory)')
    expect(describeExit({ ...facts, exitCode: 139, tail: ['in kernel'] })).toBe('killed by signal SIGSEGV: in kernel')
    expect(describeExit({ ...facts, exitCode: 143, tail: ['serving'] })).toBe('killed by signal SIGTERM')
    expect(describeExit({ ...facts, exitCode: null })).toBe('ended without an exit code')
  })

  test('carry neither colours nor keys nor endless lines', ({ expect }) => {
    expect(describeExit({ ...facts, tail: ['\u001b[31mbad key pp_abcdef123456\u001b[0m'] })).toBe('exited with code 1: bad key [redacted]')
    expect(describeExit({ ...facts, tail: ['x'.repeat(1_000)] })).toHaveLength('exited with code 1: '.length + 300)
  })

  test('[HOST-106] carry no token, wherever it stands in a word', ({ expect }) => {
    const token = 'eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl'
    const said = (line: string) => describeExit({ ...facts, tail: [line] }).replace('exited with code 1: ', '')
    expect([`a ${token} b`, `jwt-${token}.tail`, `some.words.${token}`, 'eyJhbGciOiJI.payload', token.slice(0, 13)].map(said)).toEqual([
      'a [redacted] b',
      'jwt-[redacted].tail',
      'some.words.[redacted]',
      '[redacted]',
      'eyJhbGciOiJI.',
    ])
  })

  test('[HOST-106] are found in any last output without blocking the agent', ({ expect }) => {
    const ms = computesForMs(() => {
      for (const word of ['-eyJ', 'eyJaaaaaaaa', 'a.', 'Bearer ', '-ppw_', ' ', '\u001b[']) {
        describeExit({ ...facts, tail: [word.repeat((64 * 1_024) / word.length)] })
      }
    })
    expect(ms).toBeLessThan(1_000)
  })
})
