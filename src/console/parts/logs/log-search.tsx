import { useEffect, useMemo, useRef, useState } from 'react'
import { Button } from '../button.tsx'
import { TextField } from '../form/field.tsx'
import { count } from '../format.ts'
import type { ShownLine } from './buffer.ts'
import { hitsIn, nextHit } from './search.ts'

/** Typing is not one search a letter. */
const SETTLED_MS = 250

interface SearchProps {
  lines: readonly ShownLine[]
  activeId: string
  query: string
  onQuery: (query: string) => void
  goTo: (index: number) => void
}

/** Searches what is shown; hits are numbered, Enter goes to the next and with Shift to the one before. */
export function LogSearch({ lines, activeId, query, onQuery, goTo }: SearchProps) {
  const [text, setText] = useState(query)
  const tell = useRef(onQuery)
  tell.current = onQuery
  useEffect(() => {
    if (text === query) return
    const timer = setTimeout(() => tell.current(text), SETTLED_MS)
    return () => clearTimeout(timer)
  }, [text, query])
  const hits = useMemo(() => hitsIn(lines, query), [lines, query])
  const active = useMemo(() => lines.findIndex(({ id }) => id === activeId), [lines, activeId])
  const number = hits.indexOf(active) + 1
  const go = (isBackwards: boolean) => {
    if (text !== query) onQuery(text)
    const found = nextHit(text === query ? hits : hitsIn(lines, text), active < 0 ? lines.length : active, isBackwards)
    if (found !== undefined) goTo(found)
  }
  return (
    <form
      className="flex min-w-0 items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        go(false)
      }}
    >
      <TextField
        label="Search"
        type="search"
        autoComplete="off"
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !event.shiftKey) return
          event.preventDefault()
          go(true)
        }}
      />
      {query !== '' && (
        <>
          <output className="text-soft py-1.5 whitespace-nowrap tabular-nums" aria-live="polite">
            {hits.length === 0 ? 'No hits' : number > 0 ? `${number} of ${hits.length}` : count(hits.length, 'hit')}
          </output>
          <Button kind="quiet" aria-label="Hit before" onClick={() => go(true)}>
            ↑
          </Button>
          <Button kind="quiet" aria-label="Next hit" onClick={() => go(false)}>
            ↓
          </Button>
        </>
      )}
    </form>
  )
}
