import { useEffect, useRef, useState } from 'react'
import { claimStream } from '../../../hooks/one-stream.ts'
import { useApi } from '../../../hooks/session.ts'
import { Button } from '../../../parts/button.tsx'
import { CopyAs } from '../../../parts/copy/copy-as.tsx'
import { TextArea, TextField } from '../../../parts/form/field.tsx'
import { Form } from '../../../parts/form/form.tsx'
import { Panel } from '../../../parts/page.tsx'
import { ErrorState } from '../../../parts/view-state.tsx'
import { chatText } from './try-input.ts'

interface Message {
  role: 'user' | 'assistant'
  content: string
}

const MAY_NOT = 'Your role in this account may not send requests.'

/** Chat with a worker that implements the OpenAI API; the answer is shown as it arrives. */
export function Chat({ endpointId }: { endpointId: string }) {
  const { api, may } = useApi()
  const [model, setModel] = useState('default')
  const [text, setText] = useState('')
  const [messages, setMessages] = useState<Message[]>([])
  const [error, setError] = useState<Error | null>(null)
  const running = useRef<AbortController | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  useEffect(() => () => running.current?.abort(), [])
  const path = `/v2/${encodeURIComponent(endpointId)}/openai/v1/chat/completions`
  const asked: Message[] = text.trim() === '' ? messages : [...messages, { role: 'user', content: text.trim() }]
  const body = { model, messages: asked, stream: true }
  const reason = !may('jobs:write') ? MAY_NOT : text.trim() === '' ? 'Enter a message.' : undefined
  const submit = async () => {
    if (reason !== undefined || isBusy) return
    const abort = new AbortController()
    running.current = abort
    const release = claimStream(() => abort.abort())
    setIsBusy(true)
    setError(null)
    setText('')
    setMessages([...asked, { role: 'assistant', content: '' }])
    let answer = ''
    try {
      for await (const { data } of api.events('POST', path, body, { signal: abort.signal })) {
        answer += chatText(data) ?? ''
        setMessages([...asked, { role: 'assistant', content: answer }])
      }
    } catch (failure) {
      if (!abort.signal.aborted) setError(failure instanceof Error ? failure : new Error(String(failure)))
    } finally {
      release()
      setIsBusy(false)
    }
  }
  return (
    <Panel title="Chat">
      <div className="flex flex-col gap-3">
        <ol className="flex flex-col gap-2" aria-live="polite" aria-busy={isBusy}>
          {messages.map(({ role, content }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: messages are only added.
            <li key={index} className={`rounded-md p-3 whitespace-pre-wrap ${role === 'user' ? 'bg-raised' : 'bg-info-bg'}`}>
              <span className="text-soft block text-xs">{role === 'user' ? 'You' : 'Assistant'}</span>
              {content || '…'}
            </li>
          ))}
        </ol>
        {error && <ErrorState error={error} />}
        <Form onSubmit={submit}>
          <TextArea label="Message" rows={3} value={text} onChange={({ target }) => setText(target.value)} />
          <div className="max-w-xs">
            <TextField
              label="Model"
              autoComplete="off"
              spellCheck={false}
              value={model}
              hint="The model name that the worker uses."
              onChange={({ target }) => setModel(target.value)}
            />
          </div>
          <div className="flex flex-wrap gap-2">
            <Button type="submit" kind="primary" isBusy={isBusy} disabledReason={reason}>
              Send
            </Button>
            {isBusy && <Button onClick={() => running.current?.abort()}>Stop</Button>}
            <CopyAs call={{ method: 'POST', path, body }} />
          </div>
        </Form>
      </div>
    </Panel>
  )
}
