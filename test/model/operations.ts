import fc from 'fast-check'
import type { SubmitOptions } from './queue-under-test.ts'

/**
 * The operations on a queue. `boot`, `job` and `pick` are positions in lists that the history knows, taken modulo their length, so that a
 * history stays playable however it is shortened.
 */
export type Operation =
  | { kind: 'nothing' }
  | ({ kind: 'submit' } & SubmitOptions)
  | { kind: 'start worker' }
  | { kind: 'take'; boot: number; capacity: number; forgetful: boolean }
  | { kind: 'ping'; boot: number; listing: 'all' | 'none' | 'half' | 'stale' }
  | { kind: 'done'; boot: number; job: number; outcome: 'output' | 'error' | 'empty' | 'stopPod' }
  /** A post for a job that the boot has held at some time, or never: duplicate, late or foreign. */
  | { kind: 'stray done'; boot: number; job: number; foreign: boolean; error: boolean }
  | { kind: 'progress'; boot: number; job: number; stray: boolean }
  | { kind: 'chunk'; boot: number; job: number; stray: boolean }
  /** `byHost`: its machine or agent reports that it ended the container, or the container ended with the machine. */
  | { kind: 'crash'; boot: number; byHost: boolean }
  /** The machine of a worker is reported silent since some time ago; pings may still come through. */
  | { kind: 'host silent'; boot: number; agoMs: number }
  | { kind: 'host heard'; boot: number }
  | { kind: 'cancel'; job: number }
  | { kind: 'retry'; job: number }
  | { kind: 'purge' }
  /** Time passes and every worker is silent. */
  | { kind: 'pass'; ms: number }
  /** Time passes up to the next deadline of any kind: one millisecond before, at, one after. */
  | { kind: 'edge'; offsetMs: -1 | 0 | 1 }
  /** Time passes, workers ping and poll as an SDK does; one of them may be paused. */
  | { kind: 'live'; ms: number; paused: number | null }
  | { kind: 'restart' }

const position = fc.nat(1_000)
const ttlMs = fc.constantFrom(86_400_000, 86_400_000, 86_400_000, 10_000, 25_000, 60_000, 3_600_000)
const executionMs = fc.constantFrom(600_000, 600_000, 5_000, 30_000, 45_000)

const operation: fc.Arbitrary<Operation> = fc.oneof(
  // First, so that a failing history shrinks towards fewer operations.
  { withCrossShrink: true },
  { weight: 1, arbitrary: kind('nothing', {}) },
  { weight: 16, arbitrary: kind('submit', { low: fc.boolean(), sync: fc.boolean(), ttlMs, executionMs }) },
  { weight: 4, arbitrary: kind('start worker', {}) },
  { weight: 20, arbitrary: kind('take', { boot: position, capacity: fc.constantFrom(1, 1, 2, 3), forgetful: oneIn(6) }) },
  { weight: 14, arbitrary: kind('ping', { boot: position, listing: fc.constantFrom('all', 'all', 'half', 'none', 'stale') }) },
  {
    weight: 9,
    arbitrary: kind('done', { boot: position, job: position, outcome: fc.constantFrom('output', 'output', 'error', 'empty', 'stopPod') }),
  },
  { weight: 8, arbitrary: kind('stray done', { boot: position, job: position, foreign: oneIn(4), error: fc.boolean() }) },
  { weight: 4, arbitrary: kind('progress', { boot: position, job: position, stray: oneIn(3) }) },
  { weight: 3, arbitrary: kind('chunk', { boot: position, job: position, stray: oneIn(3) }) },
  { weight: 2, arbitrary: kind('crash', { boot: position, byHost: fc.boolean() }) },
  { weight: 4, arbitrary: kind('host silent', { boot: position, agoMs: fc.constantFrom(0, 5_000, 15_000, 30_000) }) },
  { weight: 2, arbitrary: kind('host heard', { boot: position }) },
  { weight: 5, arbitrary: kind('cancel', { job: position }) },
  { weight: 6, arbitrary: kind('retry', { job: position }) },
  { weight: 1, arbitrary: kind('purge', {}) },
  { weight: 5, arbitrary: kind('pass', { ms: fc.constantFrom(1, 50, 999, 2_000, 5_000, 10_000, 20_000, 41_000) }) },
  { weight: 10, arbitrary: kind('edge', { offsetMs: fc.constantFrom(-1, 0, 1) }) },
  {
    weight: 5,
    arbitrary: kind('live', { ms: fc.constantFrom(10_000, 25_000, 45_000, 90_000), paused: fc.option(position, { nil: null }) }),
  },
  { weight: 2, arbitrary: kind('restart', {}) },
)

/** A history of exactly so many operations; in a shrunken one the superfluous have become `nothing`. */
export function historyOf(operations: number): fc.Arbitrary<Operation[]> {
  return fc.array(operation, { minLength: operations, maxLength: operations, size: 'max' })
}

function kind<K extends Operation['kind'], T extends object>(name: K, parts: { [P in keyof T]: fc.Arbitrary<T[P]> }) {
  return fc.record({ kind: fc.constant(name), ...parts }) as unknown as fc.Arbitrary<Extract<Operation, { kind: K }>>
}

function oneIn(n: number): fc.Arbitrary<boolean> {
  return fc.nat(n - 1).map((drawn) => drawn === n - 1)
}
