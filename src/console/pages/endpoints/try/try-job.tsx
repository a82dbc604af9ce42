import { useState } from 'react'
import { paths } from '../../../hooks/paths.ts'
import { useApi } from '../../../hooks/session.ts'
import { useSubmit } from '../../../hooks/submit.ts'
import { TextArea } from '../../../parts/form/field.tsx'
import { Form, Submit } from '../../../parts/form/form.tsx'
import { duration } from '../../../parts/format.ts'
import { A } from '../../../parts/link.tsx'
import { Panel } from '../../../parts/page.tsx'
import { State } from '../../../parts/state.tsx'
import { ErrorState } from '../../../parts/view-state.tsx'
import { ChunkText } from '../../jobs/chunks.tsx'
import { type JobBody, useJobStream } from '../../jobs/job-stream.ts'
import { JsonText } from '../../jobs/json-text.tsx'
import { readInput } from './try-input.ts'

const FIRST = '{\n  "prompt": "hello"\n}'
const MAY_NOT = 'Your role in this account may not send jobs.'

/** Form that sends a job and shows its progress and result. */
export function TryJob({ endpointId }: { endpointId: string }) {
  const { api, may, refresh } = useApi()
  const { isBusy, errors, refusal, send } = useSubmit()
  const [text, setText] = useState(FIRST)
  const [jobId, setJobId] = useState<string | null>(null)
  const read = readInput(text)
  const body: JobBody = { input: read.ok ? read.input : {} }
  const reason = !may('jobs:write') ? MAY_NOT : read.ok ? undefined : read.problem
  const submit = async () => {
    if (reason !== undefined || isBusy) return
    setJobId(null)
    const job = await send(() => api.runJob({ path: { endpointId }, body }), 'The job is sent')
    if (job !== undefined) setJobId(job.id)
    await refresh('health', endpointId)
  }
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Panel title="Request">
        <Form onSubmit={submit} refusal={refusal}>
          <TextArea
            label="Input"
            rows={10}
            spellCheck={false}
            value={text}
            error={read.ok ? errors.of('input') : read.problem}
            onChange={({ target }) => setText(target.value)}
          />
          <Submit isBusy={isBusy} disabledReason={reason} call={{ method: 'POST', path: `/v2/${endpointId}/runsync`, body }}>
            Send
          </Submit>
        </Form>
      </Panel>
      <Panel title="Response">
        {jobId === null ? (
          <p className="text-soft">The output appears here as it arrives.</p>
        ) : (
          <Answer endpointId={endpointId} jobId={jobId} />
        )}
      </Panel>
    </div>
  )
}

function Answer({ endpointId, jobId }: { endpointId: string; jobId: string }) {
  const stream = useJobStream(endpointId, jobId)
  const { record } = stream
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-3" aria-live="polite">
        <State value={record?.status ?? (stream.total > 0 ? 'IN_PROGRESS' : 'IN_QUEUE')} />
        {record?.delayTime !== undefined && <span>queue time {duration(record.delayTime)}</span>}
        {record?.executionTime !== undefined && <span>run time {duration(record.executionTime)}</span>}
        <A to={paths.job(endpointId, jobId)}>Open the job</A>
      </div>
      {stream.error && <ErrorState error={stream.error} />}
      <ChunkText of={stream} />
      {record?.error !== undefined && <JsonText value={record.error} name="the error" />}
      {record?.output !== undefined && <JsonText value={record.output} name="the output" />}
    </div>
  )
}
