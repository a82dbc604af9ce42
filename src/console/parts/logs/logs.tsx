import { lazy, Suspense } from 'react'
import { Loading } from '../view-state.tsx'
import type { LogOrigin } from './reading/origins.ts'

const LogView = lazy(async () => ({ default: (await import('./log-view.tsx')).LogView }))

/** Log of a running or ended workload. Its code is loaded on first use. */
export function Logs({ of }: { of: LogOrigin }) {
  return (
    <Suspense fallback={<Loading what="Loading the log" />}>
      <LogView key={of.key} of={of} />
    </Suspense>
  )
}
