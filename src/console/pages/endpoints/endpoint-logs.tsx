import { useMemo } from 'react'
import { Logs } from '../../parts/logs/logs.tsx'
import { endpointLog } from '../../parts/logs/reading/origins.ts'

/** What all workers of an endpoint have written, also those that have left. */
export function EndpointLogs({ endpointId }: { endpointId: string }) {
  const origin = useMemo(() => endpointLog(endpointId), [endpointId])
  return <Logs of={origin} />
}
