import { useMemo } from 'react'
import { Logs } from '../../parts/logs/logs.tsx'
import { endpointLog } from '../../parts/logs/reading/origins.ts'

/** Log of all workers of an endpoint, including those that have ended. */
export function EndpointLogs({ endpointId }: { endpointId: string }) {
  const origin = useMemo(() => endpointLog(endpointId), [endpointId])
  return <Logs of={origin} />
}
