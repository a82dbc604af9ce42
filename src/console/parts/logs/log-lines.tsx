import { useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, useEffect, useId, useImperativeHandle, useLayoutEffect, useRef, useState } from 'react'
import { Button } from '../button.tsx'
import { count } from '../format.ts'
import { LogLine } from './log-line.tsx'
import type { ShownLine } from './reading/lines.ts'

const ROW_PX = 20
const NEAR_END_PX = 2 * ROW_PX
const NEAR_TOP_PX = 10 * ROW_PX
const OVERSCAN = 20

/** Scrolls a shown log to the line at an index, counted from 0. */
export interface LinesHandle {
  goTo: (index: number) => void
}

interface LinesProps {
  name: string
  lines: readonly ShownLine[]
  query: string
  isWrapped: boolean
  /** Id of the active line. */
  activeId: string
  onActive: (id: string) => void
  onLink: (id: string) => void
  /** Called when the user has scrolled to the first or to the last line. */
  onTop: () => void
  onEnd: () => void
  workerPath?: ((workerId: string) => string) | undefined
  ref: React.Ref<LinesHandle>
}

/** Line at the upper edge of the viewport. */
interface Anchor {
  id: string
  index: number
  offsetPx: number
}

/**
 * All lines of a log; only the visible ones are rendered. It stays at the end until the user scrolls up. It is one tab stop: arrow keys
 * move the active line, Enter puts its id into the address.
 */
export function LogLines({ name, lines, query, isWrapped, activeId, onActive, onLink, onTop, onEnd, workerPath, ref }: LinesProps) {
  const id = useId()
  const box = useRef<HTMLDivElement>(null)
  const [isAtEnd, setIsAtEnd] = useState(activeId === '')
  const seen = useRef('')
  const anchor = useRef<Anchor | null>(null)
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    getItemKey: (index) => lines[index]?.id ?? index,
  })
  if (isAtEnd) seen.current = lines.at(-1)?.id ?? ''
  useLayoutEffect(() => {
    if (isAtEnd && box.current) box.current.scrollTop = box.current.scrollHeight
  })
  // Lines that are added or dropped at the beginning must not move the visible lines.
  useLayoutEffect(() => {
    const held = anchor.current
    if (isAtEnd || held === null || !box.current || lines[held.index]?.id === held.id) return
    const index = lines.findIndex(({ id: one }) => one === held.id)
    const start = index < 0 ? undefined : rows.getOffsetForIndex(index, 'start')?.[0]
    if (start === undefined) return
    held.index = index
    box.current.scrollTop = start + held.offsetPx
  }, [lines, isAtEnd, rows])
  const scrolled = ({ scrollHeight, scrollTop, clientHeight }: HTMLElement) => {
    const isEnd = scrollHeight - scrollTop - clientHeight < NEAR_END_PX
    setIsAtEnd(isEnd)
    const first = rows.getVirtualItems().find(({ end }) => end > scrollTop)
    const line = first && lines[first.index]
    anchor.current = line ? { id: line.id, index: first.index, offsetPx: scrollTop - first.start } : null
    if (isEnd) onEnd()
    else if (scrollTop < NEAR_TOP_PX) onTop()
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows are measured anew when they wrap otherwise, and only then.
  useEffect(() => rows.measure(), [isWrapped])
  const goTo = (index: number) => {
    setIsAtEnd(false)
    rows.scrollToIndex(index, { align: 'center' })
    const line = lines[index]
    if (line) onActive(line.id)
  }
  useImperativeHandle(ref, () => ({ goTo }))
  const move = (event: KeyboardEvent) => {
    const at = lines.findIndex((line) => line.id === activeId)
    const from = at < 0 ? lines.length : at
    const next = targetOf(event.key, from, lines.length)
    if (next !== undefined) {
      event.preventDefault()
      goTo(next)
    } else if (event.key === 'Enter' && at >= 0 && event.target === event.currentTarget) onLink(activeId)
  }
  const drawn = rows.getVirtualItems()
  const activeIndex = drawn.find(({ index }) => lines[index]?.id === activeId)?.index
  const behind = lines.length - 1 - lines.findLastIndex(({ id: one }) => one === seen.current)
  return (
    <div className="relative">
      {/* biome-ignore lint/a11y/useSemanticElements: of 100,000 rows those in sight are drawn, which a table cannot say. */}
      <div
        ref={box}
        role="grid"
        aria-label={name}
        aria-rowcount={lines.length}
        aria-activedescendant={activeIndex === undefined ? undefined : `${id}-${activeIndex}`}
        tabIndex={0}
        onKeyDown={move}
        onScroll={({ currentTarget }) => scrolled(currentTarget)}
        className="border-line bg-panel h-[60dvh] min-h-64 overflow-auto rounded-lg border py-1 font-mono text-xs leading-5"
      >
        <div
          role="presentation"
          className="relative min-w-full"
          style={{ height: rows.getTotalSize(), width: isWrapped ? undefined : 'max-content' }}
        >
          {/* biome-ignore lint/a11y/useSemanticElements: as the grid itself. */}
          <div role="rowgroup" className="min-w-full" style={{ transform: `translateY(${drawn[0]?.start ?? 0}px)` }}>
            {drawn.map(({ index, key }) => {
              const line = lines[index]
              if (line === undefined) return null
              const isActive = line.id === activeId
              return (
                // biome-ignore lint/a11y/useFocusableInteractive: the grid around it has the focus and names the active row.
                // biome-ignore lint/a11y/useSemanticElements: rows of a list of which only a part is drawn are no table.
                <div
                  key={key}
                  id={`${id}-${index}`}
                  role="row"
                  aria-rowindex={index + 1}
                  aria-selected={isActive}
                  data-index={index}
                  ref={isWrapped ? rows.measureElement : undefined}
                  className={`flex gap-3 ${isWrapped ? '' : 'h-5'} ${isActive ? 'bg-info-bg' : 'hover:bg-raised'}`}
                >
                  <LogLine line={line} query={query} isWrapped={isWrapped} isActive={isActive} onLink={onLink} workerPath={workerPath} />
                </div>
              )
            })}
          </div>
        </div>
      </div>
      {!isAtEnd && lines.length > 0 && (
        <Button className="absolute right-4 bottom-3 shadow" onClick={() => setIsAtEnd(true)}>
          {behind > 0 ? `To the end · ${count(behind, 'new line')}` : 'To the end'}
        </Button>
      )}
    </div>
  )
}

const PAGE = 25

function targetOf(key: string, from: number, total: number): number | undefined {
  const steps: Record<string, number> = {
    ArrowUp: from - 1,
    ArrowDown: from + 1,
    PageUp: from - PAGE,
    PageDown: from + PAGE,
    Home: 0,
    End: total - 1,
  }
  const target = steps[key]
  return target === undefined || total === 0 ? undefined : Math.max(0, Math.min(total - 1, target))
}
