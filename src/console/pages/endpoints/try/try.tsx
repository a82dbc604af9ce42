import { useUrlState } from '../../../hooks/url-state.ts'
import { SelectField } from '../../../parts/form/field.tsx'
import { Chat } from './chat.tsx'
import { TryJob } from './try-job.tsx'

/** Form that sends one request: a job, or a chat if the worker implements the OpenAI API. */
export function Try({ endpointId }: { endpointId: string }) {
  const [kind, setKind] = useUrlState('as', 'job')
  return (
    <div className="flex flex-col gap-4">
      <div className="max-w-xs">
        <SelectField label="Send" value={kind} onChange={({ target }) => setKind(target.value)}>
          <option value="job">A job</option>
          <option value="chat">A chat (OpenAI API)</option>
        </SelectField>
      </div>
      {kind === 'chat' ? <Chat endpointId={endpointId} /> : <TryJob endpointId={endpointId} />}
    </div>
  )
}
