import { dropCachedDecisions } from '../../../src/services/credentials/cached-decisions.ts'
import { DERIVED, type DerivedKind, type Does, type Use } from '../../support/access/derived/credentials.ts'
import { ENDING_NAMES, ENDINGS, type EndingName, endIn } from '../../support/access/derived/endings.ts'
import { makeWorld, type World } from '../../support/access/derived/world.ts'
import { afterEach, describe, expect, it, vi } from '../../support/harness.ts'

// Every derived credential × every way in which its parent can end (DER-1). A cell is REFUSED, LESS, or WORKS with the reason of the
// ending.

const KEY = ['the key is revoked', 'the key expires', 'the key is rotated'] as const
const OPERATOR_KEY = ['the operator key is rotated'] as const
const ADDRESS = [
  'the address is unlisted',
  'the operator is suspended',
  'the operator is deleted',
  'the operator’s sessions are ended',
] as const
const USER = ['the user is suspended', 'the user is deleted'] as const
const MEMBER = [...USER, 'the member is removed', 'the organization is deleted'] as const
const SESSIONS = ['the user’s sessions are ended'] as const
const SIGNED_OUT = ['the session is signed out', ...SESSIONS] as const
const DEMOTED = 'the member is demoted'

/** The endings of each kind, and its state after a demotion. */
const ENDED_BY: Readonly<Record<DerivedKind, readonly [ends: readonly EndingName[], demoted: Does]>> = {
  'session by key': [[...KEY, ...MEMBER, ...SIGNED_OUT], 'LESS'],
  'session by provider': [[...MEMBER, ...SIGNED_OUT], 'LESS'],
  'operator’s session by provider': [[...ADDRESS, 'the session is signed out'], 'WORKS'],
  'session by operator key': [[...OPERATOR_KEY, 'the session is signed out'], 'WORKS'],
  'user’s session by link of the key': [[...OPERATOR_KEY, ...MEMBER, ...SIGNED_OUT], 'LESS'],
  'user’s session by link of an address': [[...ADDRESS, ...MEMBER, ...SIGNED_OUT], 'LESS'],
  'operator’s session by link of the key': [[...OPERATOR_KEY, ...USER, ...SIGNED_OUT], 'WORKS'],
  'operator’s session by link of an address': [[...ADDRESS, ...USER, ...SIGNED_OUT], 'WORKS'],
  'operator’s link of the key': [[...OPERATOR_KEY, ...USER, ...SESSIONS], 'WORKS'],
  'operator’s link of an address': [[...ADDRESS, ...USER, ...SESSIONS], 'WORKS'],
  'user’s link of the key': [[...OPERATOR_KEY, ...USER, ...SESSIONS], 'WORKS'],
  'user’s link of an address': [[...ADDRESS, ...USER, ...SESSIONS], 'WORKS'],
  'device let in by a session by key': [[...KEY, ...MEMBER, ...SIGNED_OUT], 'REFUSED'],
  'device let in by a session by provider': [[...MEMBER, ...SIGNED_OUT], 'LESS'],
  'device let in by an operator’s session by link': [[...OPERATOR_KEY, ...MEMBER, ...SIGNED_OUT], 'LESS'],
  'device’s key by a session by key': [[...KEY, ...MEMBER], 'LESS'],
  'device’s key by a session by provider': [MEMBER, 'LESS'],
  'device’s key by an operator’s session by link': [[...OPERATOR_KEY, ...MEMBER], 'LESS'],
  'invitation by a key': [[...KEY, ...MEMBER], 'REFUSED'],
  'invitation by a device’s key': [[...KEY, ...MEMBER], 'REFUSED'],
  'session by a device’s key': [[...KEY, ...MEMBER, ...SIGNED_OUT], 'LESS'],
}
const KINDS = Object.keys(DERIVED) as DerivedKind[]

type Row = Record<string, Does | string>

const expectedRow = (name: EndingName): Row =>
  Object.fromEntries(
    KINDS.map((kind) => {
      const [ends, demoted] = ENDED_BY[kind]
      const does: Does = ends.includes(name) ? 'REFUSED' : name === DEMOTED ? demoted : 'WORKS'
      return [kind, does === 'WORKS' ? `WORKS: ${ENDINGS[name].elsewhere}` : does]
    }),
  )

async function makeAll(world: World): Promise<Map<DerivedKind, Use>> {
  const uses = new Map<DerivedKind, Use>()
  for (const kind of KINDS) uses.set(kind, await DERIVED[kind](world))
  return uses
}

async function useAll(uses: Map<DerivedKind, Use>, name: EndingName | null): Promise<Row> {
  const row: Row = {}
  for (const [kind, use] of uses) {
    const does = await use()
    row[kind] = does === 'WORKS' && name !== null ? `WORKS: ${ENDINGS[name].elsewhere}` : does
  }
  return row
}

afterEach(() => {
  vi.restoreAllMocks()
  dropCachedDecisions()
})

describe('derived credentials', () => {
  it('[DER-1] is a table of 21 kinds and 15 endings: 315 cells', () => {
    const cells = KINDS.flatMap((kind) => ENDING_NAMES.map((name) => [kind, name]))
    expect([KINDS.length, ENDING_NAMES.length, cells.length]).toEqual([21, 15, 315])
  })

  it.each(ENDING_NAMES)(
    '[S4] [S5] [DER-1] [DER-2] [DER-3] [DER-5] [DER-7] [DER-8] [DER-32] work, and are refused or reduced when %s',
    async (name) => {
      const world = await makeWorld()
      const uses = await makeAll(world)
      expect(await useAll(uses, null)).toEqual(Object.fromEntries(KINDS.map((kind) => [kind, 'WORKS'])))
      await endIn(world, name)
      expect(await useAll(uses, name)).toEqual(expectedRow(name))
    },
  )
})
