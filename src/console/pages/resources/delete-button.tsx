import { type ReactNode, useState } from 'react'
import type { ApiClient } from '../../../client/client.ts'
import { useAct } from '../../hooks/act.ts'
import { useRefresh } from '../../hooks/live.ts'
import { useApi } from '../../hooks/session.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/over/confirm.tsx'

interface DeleteButtonProps {
  name: string
  /** Address in the API. */
  path: string
  remove: (api: ApiClient) => Promise<unknown>
  /** Key of the data that is refreshed after the deletion. */
  refresh: string
  noRight: string | undefined
  /** Whether data is lost; the user then has to type the name. */
  losesData?: boolean
  onDone?: () => void
  children: ReactNode
}

/** Button that deletes a stored resource after the plan has shown what is lost and what uses it. */
export function DeleteButton({ name, path, remove, refresh, noRight, losesData = false, onDone, children }: DeleteButtonProps) {
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
          plan={{ method: 'DELETE', path }}
        >
          {children}
        </Confirm>
      )}
    </>
  )
}
