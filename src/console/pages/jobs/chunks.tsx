import { count } from '../../parts/format.ts'
import { Pre } from '../../parts/pre.tsx'
import { ErrorState } from '../../parts/view-state.tsx'
import { type JobStream, useJobStream } from './job-stream.ts'

/** Streamed output of a job, updated as it arrives. */
export function Chunks({ endpointId, jobId }: { endpointId: string; jobId: string }) {
  const stream = useJobStream(endpointId, jobId)
  return (
    <div className="flex flex-col gap-2">
      {stream.error && <ErrorState error={stream.error} />}
      {stream.total === 0 && (
        <p className="text-soft">
          {stream.record === null ? 'No chunks yet. They appear here as they arrive.' : 'The job has streamed no chunks.'}
        </p>
      )}
      <ChunkText of={stream} />
    </div>
  )
}

/** Chunks are concatenated if all are text, else shown one per line. */
export function ChunkText({ of: { chunks, total } }: { of: JobStream }) {
  if (total === 0) return null
  const isText = chunks.every(({ output }) => typeof output === 'string')
  return (
    <section aria-label="Chunks" className="flex flex-col gap-2">
      <Pre>{chunks.map(({ output }) => (typeof output === 'string' ? output : JSON.stringify(output))).join(isText ? '' : '\n')}</Pre>
      <output className="text-soft text-xs">
        {count(total, 'chunk')}
        {total > chunks.length ? `, the newest ${chunks.length} shown` : ''}
      </output>
    </section>
  )
}
