import { type ReactNode, useState } from 'react'
import type { ApiClient } from '../../../client/client.ts'
import { useApi } from '../../hooks/session.ts'
import { Button } from '../button.tsx'
import type { CopiedCall } from '../copy/call-texts.ts'
import { CopyAs } from '../copy/copy-as.tsx'
import { Dialog } from '../dialog.tsx'
import { Form, type inputsOf, useForm } from '../form/form.tsx'

interface FormDialogProps<Text extends object, Answer> {
  /** Label of the button. */
  title: string
  /** Accessible name, where several buttons have the same label. */
  name?: string | undefined
  /** Title of the dialog; by default the name of the button. */
  heading?: string
  verb: string
  isPrimary?: boolean
  noRight?: string | undefined
  /** Text of the form when the dialog opens. */
  start: Text
  /** Whether the dialog opens again with the text that it was closed with. */
  isKept?: boolean
  call: (text: Text) => CopiedCall
  send: (api: ApiClient, text: Text) => Promise<Answer>
  /** Message after a success. */
  done: string | ((text: Text) => string)
  refresh: string
  /** Called with the answer after the dialog has closed. */
  onDone?: (answer: Answer) => void
  children: (input: ReturnType<typeof inputsOf<Text>>['input'], text: Text) => ReactNode
}

/** Button that opens a small form in a dialog. */
export function FormDialog<Text extends object, Answer>(props: FormDialogProps<Text, Answer>) {
  const { title, name, heading = name ?? title, start } = props
  const { api, refresh } = useApi()
  const { isBusy, refusal, send, text, setText, input } = useForm(start)
  const [isOpen, setIsOpen] = useState(false)
  const submit = async () => {
    if (isBusy) return
    const done = await send(
      async () => ({ answer: await props.send(api, text) }),
      typeof props.done === 'string' ? props.done : props.done(text),
    )
    if (done === undefined) return
    setIsOpen(false)
    props.onDone?.(done.answer)
    await refresh(props.refresh)
  }
  const open = () => {
    if (!props.isKept) setText(start)
    setIsOpen(true)
  }
  return (
    <>
      <Button kind={props.isPrimary ? 'primary' : 'plain'} aria-label={name} disabledReason={props.noRight} onClick={open}>
        {title}
      </Button>
      <Dialog title={heading} isOpen={isOpen} onClose={() => setIsOpen(false)}>
        <Form onSubmit={submit} refusal={refusal} className="flex flex-col gap-4">
          {props.children(input, text)}
          <div className="flex flex-wrap justify-end gap-2">
            <CopyAs call={props.call(text)} />
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
