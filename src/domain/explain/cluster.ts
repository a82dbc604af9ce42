import type { HostLossPolicy } from '../../contract/enums.ts'
import type { WhyCode } from '../../contract/explain/explain.ts'
import { type Fact, fact, type Verdict } from './evidence.ts'
import type { ExplainedPod } from './pod.ts'

/** Explains the state of a cluster (WHY-16). Pure. */

/** A member by its row, and since when its host has been silent. */
export interface ExplainedMember extends Pick<ExplainedPod, 'status' | 'statusReason' | 'hostLost' | 'changedAtMs' | 'startedAtMs'> {
  rank: number
  silentSinceMs: number | null
}

/** Maximum number of members whose reasons one answer names. */
const MAX_REASONS = 8

interface Cause {
  code: WhyCode
  /** Whether the cause applies to a member. */
  is(member: ExplainedMember): boolean
  text(many: string, total: number, onHostLoss: HostLossPolicy): string
}

// The first cause that applies to any member counts: failures come before starts in progress.
const CAUSES: readonly Cause[] = [
  {
    code: 'HOST_LOST',
    is: ({ hostLost }) => hostLost,
    text: (many, _total, onHostLoss) =>
      `The host machine of ${many} is lost (no heartbeat); ${onHostLoss === 'REPLACE' ? 'it starts on another machine' : 'it waits for the machine to return'}.`,
  },
  {
    code: 'FAILED',
    is: ({ status }) => status === 'ERROR',
    text: (many) => `${many} could not run, so the cluster is incomplete: delete it and create another.`,
  },
  {
    code: 'HOST_SILENT',
    is: ({ silentSinceMs }) => silentSinceMs !== null,
    text: (many) => `The host machine of ${many} is silent; their state is unknown.`,
  },
  { code: 'ENDED', is: ({ status }) => status === 'EXITED', text: (many) => `${many} ended.` },
  {
    code: 'PREPARING',
    is: ({ status }) => status === 'PROVISIONING' || status === 'STARTING',
    text: (many) => `${many} are placed but not ready; all members start together when they can reach one another.`,
  },
]

/** Verdict by the first cause that applies to any member; without a cause, all members run. */
export function explainCluster(members: readonly ExplainedMember[], onHostLoss: HostLossPolicy, createdAtMs: number): Verdict {
  const total = members.length
  const facts = factsOf(members)
  for (const { code, is, text } of CAUSES) {
    const those = members.filter(is)
    if (those.length === 0) continue
    const sinceMs = Math.min(
      ...those.map(({ silentSinceMs, changedAtMs }) => (code === 'HOST_SILENT' ? (silentSinceMs ?? changedAtMs) : changedAtMs)),
    )
    return { code, verdict: text(`${those.length} of ${total} members`, total, onHostLoss), sinceMs, facts }
  }
  const starts = members.map(({ startedAtMs, changedAtMs }) => startedAtMs ?? changedAtMs)
  const verdict = `All ${total} members are running.`
  return { code: 'RUNNING', verdict, sinceMs: starts.length === 0 ? createdAtMs : Math.max(...starts), facts }
}

// Number of members in each status, and the reasons of members that have one.
function factsOf(members: readonly ExplainedMember[]): Fact[] {
  const byStatus = Map.groupBy(members, ({ status }) => status)
  const counts = [...byStatus].map(([status, of]) => fact('STATE', status, { count: of.length, total: members.length }))
  const reasons = members.filter(({ statusReason }) => statusReason !== null).toSorted((a, b) => a.rank - b.rank)
  const shown = reasons.slice(0, MAX_REASONS).map(({ rank, statusReason, changedAtMs }) => {
    return fact('STATE', `member ${rank}: ${statusReason}`, { atMs: changedAtMs })
  })
  return [...counts, ...shown]
}
