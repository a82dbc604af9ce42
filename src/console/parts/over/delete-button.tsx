import type { ReactNode } from 'react'
import type { ApiClient } from '../../../client/client.ts'
import { ConfirmButton } from './confirm-button.tsx'

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
  return (
    <ConfirmButton
      title={`Delete ${name}?`}
      verb="Delete"
      name={`Delete ${name}`}
      disabledReason={noRight}
      act={remove}
      done={`${name} is deleted`}
      refresh={[refresh]}
      typed={losesData ? name : undefined}
      plan={{ method: 'DELETE', path }}
      onDone={onDone}
    >
      {children}
    </ConfirmButton>
  )
}
