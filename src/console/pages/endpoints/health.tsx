import { count } from '../../parts/format.ts'
import { State } from '../../parts/state.tsx'

interface Health {
  jobs: { inQueue: number; inProgress: number }
  workers: { idle: number; initializing: number; running: number; throttled: number; unhealthy: number }
  requests?: { inFlight: number; waiting: number } | undefined
}

/** State of an endpoint in one or two words. */
export function verdictOf({ jobs, workers, requests }: Health): { word: string; tone: 'good' | 'warn' | 'bad' | 'info' | 'off' } {
  const waiting = jobs.inQueue + (requests?.waiting ?? 0)
  const able = workers.idle + workers.running
  if (workers.unhealthy > 0 && able === 0) return { word: 'Unhealthy', tone: 'bad' }
  if (workers.throttled > 0 && able === 0 && waiting > 0) return { word: 'No capacity', tone: 'bad' }
  if (able === 0 && workers.initializing > 0) return { word: 'Starting', tone: 'info' }
  if (waiting > 0) return { word: 'Busy', tone: 'warn' }
  return able > 0 ? { word: 'Ready', tone: 'good' } : { word: 'Scaled to zero', tone: 'off' }
}

/** Shows the state of an endpoint in one or two words. */
export function Verdict({ of }: { of: Health }) {
  const { word, tone } = verdictOf(of)
  return <State value={word} tone={tone} />
}

/** Number of workers in each state, such as `2 running, 1 starting`. */
export function workersText({ workers }: Health): string {
  const parts = [
    [workers.running, 'running'],
    [workers.idle, 'idle'],
    [workers.initializing, 'starting'],
    [workers.throttled, 'without capacity'],
    [workers.unhealthy, 'unhealthy'],
  ] as const
  const text = parts.filter(([amount]) => amount > 0).map(([amount, what]) => `${amount} ${what}`)
  return text.length === 0 ? 'none' : text.join(', ')
}

/** Returns the number of waiting and running jobs or requests, such as `3 waiting, 1 running`. */
export function queueText({ jobs, requests }: Health): string {
  if (requests) return `${requests.waiting} waiting, ${requests.inFlight} served`
  return `${count(jobs.inQueue, 'waiting', 'waiting')}, ${jobs.inProgress} running`
}
