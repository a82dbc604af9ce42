import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AuditState, type Contents, changedMembers } from '../../../src/domain/audit/change.ts'
import { stateAt } from '../../../src/domain/audit/state-at.ts'

const NAMES = ['name', 'image', 'ports', 'mounts', 'env.A', 'env.B']
const value = fc.oneof(
  fc.integer({ min: 0, max: 3 }),
  fc.constant('x'),
  fc.constant(['80/http']),
  fc.constant({ size: 1 }),
  fc.constant(null),
)
const state = fc.dictionary(fc.constantFrom(...NAMES), value, { maxKeys: NAMES.length })
/** The history of a resource: its states in order, and whether it is deleted in the end. */
const history = fc.record({ states: fc.array(state, { minLength: 1, maxLength: 12 }), isDeleted: fc.boolean() })

/** The rows of a history, and the state of the resource after each of them. */
function received({ states, isDeleted }: { states: AuditState[]; isDeleted: boolean }) {
  const rows: Contents[] = []
  const snapshots: (AuditState | null)[] = []
  let before: AuditState | null = null
  for (const after of states) {
    rows.push(before === null ? { before: null, after } : changedMembers(before, after))
    snapshots.push({ ...after })
    before = after
  }
  if (isDeleted) {
    rows.push({ before: {}, after: null })
    snapshots.push(null)
  }
  return { rows, snapshots }
}

describe('[AUD-9] the past state of a resource', () => {
  it('equals a snapshot, at every moment of every history', () => {
    fc.assert(
      fc.property(history, (lived) => {
        const { rows, snapshots } = received(lived)
        expect(stateAt([], rows)).toEqual({ state: null, isComplete: true })
        for (const [n, snapshot] of snapshots.entries()) {
          expect(stateAt(rows.slice(0, n + 1), rows.slice(n + 1))).toEqual({ state: snapshot, isComplete: true })
        }
      }),
    )
  })

  it('is never wrong when its first rows are gone: known members are right, and members changed since are marked', () => {
    fc.assert(
      fc.property(history, fc.nat({ max: 11 }), (lived, gone) => {
        const { rows, snapshots } = received(lived)
        const first = Math.min(gone + 1, rows.length - 1)
        fc.pre(first > 0)
        const kept = rows.slice(first)
        for (let n = first - 1; n < rows.length; n += 1) {
          const snapshot = snapshots[n] ?? null
          const said = stateAt(kept.slice(0, n + 1 - first), kept.slice(n + 1 - first))
          if (snapshot === null) expect(said).toEqual({ state: null, isComplete: true })
          else {
            expect(said.isComplete).toBe(false)
            expect(snapshot).toMatchObject(said.state ?? {})
            const changed = new Set(kept.flatMap(({ before, after }) => Object.keys({ ...before, ...after })))
            for (const name of Object.keys(snapshot).filter((name) => changed.has(name))) expect(said.state).toHaveProperty([name])
          }
        }
      }),
    )
  })
})
