import type { QueryKey } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { ApiClient } from '../../../client/client.ts'
import { useAct } from '../../hooks/act.ts'
import { useApi } from '../../hooks/session.ts'
import { Button, type ButtonProps } from '../button.tsx'
import { Confirm, type ConfirmProps } from './confirm.tsx'

interface ConfirmButtonProps extends Pick<ConfirmProps, 'title' | 'verb' | 'typed' | 'plan' | 'copied' | 'children'> {
  /** Label of the button; by default the verb. */
  label?: string
  /** Accessible name, where several buttons have the same label. */
  name?: string
  kind?: ButtonProps['kind']
  disabledReason?: string | undefined
  act: (api: ApiClient) => Promise<unknown>
  done: string
  /** Key of the data that is refreshed afterwards, if any. */
  refresh?: QueryKey
  /** Called after a success. */
  onDone?: (() => void) | undefined
}

/** Button whose action runs after a confirmation. */
export function ConfirmButton({
  label,
  name,
  kind = 'danger',
  disabledReason,
  act,
  done,
  refresh,
  onDone,
  ...confirm
}: ConfirmButtonProps) {
  const { api, refresh: again } = useApi()
  const { isBusy, run } = useAct()
  const [isAsked, setIsAsked] = useState(false)
  const carryOut = async () => {
    const isDone = await run(() => act(api), done)
    setIsAsked(false)
    if (isDone) onDone?.()
    if (refresh !== undefined) await again(...refresh)
  }
  return (
    <>
      <Button kind={kind} aria-label={name} disabledReason={disabledReason} onClick={() => setIsAsked(true)}>
        {label ?? confirm.verb}
      </Button>
      {isAsked && <Confirm isOpen isBusy={isBusy} onClose={() => setIsAsked(false)} onConfirm={() => void carryOut()} {...confirm} />}
    </>
  )
}

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
