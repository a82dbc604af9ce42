import { type ReactNode, useState } from 'react'
import { Button } from '../button.tsx'
import type { CopiedCall } from '../copy/copy-as.ts'
import { CopyAs } from '../copy/copy-as.tsx'
import { TextField } from '../form/field.tsx'
import { Plan, type PlannedCall } from '../plan/plan.tsx'
import { Dialog } from './dialog.tsx'

interface ConfirmProps {
  title: string
  /** What the button says that does it. */
  verb: string
  isOpen: boolean
  isBusy: boolean
  onClose: () => void
  onConfirm: () => void
  /** Where data is lost: this has to be typed first (C-7). */
  typed?: string | undefined
  /** Why it cannot be done, as the plan says. */
  disabledReason?: string | undefined
  /** The change: its plan is shown as soon as it is asked about. */
  plan?: PlannedCall | undefined
  /** The change where it has no plan of its own, or is several. */
  copied?: CopiedCall | readonly CopiedCall[] | undefined
  /** What else there is to know. */
  children?: ReactNode
}

/** Asks before something that cannot be undone. */
export function Confirm({
  title,
  verb,
  isOpen,
  isBusy,
  onClose,
  onConfirm,
  typed,
  disabledReason,
  plan,
  copied = plan,
  children,
}: ConfirmProps) {
  const [text, setText] = useState('')
  const missing = typed !== undefined && text !== typed ? `Type ${typed} first.` : undefined
  return (
    <Dialog
      title={title}
      isOpen={isOpen}
      onClose={onClose}
      actions={
        <>
          {copied !== undefined && <CopyAs call={copied} />}
          <Button onClick={onClose}>Keep it</Button>
          <Button kind="danger" isBusy={isBusy} disabledReason={disabledReason ?? missing} onClick={onConfirm}>
            {verb}
          </Button>
        </>
      }
    >
      {children}
      {isOpen && plan !== undefined && <Plan of={plan} />}
      {typed !== undefined && (
        <TextField label={`Type ${typed} to go on`} autoComplete="off" value={text} onChange={(event) => setText(event.target.value)} />
      )}
    </Dialog>
  )
}
