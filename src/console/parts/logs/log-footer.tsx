import { Button } from '../button.tsx'
import { count } from '../format.ts'
import type { LogState } from './reading/follower.ts'

const LABELS: Record<LogState['status'], string> = {
  connecting: 'Connecting',
  following: 'Following',
  broken: 'The connection was lost; reconnecting',
  paused: 'Paused',
  ended: 'The complete log is shown',
  other: 'Another log is being followed',
  failed: 'Not following',
}

/** State of the log view: whether it follows, how many lines it shows, and how many it lacks. */
export function LogFooter({ state, onFollow, onPause }: { state: LogState; onFollow: () => void; onPause: () => void }) {
  const isOn = state.status === 'connecting' || state.status === 'following' || state.status === 'broken'
  return (
    <div className="text-soft flex flex-wrap items-center gap-3 text-xs">
      {state.status !== 'ended' && (
        <Button kind="quiet" onClick={isOn ? onPause : onFollow}>
          {isOn ? 'Pause' : 'Follow'}
        </Button>
      )}
      <span>{LABELS[state.status]}</span>
      <span>{count(state.lines.length, 'line')}</span>
      {state.reading > 0 && <span>{count(state.reading, 'line')} arrived too quickly and are being read again</span>}
      {state.missed > 0 && <span>{count(state.missed, 'line')} not retained by the plane</span>}
      {state.dropped > 0 && <span>{count(state.dropped, 'older line')} discarded</span>}
    </div>
  )
}
