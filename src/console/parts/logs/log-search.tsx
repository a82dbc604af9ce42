import { useEffect, useMemo, useRef, useState } from 'react'
import { useAct } from '../../hooks/act.ts'
import { Button } from '../button.tsx'
import { CheckField, TextField } from '../form/field.tsx'
import { Form } from '../form/form.tsx'
import { count } from '../format.ts'
import type { ShownLine } from './reading/lines.ts'
import { hitBeside, hitsIn, nextHit } from './search.ts'

/** Pause after typing before a search starts, milliseconds. */
const DEBOUNCE_MS = 250

interface SearchProps {
  lines: readonly ShownLine[]
  activeId: string
  query: string
  onQuery: (query: string) => void
  /** Whether only matching lines are shown. */
  isOnly: boolean
  onOnly: (isOnly: boolean) => void
  goTo: (index: number) => void
  /** Finds and shows a hit outside the loaded lines; resolves to whether there is one. */
  seek: (query: string, isBackwards: boolean) => Promise<boolean>
}

/**
 * Search in the log: first in the loaded lines, then on the plane. Hits are numbered; Enter goes to the next, Shift+Enter to the previous
 * one.
 */
export function LogSearch({ lines, activeId, query, onQuery, isOnly, onOnly, goTo, seek }: SearchProps) {
  const [text, setText] = useState(query)
  const { isBusy, run } = useAct()
  const notify = useRef(onQuery)
  notify.current = onQuery
  useEffect(() => {
    if (text === query) return
    const timer = setTimeout(() => notify.current(text), DEBOUNCE_MS)
    return () => clearTimeout(timer)
  }, [text, query])
  const hits = useMemo(() => hitsIn(lines, query), [lines, query])
  const active = useMemo(() => lines.findIndex(({ id }) => id === activeId), [lines, activeId])
  const number = hits.indexOf(active) + 1
  const go = async (isBackwards: boolean) => {
    if (text === '' || isBusy) return
    if (text !== query) onQuery(text)
    const here = text === query ? hits : hitsIn(lines, text)
    const from = active < 0 ? lines.length : active
    const beside = hitBeside(here, from, isBackwards)
    if (beside !== undefined) return goTo(beside)
    let round = nextHit(here, from, isBackwards)
    await run(async () => {
      if (await seek(text, isBackwards)) round = undefined
    }, null)
    if (round !== undefined) goTo(round)
  }
  return (
    <Form onSubmit={() => go(false)} className="flex min-w-0 flex-wrap items-end gap-2">
      <TextField
        label="Search"
        type="search"
        autoComplete="off"
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !event.shiftKey) return
          event.preventDefault()
          void go(true)
        }}
      />
      {query !== '' && (
        <>
          <output className="text-soft py-1.5 whitespace-nowrap tabular-nums" aria-live="polite">
            {isBusy
              ? 'Searching…'
              : hits.length === 0
                ? 'No matches'
                : number > 0
                  ? `${number} of ${hits.length}`
                  : count(hits.length, 'match', 'matches')}
          </output>
          <Button kind="quiet" isBusy={isBusy} aria-label="Previous match" onClick={() => void go(true)}>
            ↑
          </Button>
          <Button kind="quiet" isBusy={isBusy} aria-label="Next match" onClick={() => void go(false)}>
            ↓
          </Button>
          <span className="py-1.5">
            <CheckField label="Only matching lines" checked={isOnly} onChange={({ target }) => onOnly(target.checked)} />
          </span>
        </>
      )}
    </Form>
  )
}
