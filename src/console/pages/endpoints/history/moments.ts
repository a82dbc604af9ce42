import type { EndpointTimeline, TimelineEvent } from '../../../../contract/endpoints/timeline.ts'

type Name = EndpointTimeline['series'][number]['name']

const LABELS: Record<Name, string> = {
  queued: 'waiting',
  inProgress: 'running',
  starting: 'starting',
  throttled: 'without capacity',
  ready: 'ready',
  failed: 'failed',
  spend: 'cost in this interval',
}

/** Returns the label of a series. */
export const seriesLabel = (name: Name): string => LABELS[name]

/** Time of a point, milliseconds since 1970. */
export const timeOf = ({ from, step }: Pick<EndpointTimeline, 'from' | 'step'>, point: number): number =>
  Date.parse(from) + point * step * 1_000

/** At most `most` events before the end of a point, newest first; they explain its figures. */
export function eventsBefore(timeline: Pick<EndpointTimeline, 'from' | 'step' | 'events'>, point: number, most: number): TimelineEvent[] {
  const endMs = timeOf(timeline, point + 1)
  return timeline.events.filter(({ at }) => Date.parse(at) < endMs).slice(0, most)
}

/** One event in words. */
export function eventText({ kind, workerId, phase, reason, release, decision }: TimelineEvent): string {
  const why = reason === null ? '' : `: ${reason}`
  if (kind === 'RELEASE') return `Release ${release ?? ''} became active${why}`
  if (decision !== null)
    return `The scaler changed the number of workers from ${decision.current} to ${decision.desired}: ${decision.reason}`
  return `Worker ${workerId ?? ''} became ${(phase ?? '').toLowerCase()}${why}`
}
