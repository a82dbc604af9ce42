import type { Mutant } from './table.ts'

// Bugs that a tenant, or an attacker with a stolen host, would use.

const ENDS = 'src/domain/overlay/ends.ts'
const ARCHIVES = 'src/db/logs/log-archives.ts'

/** Killed by the tests of floods of plans, of bounds on reads and storage, and of hosts that lie. */
export const STRANGER_MUTANTS: readonly Mutant[] = [
  {
    id: 'large results are read without a bound',
    file: 'src/effects/in-flight.ts',
    find: 'return used + bytes > bound ? { used }',
    replace: 'return used + bytes > bound * 1_000 ? { used }',
  },
  {
    id: 'a malformed body counts as a good one',
    file: 'src/http/jobs/job-api.ts',
    find: 'counted.bytes *= MALFORMED_WEIGHT',
    replace: 'counted.bytes *= 1',
  },
  {
    id: 'a body of unknown length grows without a bound',
    file: 'src/effects/in-flight.ts',
    find: '+ body.bytes + bytes <= bound',
    replace: '+ body.bytes + bytes <= bound * 1_000',
  },
  {
    id: 'dryRun that is said twice is what it said first',
    file: 'src/domain/plan/dry-run.ts',
    find: 'return said.some(',
    replace: 'return said.slice(0, 1).some(',
  },
  {
    id: 'a document is carried out beside dryRun',
    file: 'src/http/graphql/graphql-api.ts',
    find: 'countRequest, refuseDryRun, answer',
    replace: 'countRequest, answer',
  },
  {
    id: 'the plan of a stop names pods of others',
    file: 'src/db/billing/stops.ts',
    find: '.where(and(eq(pods.teamId, teamId), IS_LIVE))',
    replace: '.where(IS_LIVE)',
  },
  {
    id: 'older lines take room that the account does not have',
    file: ARCHIVES,
    find: 'owner WHERE ${hasRoom}',
    replace: 'owner WHERE TRUE',
  },
  {
    id: 'older lines of another account make room',
    file: ARCHIVES,
    find: 'WHERE ${isShared(sql`(SELECT team_id FROM ${ownerOf(log)})`)} ORDER',
    replace: 'ORDER',
  },
  {
    id: 'a host that says the address of another gets what is sent there',
    file: ENDS,
    find: 'if (holderId === undefined) return member',
    replace: "if (holderId !== '') return member",
  },
  { id: 'who comes later has the address', file: ENDS, find: '? 1 : 2)', replace: '? 2 : 1)' },
  {
    id: 'encryption is a way around firewalls',
    file: 'src/host-agent/network/overlay/overlay-rules.ts',
    find: '      `iifname ${wire} udp dport != ${VXLAN_PORT} drop`,\n',
    replace: '',
  },
  {
    id: 'a key is taken that wg refuses',
    file: 'src/host-protocol/overlays.ts',
    find: '{42}[AEIMQUYcgkosw048]=',
    replace: '{43}=',
  },
  {
    id: 'what is left of a long note is read with a shorter one',
    file: 'durable-objects/host/long-note.ts',
    find: 'this.notes.clearMeta(this.keyOf(index))',
    replace: 'break',
  },
]
