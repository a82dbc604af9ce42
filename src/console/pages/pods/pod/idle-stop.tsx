import type { Pod } from '../../../../contract/pods/pods.ts'
import { duration } from '../../../parts/format.ts'
import { Ago } from '../../../parts/time.tsx'
import { IDLE_MINUTES } from '../deadline.ts'
import { Timer } from './timer.tsx'

/** Idle time after which the plane stops the pod, to set and to clear (SPD-5). */
export function IdleStop({ pod }: { pod: Pod }) {
  return (
    <Timer
      podId={pod.id}
      label="Stop when idle for"
      noun="idle stop"
      choices={IDLE_MINUTES}
      initial={30}
      unitMs={60_000}
      isSet={pod.idleStop !== null}
      change={(ms) => ({ idleStop: ms === null ? null : { afterSeconds: ms / 1_000 } })}
      said={{
        set: (ms) => `The plane will stop the pod when it has been idle for ${duration(ms)}`,
        cleared: 'The plane will not stop the pod when it is idle',
        unset: 'No idle stop is set.',
      }}
    >
      <State of={pod} />
    </Timer>
  )
}

function State({ of: { idleStop, runtime } }: { of: Pod }) {
  if (idleStop === null) return <>No idle stop is set.</>
  const after = duration(idleStop.afterSeconds * 1000)
  const at = runtime?.idleStopAt
  if (typeof at !== 'string') return <>The plane stops the pod when it has been idle for {after}.</>
  return (
    <>
      The pod is idle. The plane stops it <Ago at={at} /> if it stays idle ({after}).
    </>
  )
}
