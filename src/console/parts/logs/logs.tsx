import { lazy, Suspense } from 'react'
import { Loading } from '../faces.tsx'
import type { LogOrigin } from './reading/origins.ts'

const LogView = lazy(async () => ({ default: (await import('./log-view.tsx')).LogView }))

/** The log of something, live and of what has ended. Loaded when it is first looked at. */
export function Logs({ of }: { of: LogOrigin }) {
  return (
    <Suspense fallback={<Loading what="Loading the log" />}>
      <LogView key={of.key} of={of} />
    </Suspense>
  )
}
