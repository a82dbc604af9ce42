type Tone = 'good' | 'warn' | 'bad' | 'info' | 'off'

const REQUESTS: Record<Tone, string> = {
  good: 'bg-good-bg text-good',
  warn: 'bg-warn-bg text-warn',
  bad: 'bg-bad-bg text-bad',
  info: 'bg-info-bg text-accent',
  off: 'bg-raised text-soft',
}
/** A sign in addition to the color, so that a state never depends on color alone. */
const SIGNS: Record<Tone, string> = { good: '●', warn: '◐', bad: '✕', info: '◌', off: '○' }

const TONES: Readonly<Record<string, Tone>> = {
  RUNNING: 'good',
  READY: 'good',
  COMPLETED: 'good',
  ONLINE: 'good',
  DELIVERED: 'good',
  ACTIVE: 'good',
  PROVISIONING: 'info',
  STARTING: 'info',
  INITIALIZING: 'info',
  IN_QUEUE: 'info',
  PENDING: 'info',
  IN_PROGRESS: 'good',
  CORDONED: 'warn',
  DRAINING: 'warn',
  THROTTLED: 'warn',
  SUSPENDED: 'warn',
  UNHEALTHY: 'bad',
  ERROR: 'bad',
  FAILED: 'bad',
  TIMED_OUT: 'bad',
  OFFLINE: 'bad',
  LOST: 'bad',
}

/** State by its API name. */
export function State({ value, tone = TONES[value] ?? 'off' }: { value: string; tone?: Tone }) {
  return (
    <span className={`inline-flex items-center gap-1.5 rounded-full px-2 py-0.5 text-xs font-medium whitespace-nowrap ${REQUESTS[tone]}`}>
      <span aria-hidden="true">{SIGNS[tone]}</span>
      {value}
    </span>
  )
}
