import { type ReactNode, useState } from 'react'
import { useApi } from '../../hooks/session.ts'
import { useSubmit } from '../../hooks/submit.ts'
import { Button } from '../button.tsx'
import type { CopiedCall } from '../copy/call-texts.ts'
import { CopyAs } from '../copy/copy-as.tsx'
import { Dialog } from '../dialog.tsx'
import { Form, inputsOf } from '../form/form.tsx'

interface FormDialogProps<Text extends object, Answer> {
  /** Label of the button. */
  title: string
  /** Accessible name, where several buttons have the same label. */
  name?: string | undefined
  /** Title of the dialog; by default the name of the button. */
  heading?: string
  verb: string
  isPrimary?: boolean
  noRight: string | undefined
  text: Text
  /** Receives the text with a changed field. */
  onChange: (text: Text) => void
  call: CopiedCall
  send: () => Promise<Answer>
  done: string
  refresh: string
  onOpen?: () => void
  /** Called with the answer after the dialog has closed. */
  onDone?: (answer: Answer) => void
  children: (input: ReturnType<typeof inputsOf<Text>>['input']) => ReactNode
}

/** Button that opens a small form in a dialog. */
export function FormDialog<Text extends object, Answer>(props: FormDialogProps<Text, Answer>) {
  const { title, name, heading = name ?? title, text } = props
  const { refresh } = useApi()
  const { isBusy, errors, refusal, send } = useSubmit()
  const [isOpen, setIsOpen] = useState(false)
  const { input } = inputsOf(text, (part) => props.onChange({ ...text, ...part }), errors)
  const submit = async () => {
    if (isBusy) return
    const done = await send(async () => ({ answer: await props.send() }), props.done)
    if (done === undefined) return
    setIsOpen(false)
    props.onDone?.(done.answer)
    await refresh(props.refresh)
  }
  const open = () => {
    props.onOpen?.()
    setIsOpen(true)
  }
  return (
    <>
      <Button kind={props.isPrimary ? 'primary' : 'plain'} aria-label={name} disabledReason={props.noRight} onClick={open}>
        {title}
      </Button>
      <Dialog title={heading} isOpen={isOpen} onClose={() => setIsOpen(false)}>
        <Form onSubmit={submit} refusal={refusal} className="flex flex-col gap-4">
          {props.children(input)}
          <div className="flex flex-wrap justify-end gap-2">
            <CopyAs call={props.call} />
            <Button onClick={() => setIsOpen(false)}>Cancel</Button>
            <Button type="submit" kind="primary" isBusy={isBusy}>
              {props.verb}
            </Button>
          </div>
        </Form>
      </Dialog>
    </>
  )
}
