import { type ChoiceFacts, chooseWorker } from '../../../src/domain/balancer/choose-worker.ts'
import { workerIn } from '../../support/queue/workers.ts'
import { describe, expect, it } from '../../support/unit.ts'

const NOW_MS = 1_000_000
const ready = (id: string, change = {}) => workerIn('READY', id, { hostId: 'h', version: 1, ...change })

function choose(change: Partial<ChoiceFacts>): string | null {
  const facts = { workers: [], version: 1, held: new Map(), perWorker: 3, avoided: new Map(), nowMs: NOW_MS }
  return chooseWorker({ ...facts, ...change })?.id ?? null
}

describe('the worker of a request', () => {
  it('[LB-4] is the first one with the fewest requests, and none when all are at their limit', () => {
    const workers = [ready('a'), ready('b'), ready('c')]
    expect(choose({ workers, held: new Map(Object.entries({ a: 2, b: 1, c: 1 })) })).toBe('b')
    expect(choose({ workers, held: new Map(Object.entries({ a: 1, b: 2, c: 2 })) })).toBe('a')
    expect(choose({ workers, held: new Map(Object.entries({ a: 3, b: 3, c: 3 })) })).toBeNull()
  })

  it('[LB-9, LB-17] is ready, of the current release, on a connected host, and was not just unreachable', () => {
    const starting = workerIn('STARTING', 'starting', { hostId: 'h', version: 1 })
    const others = [starting, ready('old', { version: 0 }), ready('silent', { excusedUntilMs: NOW_MS + 1 }), ready('gone')]
    const avoided = new Map([['gone', NOW_MS + 1]])
    expect(choose({ workers: others, avoided })).toBeNull()
    expect(choose({ workers: [...others, ready('good', { excusedUntilMs: NOW_MS })], avoided })).toBe('good')
    expect(choose({ workers: others, avoided, nowMs: NOW_MS + 1 })).toBe('silent')
  })
})
