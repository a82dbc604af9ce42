import { type FormEvent, type ReactNode, useState } from 'react'
import type { FieldErrors } from '../../hooks/field-errors.ts'
import { useRefresh } from '../../hooks/live.ts'
import { useSubmit } from '../../hooks/submit.ts'
import { Button } from '../../parts/button.tsx'
import type { CopiedCall } from '../../parts/copy/copy-as.ts'
import { CopyAs } from '../../parts/copy/copy-as.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Refusal } from '../../parts/form/refusal.tsx'

interface FormDialogProps {
  /** Title of the button and of its dialog. */
  title: string
  /** Accessible name, where several buttons have the same title. */
  name?: string
  verb: string
  isPrimary?: boolean
  noRight: string | undefined
  call: CopiedCall
  send: () => Promise<unknown>
  done: string
  refresh: string
  onOpen?: () => void
  children: (errors: FieldErrors) => ReactNode
}

/** Button that opens a small form in a dialog. */
export function FormDialog({
  title,
  name,
  verb,
  isPrimary = false,
  noRight,
  call,
  send,
  done,
  refresh,
  onOpen,
  children,
}: FormDialogProps) {
  const again = useRefresh()
  const { isBusy, errors, refusal, send: submit } = useSubmit()
  const [isOpen, setIsOpen] = useState(false)
  const submitForm = async (event: FormEvent) => {
    event.preventDefault()
    if (isBusy) return
    const isDone = await submit(async () => {
      await send()
      return true
    }, done)
    if (isDone !== true) return
    setIsOpen(false)
    await again(refresh)
  }
  const open = () => {
    onOpen?.()
    setIsOpen(true)
  }
  return (
    <>
      <Button kind={isPrimary ? 'primary' : 'plain'} aria-label={name} disabledReason={noRight} onClick={open}>
        {title}
      </Button>
      <Dialog title={name ?? title} isOpen={isOpen} onClose={() => setIsOpen(false)}>
        <form onSubmit={(event) => void submitForm(event)} className="flex flex-col gap-4">
          <Refusal text={refusal} />
          {children(errors)}
          <div className="flex flex-wrap justify-end gap-2">
            <CopyAs call={call} />
            <Button onClick={() => setIsOpen(false)}>Cancel</Button>
            <Button type="submit" kind="primary" isBusy={isBusy}>
              {verb}
            </Button>
          </div>
        </form>
      </Dialog>
    </>
  )
}
