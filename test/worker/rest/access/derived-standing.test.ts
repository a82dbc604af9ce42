import { getTableColumns, getTableName } from 'drizzle-orm'
import { KEY_KINDS } from '../../../../src/contract/key-kinds.ts'
import * as schema from '../../../../src/db/schema.ts'
import { dropDelegatedTokens } from '../../../../src/effects/ecr/delegated-token.ts'
import { STREAM_CHECKS } from '../../../../src/http/watched/watched-stream.ts'
import {
  DERIVED_KINDS,
  type DerivedKind,
  type Machine,
  machineOf,
  PARENT_ENDS,
  type ParentEnd,
  standing,
} from '../../../support/access/derived.ts'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from '../../../support/harness.ts'
import { until } from '../../../support/time.ts'

/**
 * ENDS: valid before and refused after. STAYS: valid before and after, with the reason. NONE: the reason why this combination does not
 * exist.
 */
type Cell = 'ENDS' | `STAYS: ${string}` | `NONE: ${string}`

const MACHINES = 'NONE: it is derived from no machine or workload'
const MEMBERS = 'NONE: it is derived from the account, whichever member has made the workload'
const KEPT = 'NONE: an organization with a pod or an endpoint is not deleted (TEAM-13)'
const USED = 'NONE: a machine with a workload is not removed (ADM-2)'
const LABELS = 'NONE: it says that a host was given a workload; the account’s end stops the workload, whose last lines are taken'
const PLANE = 'NONE: the operator’s machines are derived from no account'
const OTHERS = 'NONE: it is derived from another thing'

/** Every derived kind × every way in which a parent can end. The compiler reports a missing cell. */
const MATRIX: Record<DerivedKind, Record<ParentEnd, Cell>> = {
  apiKey: {
    userSuspended: 'ENDS',
    accountSuspended: 'ENDS',
    memberRemoved: 'ENDS',
    memberLeft: 'ENDS',
    roleDemoted: 'ENDS',
    handedOver: 'STAYS: an administrator has the scopes of an owner',
    organizationDeleted: 'ENDS',
    userDeleted: 'ENDS',
    podTerminated: MACHINES,
    endpointDeleted: MACHINES,
    workerGone: MACHINES,
    hostRemoved: MACHINES,
  },
  invitation: {
    userSuspended: 'ENDS',
    accountSuspended: 'ENDS',
    memberRemoved: 'ENDS',
    memberLeft: 'ENDS',
    roleDemoted: 'ENDS',
    handedOver: 'ENDS',
    organizationDeleted: 'ENDS',
    userDeleted: 'ENDS',
    podTerminated: MACHINES,
    endpointDeleted: MACHINES,
    workerGone: MACHINES,
    hostRemoved: MACHINES,
  },
  delegation: {
    userSuspended: 'ENDS',
    accountSuspended: 'ENDS',
    memberRemoved: 'ENDS',
    memberLeft: 'ENDS',
    roleDemoted: 'ENDS',
    handedOver: 'STAYS: an administrator may delegate',
    organizationDeleted: 'ENDS',
    userDeleted: 'ENDS',
    podTerminated: MACHINES,
    endpointDeleted: MACHINES,
    workerGone: MACHINES,
    hostRemoved: MACHINES,
  },
  sshKey: {
    userSuspended: 'ENDS',
    accountSuspended: 'ENDS',
    memberRemoved: 'ENDS',
    memberLeft: 'ENDS',
    roleDemoted: 'ENDS',
    handedOver: 'STAYS: an administrator may add keys',
    organizationDeleted: KEPT,
    userDeleted: 'ENDS',
    podTerminated: OTHERS,
    endpointDeleted: OTHERS,
    workerGone: OTHERS,
    hostRemoved: USED,
  },
  podKey: {
    userSuspended: 'ENDS',
    accountSuspended: 'ENDS',
    memberRemoved: MEMBERS,
    memberLeft: MEMBERS,
    roleDemoted: MEMBERS,
    handedOver: 'STAYS: it acts for the new owner',
    organizationDeleted: KEPT,
    userDeleted: 'ENDS',
    podTerminated: 'ENDS',
    endpointDeleted: OTHERS,
    workerGone: OTHERS,
    hostRemoved: USED,
  },
  workerKey: {
    userSuspended: 'ENDS',
    accountSuspended: 'ENDS',
    memberRemoved: MEMBERS,
    memberLeft: MEMBERS,
    roleDemoted: MEMBERS,
    handedOver: 'STAYS: it acts for its endpoint alone',
    organizationDeleted: KEPT,
    userDeleted: 'ENDS',
    podTerminated: OTHERS,
    endpointDeleted: 'ENDS',
    workerGone: 'ENDS',
    hostRemoved: USED,
  },
  logStream: {
    userSuspended: 'ENDS',
    accountSuspended: 'ENDS',
    memberRemoved: 'ENDS',
    memberLeft: 'ENDS',
    roleDemoted: 'ENDS',
    handedOver: 'STAYS: an administrator may read logs',
    organizationDeleted: KEPT,
    userDeleted: 'ENDS',
    podTerminated: 'STAYS: the log of a pod that is terminated is read for a day more (LOG-11)',
    endpointDeleted: OTHERS,
    workerGone: OTHERS,
    hostRemoved: USED,
  },
  door: {
    userSuspended: 'ENDS',
    accountSuspended: 'ENDS',
    memberRemoved: 'ENDS',
    memberLeft: 'ENDS',
    roleDemoted: 'ENDS',
    handedOver: 'STAYS: an administrator may enter pods',
    organizationDeleted: KEPT,
    userDeleted: 'ENDS',
    podTerminated: 'ENDS',
    endpointDeleted: OTHERS,
    workerGone: OTHERS,
    hostRemoved: USED,
  },
  logGrant: {
    userSuspended: LABELS,
    accountSuspended: 'STAYS: its workers are stopped, and their last lines are taken',
    memberRemoved: MEMBERS,
    memberLeft: MEMBERS,
    roleDemoted: MEMBERS,
    handedOver: MEMBERS,
    organizationDeleted: KEPT,
    userDeleted: LABELS,
    podTerminated: OTHERS,
    endpointDeleted: 'STAYS: the last lines of its workers are taken, and the log goes a day after them (LOG-11)',
    workerGone: 'STAYS: its last lines come after its end (HOST-10)',
    hostRemoved: 'ENDS',
  },
  hostToken: {
    userSuspended: PLANE,
    accountSuspended: PLANE,
    memberRemoved: PLANE,
    memberLeft: PLANE,
    roleDemoted: PLANE,
    handedOver: PLANE,
    organizationDeleted: PLANE,
    userDeleted: PLANE,
    podTerminated: OTHERS,
    endpointDeleted: OTHERS,
    workerGone: OTHERS,
    hostRemoved: 'ENDS',
  },
}

const CELLS = Object.entries(MATRIX).flatMap(([kind, row]) =>
  Object.entries(row).map(([end, cell]) => ({ kind: kind as DerivedKind, end: end as ParentEnd, cell })),
)
const isOfAccount = (kind: DerivedKind) => kind === 'podKey' || kind === 'workerKey' || kind === 'logGrant' || kind === 'hostToken'

/** The maker of the credential in a cell: an owner for the hand-over and the deletion of an organization. */
function makerOf(kind: DerivedKind, end: ParentEnd) {
  if (isOfAccount(kind)) return end === 'userDeleted' ? 'boss alone' : 'boss'
  return end === 'handedOver' || end === 'organizationDeleted' ? 'boss' : 'member'
}

let machine: Machine
beforeAll(async () => {
  machine = await machineOf('NVIDIA A40', 'AMPERE_48')
})
const PREVIOUS = { ...STREAM_CHECKS }
beforeEach(() => {
  STREAM_CHECKS.everyMs = 20
  dropDelegatedTokens()
})
afterEach(() => {
  STREAM_CHECKS.everyMs = PREVIOUS.everyMs
  vi.restoreAllMocks()
})

describe('[DER-29] [DER-33] derived credentials end with their parent', () => {
  it('120 cells: 52 end, 11 stay for a reason, 57 have no such parent', () => {
    const counted = { ENDS: 0, STAYS: 0, NONE: 0 }
    for (const { cell } of CELLS) counted[cell.replace(/:.*$/, '') as keyof typeof counted] += 1
    expect([CELLS.length, counted]).toEqual([120, { ENDS: 52, STAYS: 11, NONE: 57 }])
  })

  it.each(CELLS.filter(({ cell }) => !cell.startsWith('NONE')))('$kind × $end: $cell', async ({ kind, end, cell }) => {
    const own = end === 'hostRemoved' ? await machineOf('NVIDIA GeForce RTX 4090', 'ADA_24') : machine
    const scene = await standing(own, makerOf(kind, end))
    const made = await DERIVED_KINDS[kind](scene)
    expect(await made.isGood()).toBe(true)
    const { status } = await PARENT_ENDS[end](made, scene)
    expect([200, 202, 204]).toContain(status)
    if (cell === 'ENDS') await until(async () => !(await made.isGood()) && (made.isClosed?.() ?? true), 50)
    else expect(await made.isGood()).toBe(true)
  })
})

/** For each kind of key that the platform issues, its row in this matrix, or the reason why it has none. */
const KEYS: Record<keyof typeof KEY_KINDS, DerivedKind | `ELSEWHERE: ${string}`> = {
  user: 'apiKey',
  worker: 'workerKey',
  pod: 'podKey',
  invitation: 'invitation',
  operator: 'ELSEWHERE: it is a root: a variable of the plane, derived from nothing',
  joinToken: 'ELSEWHERE: the operator’s, for one machine, and spent by its first use (HOST-1)',
}

const SIGN_INS = 'ELSEWHERE: sign-ins of the console have a matrix of their own'
/** The same for tables with a hash of a credential, with an expiry, or with a user in whose name something is done. */
const TABLES: Record<string, DerivedKind | `ELSEWHERE: ${string}`> = {
  api_keys: 'apiKey',
  invitations: 'invitation',
  delegations: 'delegation',
  ssh_keys: 'sshKey',
  console_sessions: SIGN_INS,
  device_logins: SIGN_INS,
  sign_in_links: SIGN_INS,
  join_tokens: 'ELSEWHERE: the operator’s, for one machine, and spent by its first use (HOST-1)',
}

describe('[DEV-13] everything that issues a credential is in a matrix', () => {
  it('every kind of key is, and every table of credentials', () => {
    expect(Object.keys(KEYS).sort()).toEqual(Object.keys(KEY_KINDS).sort())
    const tables = Object.values(schema).filter((table) => Object.keys(getTableColumns(table)).some((name) => CREDENTIAL.test(name)))
    expect(tables.map(getTableName).sort()).toEqual(Object.keys(TABLES).sort())
  })
})

const CREDENTIAL = /hash$|^expiresAt|^delegator|^makers$/i
