import { useState } from 'react'
import type { Endpoint } from '../../../../contract/endpoints/endpoints.ts'
import { useAct } from '../../../hooks/act.ts'
import { useGo } from '../../../hooks/params.ts'
import { paths } from '../../../hooks/paths.ts'
import { useApi } from '../../../hooks/session.ts'
import { Button } from '../../../parts/button.tsx'
import { Confirm } from '../../../parts/over/confirm.tsx'
import { Panel } from '../../../parts/page.tsx'

/** Deletion of an endpoint; the dialog states what is deleted with it. */
export function DeleteEndpoint({ of: endpoint, offReason }: { of: Endpoint; offReason: string | undefined }) {
  const { api, refresh } = useApi()
  const { isBusy, run } = useAct()
  const go = useGo()
  const [isOpen, setIsOpen] = useState(false)
  const remove = async () => {
    if (!(await run(() => api.deleteEndpoint({ path: { id: endpoint.id } }), `${endpoint.name} is deleted`))) return
    go(paths.endpoints())
    await refresh('endpoints')
  }
  return (
    <Panel title="Delete">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p>Its workers stop, its jobs and their results are deleted, and its addresses stop working.</p>
        <Button kind="danger" disabledReason={offReason} onClick={() => setIsOpen(true)}>
          Delete endpoint
        </Button>
      </div>
      <Confirm
        title={`Delete ${endpoint.name}?`}
        verb="Delete endpoint"
        isOpen={isOpen}
        isBusy={isBusy}
        onClose={() => setIsOpen(false)}
        onConfirm={() => void remove()}
        typed={endpoint.name}
        plan={{ method: 'DELETE', path: `/v2/serverless/${endpoint.id}`, command: `endpoints delete ${endpoint.id}` }}
      ></Confirm>
    </Panel>
  )
}
