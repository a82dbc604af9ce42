import { type ExplainedMember, explainCluster } from '../../../src/domain/explain/cluster.ts'
import { describe, expect, it } from '../../support/unit.ts'

const member = (rank: number, change: Partial<ExplainedMember> = {}): ExplainedMember => {
  return {
    rank,
    status: 'RUNNING',
    statusReason: null,
    hostLost: false,
    changedAtMs: 10 + rank,
    startedAtMs: 20 + rank,
    silentSinceMs: null,
    ...change,
  }
}
const received = (...changes: Partial<ExplainedMember>[]) => {
  const { code, verdict, sinceMs } = explainCluster(
    changes.map((change, rank) => member(rank, change)),
    'WAIT',
    1,
  )
  return [code, verdict, sinceMs]
}

describe('[WHY-16] the explanation of a cluster', () => {
  const broken = { status: 'ERROR' as const, statusReason: 'no such image' }
  it.each<[Partial<ExplainedMember>[], string, string, number]>([
    [[{}, {}], 'RUNNING', 'All 2 members are running.', 21],
    [[{}, { status: 'STARTING' }, { status: 'PROVISIONING' }], 'PREPARING', '2 of 3 members are placed but not ready', 11],
    [[{ status: 'STARTING' }, { status: 'EXITED' }], 'ENDED', '1 of 2 members ended.', 11],
    [[{ silentSinceMs: 5 }, { status: 'EXITED' }], 'HOST_SILENT', 'The host machine of 1 of 2 members', 5],
    [[{ silentSinceMs: 5 }, broken], 'FAILED', '1 of 2 members could not run, so the cluster is incomplete', 11],
    [[broken, { hostLost: true, status: 'ERROR' }], 'HOST_LOST', 'The host machine of 1 of 2 members is lost (no heartbeat); it waits', 11],
  ])('%j: %s', (changes, code, verdict, sinceMs) => {
    expect(received(...changes)).toEqual([code, expect.stringContaining(verdict), sinceMs])
  })

  it('has the number of members by state, and failures by rank, eight at most', () => {
    const members = Array.from({ length: 12 }, (_, rank) => member(rank, broken)).toReversed()
    const { facts } = explainCluster(members, 'REPLACE', 1)
    expect(facts[0]).toEqual({ kind: 'STATE', text: 'ERROR', count: 12, total: 12, atMs: null })
    expect(facts.slice(1).map(({ text }) => text)).toEqual(Array.from({ length: 8 }, (_, rank) => `member ${rank}: no such image`))
  })
})
