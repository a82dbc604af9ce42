import { describe, expect, it } from 'vitest'
import { Turns } from '../../../src/platform/turns.ts'

const BOUNDS = { atOnce: 2, turnMaxMs: 5_000, waitMaxMs: 10_000 }
const TOO_BUSY = () => new Error('too busy')

/** Turns on a clock that only waiting moves; `begun` lists the calls that run or ran. */
function scene(bounds = BOUNDS) {
  let nowMs = 0
  const time = {
    now: () => nowMs,
    wait: async (ms: number) => {
      await Promise.resolve()
      nowMs += ms
    },
  }
  const turns = new Turns(bounds, time)
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const run = (name: string, key = name) =>
    turns.run(
      key,
      async () => {
        begun.push(name)
        await new Promise<void>((resolve) => ends.set(name, resolve))
        return name
      },
      TOO_BUSY,
    )
  const step = (ms: number) => {
    nowMs += ms
  }
  return { turns, begun, run, end: (name: string) => ends.get(name)?.(), clock: () => nowMs, step }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('[HOST-44] calls in turns', () => {
  it('run at once up to the bound; another one runs when one of them has ended', async () => {
    const { begun, run, end } = scene()
    const first = run('first')
    void run('second')
    const third = run('third')
    await Promise.resolve()
    expect(begun).toEqual(['first', 'second'])
    end('first')
    expect(await first).toBe('first')
    await settle()
    expect(begun).toEqual(['first', 'second', 'third'])
    end('third')
    expect(await third).toBe('third')
  })

  it('make room also when a call fails', async () => {
    const { turns, begun, run } = scene()
    const fail = () => turns.run('failing', () => Promise.reject(new Error('failed')), TOO_BUSY)
    await expect(fail()).rejects.toThrow('failed')
    await expect(fail()).rejects.toThrow('failed')
    void run('next')
    await Promise.resolve()
    expect(begun).toEqual(['next'])
  })

  it('make room after five seconds when a call never ends', async () => {
    const { begun, run, clock } = scene()
    void run('lost')
    void run('lost too')
    void run('next')
    await settle()
    expect(begun).toEqual(['lost', 'lost too', 'next'])
    expect(clock()).toBeGreaterThanOrEqual(BOUNDS.turnMaxMs)
  })

  it('are refused after the longest wait', async () => {
    const { run, clock } = scene({ ...BOUNDS, turnMaxMs: 1_000_000 })
    void run('endless')
    void run('endless too')
    await expect(run('refused')).rejects.toThrow('too busy')
    expect(clock()).toBeGreaterThanOrEqual(BOUNDS.waitMaxMs)
  })

  it('run once for each key, so that one caller cannot hold all of them', async () => {
    const { begun, run, end } = scene({ ...BOUNDS, turnMaxMs: 1_000_000, atOnce: 3 })
    const first = run('first', 'greedy')
    void run('other')
    await expect(run('second', 'greedy')).rejects.toThrow('too busy')
    expect(begun).toEqual(['first', 'other'])
    end('first')
    await first
    void run('third', 'greedy')
    await settle()
    expect(begun).toEqual(['first', 'other', 'third'])
  })

  it('[CLK-6] make room when the clock is set back, although their ends are far away then', async () => {
    const { begun, run, step } = scene()
    void run('lost')
    void run('lost too')
    step(-3_600_000)
    void run('next')
    await Promise.resolve()
    expect(begun).toEqual(['lost', 'lost too', 'next'])
  })

  it('let a late end free no other call', async () => {
    const turnMaxMs = 2 * BOUNDS.waitMaxMs
    const { begun, run, end, step } = scene({ ...BOUNDS, atOnce: 1, turnMaxMs })
    const late = run('late', 'same')
    step(turnMaxMs)
    void run('next', 'same')
    end('late')
    await late
    await expect(run('third', 'same')).rejects.toThrow('too busy')
    expect(begun).toEqual(['late', 'next'])
  })
})
