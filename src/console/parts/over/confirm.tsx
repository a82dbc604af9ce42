import { type ReactNode, useState } from 'react'
import { Button } from '../button.tsx'
import type { CopiedCall } from '../copy/call-texts.ts'
import { CopyAs } from '../copy/copy-as.tsx'
import { Dialog } from '../dialog.tsx'
import { TextField } from '../form/field.tsx'
import { Plan, type PlannedCall } from '../plan/plan.tsx'

/** Props of a dialog that asks the user to confirm a change. */
export interface ConfirmProps {
  title: string
  /** Label of the confirming button. */
  verb: string
  isOpen: boolean
  isBusy: boolean
  onClose: () => void
  onConfirm: () => void
  /** Text that the user has to type first, where data is lost (UI-20). */
  typed?: string | undefined
  /** Reason why the change is not possible, such as a refusal in its plan. */
  disabledReason?: string | undefined
  /** Change whose plan is shown when the dialog opens. */
  plan?: PlannedCall | undefined
  /** Calls for "copy as", where the change has no plan or consists of several. */
  copied?: CopiedCall | readonly CopiedCall[] | undefined
  /** Additional content. */
  children?: ReactNode
}

/** Confirmation dialog for a change that cannot be undone. */
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
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="danger" isBusy={isBusy} disabledReason={disabledReason ?? missing} onClick={onConfirm}>
            {verb}
          </Button>
        </>
      }
    >
      {children}
      {isOpen && plan !== undefined && <Plan of={plan} />}
      {typed !== undefined && (
        <TextField label={`Type ${typed} to continue`} autoComplete="off" value={text} onChange={(event) => setText(event.target.value)} />
      )}
    </Dialog>
  )
}
