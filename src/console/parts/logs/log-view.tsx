import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { useApi } from '../../app/session.ts'
import { useUrlState } from '../../app/url-state.ts'
import { Button } from '../button.tsx'
import { CopyAs } from '../copy/copy-as.tsx'
import { ErrorFace } from '../faces.tsx'
import { CheckField, SelectField } from '../form/field.tsx'
import { count } from '../format.ts'
import { LogFollower, type LogState } from './follower.ts'
import { type LinesHandle, LogLines } from './log-lines.tsx'
import { LogSearch } from './log-search.tsx'
import type { LogOrigin } from './origins.ts'
import { logQuery, SINCE_CHOICES } from './since.ts'
import { useAnnouncement } from './use-announcement.ts'

/** A log: followed while somebody sees it, searched, with a link to each line (UI-40 to UI-43). */
export function LogView({ of }: { of: LogOrigin }) {
  const [source, setSource] = useUrlState('source', '')
  const [since, setSince] = useUrlState('since', '')
  const [wrap, setWrap] = useUrlState('wrap', '')
  const [query, setQuery] = useUrlState('q', '')
  const [lineId, setLineId] = useUrlState('line', '')
  const [activeId, setActiveId] = useState(lineId)
  const { follower, request } = useFollower(of, since, source, lineId)
  const state = useSyncExternalStore(follower.subscribe, follower.snapshot)
  const view = useRef<LinesHandle>(null)
  const link = (id: string) => {
    setActiveId(id)
    setLineId(id)
  }
  // A line that is linked to is gone to once, as soon as it is there.
  const [isSought, setIsSought] = useState(lineId !== '')
  useEffect(() => {
    if (!isSought) return
    const index = state.lines.findIndex(({ id }) => id === lineId)
    if (index < 0) return
    setIsSought(false)
    view.current?.goTo(index)
  }, [isSought, lineId, state.lines])
  const announcement = useAnnouncement(state)
  return (
    <section aria-label={`Log of ${of.title}`} className="flex min-w-0 flex-col gap-3">
      <div className="flex flex-wrap items-end gap-3">
        <LogSearch lines={state.lines} activeId={activeId} query={query} onQuery={setQuery} goTo={(index) => view.current?.goTo(index)} />
        <SelectField label="Source" value={source} onChange={({ target }) => setSource(target.value)}>
          <option value="">Container and system</option>
          <option value="container">Container</option>
          <option value="system">System</option>
        </SelectField>
        <SelectField label="Since" value={since} onChange={({ target }) => setSince(target.value)}>
          {SINCE_CHOICES.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </SelectField>
        <CheckField label="Wrap lines" checked={wrap === '1'} onChange={({ target }) => setWrap(target.checked ? '1' : '')} />
        <CopyAs call={{ method: 'GET', path: pathOf(of, request), command: `${of.command} --follow` }} />
      </div>
      {state.status === 'failed' && state.error && <ErrorFace error={state.error} retry={() => follower.start()} />}
      {isSought && state.status === 'following' && state.lines.length > 0 && (
        <p className="text-soft">The line that was linked to is not among those that are kept.</p>
      )}
      {state.lines.length === 0 && state.status !== 'failed' ? (
        <p className="border-line text-soft rounded-lg border p-4">{emptyWords(state)}</p>
      ) : (
        <LogLines
          ref={view}
          name={`Lines of ${of.title}`}
          lines={state.lines}
          query={query}
          isWrapped={wrap === '1'}
          activeId={activeId}
          onActive={setActiveId}
          onLink={link}
        />
      )}
      <Footer state={state} isWhole={source === ''} onFollow={() => follower.start()} onPause={() => follower.stop()} />
      <output className="sr-only" aria-live="polite">
        {announcement}
      </output>
    </section>
  )
}

function Footer({ state, isWhole, onFollow, onPause }: { state: LogState; isWhole: boolean; onFollow: () => void; onPause: () => void }) {
  const words = {
    connecting: 'Connecting',
    following: 'Following',
    paused: 'Paused',
    other: 'Another log is followed',
    failed: 'Not following',
  }
  const isOn = state.status === 'connecting' || state.status === 'following'
  return (
    <div className="text-soft flex flex-wrap items-center gap-3 text-xs">
      <Button kind="quiet" onClick={isOn ? onPause : onFollow}>
        {isOn ? 'Pause' : 'Follow'}
      </Button>
      <span>{words[state.status]}</span>
      <span>{count(state.lines.length, 'line')}</span>
      {isWhole && state.missed > 0 && <span>{count(state.missed, 'line')} came too quickly to be followed</span>}
      {state.dropped > 0 && <span>{count(state.dropped, 'older line')} let go</span>}
    </div>
  )
}

const emptyWords = ({ status }: LogState) =>
  status === 'connecting' ? 'Looking for lines…' : 'No lines yet. They appear here as they are written.'

function pathOf(of: LogOrigin, request: Record<string, unknown>): string {
  const query = new URLSearchParams(Object.entries(request).map(([name, value]) => [name, String(value)]))
  return `${of.path}?${query}`
}

/** A follower of this log, that rests while nobody sees the tab. */
function useFollower(of: LogOrigin, since: string, source: string, lineId: string) {
  const { api } = useApi()
  // A line that is chosen later changes nothing of what has been read.
  const [firstLine] = useState(lineId)
  const made = useMemo(() => {
    const request = logQuery(since, source, firstLine, Date.now())
    return { request, follower: new LogFollower((options) => of.follow(api, request, options)) }
  }, [api, of, since, source, firstLine])
  useEffect(() => {
    const { follower } = made
    const watch = () => (document.hidden ? follower.stop() : follower.start())
    watch()
    document.addEventListener('visibilitychange', watch)
    return () => {
      document.removeEventListener('visibilitychange', watch)
      follower.stop()
    }
  }, [made])
  return made
}
