import type { JobAttempt } from '../../../contract/jobs/timeline.ts'
import { money } from '../../parts/format.ts'

type Phases = JobAttempt['phases']
type Phase = Phases[number]['phase']

const LABELS: Record<Phase, string> = {
  QUEUED: 'waited',
  PLACING: 'searched for a host',
  IMAGE: 'pulled the image',
  START: 'started',
  RUNNING: 'ran',
}
/** Minimum share of the bar, so that every phase is visible. */
const LEAST = 0.01

/** Returns the words that a phase is shown with. */
export const phaseLabel = (phase: Phase): string => LABELS[phase]

/** Share of the bar for each phase; the shares sum to 1. */
export function sharesOf(phases: Phases): { phase: Phase; share: number }[] {
  const total = phases.reduce((sum, { ms }) => sum + ms, 0)
  const raw = phases.map(({ phase, ms }) => ({ phase, share: Math.max(LEAST, total === 0 ? 0 : ms / total) }))
  const whole = raw.reduce((sum, { share }) => sum + share, 0)
  return raw.map(({ phase, share }) => ({ phase, share: share / whole }))
}

/** Smallest amount that is shown in figures; a smaller cost is shown as less than this. */
const SHOWN_USD = 0.0001

/** Returns a cost in USD as text, such as `$0.12`. */
export const costText = (usd: number): string => (usd > 0 && usd < SHOWN_USD ? 'less than $0.0001' : money(usd))
