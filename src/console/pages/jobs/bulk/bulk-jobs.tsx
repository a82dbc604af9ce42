import { lazy, Suspense, useState } from 'react'
import { useApi } from '../../../hooks/session.ts'
import { Button } from '../../../parts/button.tsx'
import type { ChosenJobs } from './chosen-jobs.ts'

const BulkDialog = lazy(async () => ({ default: (await import('./bulk-dialog.tsx')).BulkDialog }))

const MAY_NOT = 'Your role in this account may not change jobs.'

/** Cancels or retries all jobs that a list matches, on all of its pages (UI-51). */
export function BulkJobs({ endpointId, chosen }: { endpointId: string; chosen: ChosenJobs }) {
  const { may } = useApi()
  const [action, setAction] = useState<'cancel' | 'retry' | null>(null)
  const off = may('jobs:write') ? undefined : MAY_NOT
  return (
    <div className="flex gap-2">
      <Button disabledReason={off} onClick={() => setAction('retry')}>
        Retry all…
      </Button>
      <Button kind="danger" disabledReason={off} onClick={() => setAction('cancel')}>
        Cancel all…
      </Button>
      {action && (
        <Suspense>
          <BulkDialog endpointId={endpointId} chosen={chosen} action={action} onClose={() => setAction(null)} />
        </Suspense>
      )}
    </div>
  )
}
