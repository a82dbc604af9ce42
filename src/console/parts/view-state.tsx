import type { ReactNode } from 'react'
import { ApiError, ConnectionError } from '../../client/errors.ts'
import type { Live } from '../hooks/live.ts'
import { sentenceOf, titleOf } from '../hooks/sentence.ts'
import { Button } from './button.tsx'
import { CopyButton } from './copy/copy.tsx'
import { duration } from './format.ts'
import { useNow } from './time.tsx'

interface ViewStateProps<Data> {
  of: Live<Data>
  /** Content for an empty view. */
  empty?: { when: (data: Data) => boolean; show: ReactNode }
  children: (data: Data) => ReactNode
}

/**
 * A view in one of its four states (UI-7): loading, empty, error, or data, with a notice when the data is stale. Stale data stays visible
 * while it is refreshed.
 */
export function ViewState<Data>({ of: { data, error, isStale, updatedAtMs, refetch }, empty, children }: ViewStateProps<Data>) {
  if (data === undefined) return error === null ? <Loading /> : <ErrorState error={error} retry={refetch} />
  return (
    <>
      {isStale && <Stale error={error} updatedAtMs={updatedAtMs} retry={refetch} />}
      {empty?.when(data) ? empty.show : children(data)}
    </>
  )
}

/** Shows a placeholder while data loads; screen readers read `what` out. */
export function Loading({ what = 'Loading' }: { what?: string }) {
  return (
    <output className="text-soft flex animate-pulse flex-col gap-2 py-2" aria-live="polite">
      <span className="sr-only">{what}…</span>
      <span className="bg-raised h-4 w-2/3 rounded" />
      <span className="bg-raised h-4 w-1/2 rounded" />
      <span className="bg-raised h-4 w-3/5 rounded" />
    </output>
  )
}

/** Text for an empty list, with a command that creates the first entry. */
export interface EmptyProps {
  title: string
  command?: string
  children?: ReactNode
}

/** Empty state: a title and the command or button that creates the first item. */
export function Empty({ title, command, children }: EmptyProps) {
  return (
    <div className="text-soft flex flex-col items-start gap-3 py-4">
      <p className="text-ink font-medium">{title}</p>
      {children}
      {command !== undefined && <Command text={command} />}
    </div>
  )
}

/** Shell command with a copy button. */
export function Command({ text }: { text: string }) {
  return (
    <div className="bg-raised flex max-w-full items-center gap-2 rounded-md p-2">
      {/* Long lines wrap so that users can read the whole command before they run it, also on a phone. */}
      <pre className="min-w-0 font-mono text-xs break-words whitespace-pre-wrap">{text}</pre>
      <CopyButton text={text} what="the command" />
    </div>
  )
}

/** Shows an error of the plane or of the connection, with a button to retry where `retry` is set. */
export function ErrorState({ error, retry }: { error: Error; retry?: () => void }) {
  const isProblem = error instanceof ApiError
  if (isProblem && isOfRole(error)) return <p className="text-soft py-2">Your role in this account does not see this.</p>
  return (
    <div role="alert" className="bg-bad-bg flex flex-col items-start gap-2 rounded-md p-3">
      <p className="text-bad font-medium">{titleOf(error)}</p>
      {isProblem && error.errors.length > 0 && (
        <ul className="list-disc pl-5">
          {error.errors.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )}
      {isProblem && error.requestId !== undefined && <p className="text-soft font-mono text-xs">Request {error.requestId}</p>}
      {error instanceof ConnectionError && <p>{error.message}</p>}
      {retry && <Button onClick={retry}>Try again</Button>}
    </div>
  )
}

/** Whether the session lacks a right: nothing is broken, and a repetition would not help. */
function isOfRole({ status, errors }: ApiError): boolean {
  return status === 403 && errors.some((line) => line.includes('lacks the scope'))
}

function Stale({ error, updatedAtMs, retry }: { error: Error | null; updatedAtMs: number; retry: () => void }) {
  const nowMs = useNow(5_000)
  return (
    <output className="bg-warn-bg text-warn mb-3 flex flex-wrap items-center gap-3 rounded-md px-3 py-1.5">
      <span>
        Last updated {duration(Math.max(nowMs, Date.now()) - updatedAtMs)} ago{error === null ? '' : `: ${sentenceOf(error)}`}
      </span>
      <Button kind="quiet" onClick={retry}>
        Refresh
      </Button>
    </output>
  )
}
