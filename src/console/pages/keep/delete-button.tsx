import { type ReactNode, useState } from 'react'
import type { ApiClient } from '../../../client/client.ts'
import { useAct } from '../../app/act.ts'
import { useLive, useRefresh } from '../../app/live.ts'
import { useApi } from '../../app/session.ts'
import { Button } from '../../parts/button.tsx'
import { CopyAs } from '../../parts/copy/copy-as.tsx'
import { Face } from '../../parts/faces.tsx'
import { Confirm } from '../../parts/over/confirm.tsx'
import { type Kept, usesOf } from './uses.ts'

interface DeleteButtonProps {
  name: string
  /** Its address in the API. */
  path: string
  kept?: Kept
  remove: (api: ApiClient) => Promise<unknown>
  /** What is looked at again. */
  refresh: string
  noRight: string | undefined
  /** Its content is lost, so its name has to be typed. */
  losesData?: boolean
  onDone?: () => void
  children: ReactNode
}

/** Deletes something that is kept, after it has said what uses it. */
export function DeleteButton({ name, path, kept, remove, refresh, noRight, losesData = false, onDone, children }: DeleteButtonProps) {
  const { api } = useApi()
  const { isBusy, run } = useAct()
  const again = useRefresh()
  const [isAsked, setIsAsked] = useState(false)
  const confirm = async () => {
    const isDone = await run(() => remove(api), `${name} is deleted`)
    setIsAsked(false)
    if (isDone) onDone?.()
    await again(refresh)
  }
  return (
    <>
      <Button kind="danger" aria-label={`Delete ${name}`} disabledReason={noRight} onClick={() => setIsAsked(true)}>
        Delete
      </Button>
      {isAsked && (
        <Confirm
          title={`Delete ${name}?`}
          verb="Delete"
          isOpen
          isBusy={isBusy}
          onClose={() => setIsAsked(false)}
          onConfirm={() => void confirm()}
          typed={losesData ? name : undefined}
        >
          {children}
          {kept && <Uses of={kept} />}
          <div>
            <CopyAs call={{ method: 'DELETE', path }} />
          </div>
        </Confirm>
      )}
    </>
  )
}

function Uses({ of }: { of: Kept }) {
  const { may } = useApi()
  const users = useLive(
    ['users-of-kept'],
    async (api, signal) => {
      const [pods, endpoints, templates] = await Promise.all([
        may('pods:read') ? api.listPods({ query: { includeClusterPods: true } }, { signal }).then((answer) => answer.pods) : [],
        may('serverless:read') ? api.listEndpoints({}, { signal }).then((answer) => answer.endpoints) : [],
        may('templates:read') ? api.listTemplates({}, { signal }).then((answer) => answer.templates) : [],
      ])
      return { pods, endpoints, templates }
    },
    { everyMs: 0 },
  )
  return (
    <Face of={users}>
      {(found) => {
        const uses = usesOf(of, found)
        if (uses.length === 0) return <p>Nothing that you may see uses it.</p>
        return (
          <div>
            <p className="text-warn font-medium">In use by:</p>
            <ul className="list-disc pl-5">
              {uses.map((use) => (
                <li key={use}>{use}</li>
              ))}
            </ul>
          </div>
        )
      }}
    </Face>
  )
}
