import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { useUrlState } from '../../hooks/url-state.ts'
import { Button } from '../button.tsx'
import { CopyAs } from '../copy/copy-as.tsx'
import { CheckField } from '../form/field.tsx'
import { ErrorState } from '../view-state.tsx'
import { LogFilters } from './log-filters.tsx'
import { LogFooter } from './log-footer.tsx'
import { type LinesHandle, LogLines } from './log-lines.tsx'
import { LogPager } from './log-pager.tsx'
import { LogSearch } from './log-search.tsx'
import type { LogState } from './reading/follower.ts'
import type { LogOrigin } from './reading/origins.ts'
import { saveLines } from './save-lines.ts'
import { useAnnouncement } from './use-announcement.ts'
import { useFollower } from './use-follower.ts'
import { usePages } from './use-pages.ts'

/** Log view: follows the log while the tab is visible, searches on the plane, and links to each line (UI-40 to UI-43, UI-52, UI-53). */
export function LogView({ of: given }: { of: LogOrigin }) {
  // A page makes its origin anew with each poll. The log of one key is read once: another key makes another view.
  const [of] = useState(given)
  const [source, setSource] = useUrlState('source', '')
  const [since, setSince] = useUrlState('since', '')
  const [wrap, setWrap] = useUrlState('wrap', '')
  const [query, setQuery] = useUrlState('q', '')
  const [only, setOnly] = useUrlState('only', '')
  const [lineId, setLineId] = useUrlState('line', '')
  const [activeId, setActiveId] = useState(lineId)
  // Line at which the view was opened; choosing another line later does not reload.
  const [around, setAround] = useState(lineId)
  const { follower, query: asked } = useFollower(of, { source, since, text: only === '' ? '' : query, around })
  const state = useSyncExternalStore(follower.subscribe, follower.snapshot)
  const view = useRef<LinesHandle>(null)
  const link = (id: string) => {
    setActiveId(id)
    setLineId(id)
  }
  // Scrolls once to a linked line, as soon as it is loaded.
  const [sought, setSought] = useState(lineId)
  useEffect(() => {
    if (sought === '') return
    const index = state.lines.findIndex(({ id }) => id === sought)
    if (index < 0) return
    setSought('')
    view.current?.goTo(index)
  }, [sought, state.lines])
  const openAround = (id: string) => {
    link(id)
    setAround(id)
    setSought(id)
  }
  const pages = usePages(follower)
  const seek = async (text: string, isBackwards: boolean) => {
    const found = await pages.unlessGone(follower.seek(text, isBackwards, pages.signal()))
    if (found) openAround(found.id)
    return found != null
  }
  const announcement = useAnnouncement(state)
  return (
    <section aria-label={`Log of ${of.title}`} className="flex min-w-0 flex-col gap-3">
      <div className="flex flex-wrap items-end gap-3">
        <LogSearch
          lines={state.lines}
          activeId={activeId}
          query={query}
          onQuery={setQuery}
          isOnly={only !== ''}
          onOnly={(isOnly) => {
            setOnly(isOnly ? '1' : '')
            // Leaving the hits-only view shows the lines around the active hit.
            setAround(isOnly ? '' : activeId)
            setSought(isOnly ? '' : activeId)
          }}
          goTo={(index) => view.current?.goTo(index)}
          seek={seek}
        />
        <LogFilters
          source={source}
          since={of.span === undefined ? since : null}
          onSource={(value) => {
            setSource(value)
            setAround('')
          }}
          onSince={(value) => {
            setSince(value)
            setAround('')
          }}
        />
        <div className="pb-2">
          <CheckField label="Wrap lines" checked={wrap === '1'} onChange={({ target }) => setWrap(target.checked ? '1' : '')} />
        </div>
        <Button kind="quiet" disabledReason={noLines(state)} onClick={() => saveLines(of.title, state.lines)}>
          Save as file
        </Button>
        <CopyAs call={{ method: 'GET', path: pathOf(of, asked), ...(of.command && { command: `${of.command} --follow` }) }} />
      </div>
      {state.status === 'failed' && state.error && <ErrorState error={state.error} retry={() => follower.start()} />}
      {sought !== '' && (state.status === 'following' || state.status === 'paused') && state.lines.length > 0 && (
        <p className="text-soft">The linked line is not retained.</p>
      )}
      <LogPager state={state} pages={pages} onNewest={() => setAround('')} />
      {state.lines.length === 0 && state.status !== 'failed' ? (
        <p className="border-line text-soft rounded-lg border p-4">{emptyText(state, only === '' ? '' : query)}</p>
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
          onTop={pages.older}
          onEnd={pages.newer}
          workerPath={of.workerPath}
        />
      )}
      <LogFooter state={state} onFollow={() => follower.start(true)} onPause={() => follower.stop()} />
      <output className="sr-only" aria-live="polite">
        {announcement}
      </output>
    </section>
  )
}

const noLines = ({ lines }: LogState) => (lines.length === 0 ? 'There are no lines.' : undefined)

function emptyText({ status, older }: LogState, text: string): string {
  if (status === 'connecting') return 'Reading lines…'
  if (status === 'ended') return 'The log is empty.'
  if (text !== '') return older === null ? `No line contains “${text}”.` : `No line contains “${text}” in the part that was searched.`
  return 'No lines yet. They appear here as they are written.'
}

function pathOf(of: LogOrigin, asked: Record<string, unknown>): string {
  const query = new URLSearchParams(Object.entries(asked).map(([name, value]) => [name, String(value)]))
  return query.size === 0 ? of.path : `${of.path}?${query}`
}
