import { type CSSProperties, memo } from 'react'
import { A } from '../link.tsx'
import { spansOf } from './ansi.ts'
import type { ShownLine } from './reading/lines.ts'
import { markHits } from './search.ts'

interface LineProps {
  line: ShownLine
  query: string
  isWrapped: boolean
  isActive: boolean
  onLink: (id: string) => void
  /** For a joined log: address of the page of a line's worker. */
  workerPath?: ((workerId: string) => string) | undefined
}

/** One line of a log: time, source and text. */
export const LogLine = memo(function LogLine({ line, query, isWrapped, isActive, onLink, workerPath }: LineProps) {
  const isSystem = line.source === 'system'
  return (
    <>
      {/* biome-ignore lint/a11y/useFocusableInteractive: the grid around it has the focus and names the active row. */}
      {/* biome-ignore lint/a11y/useSemanticElements: rows of a list of which only a part is drawn are no table. */}
      <div role="gridcell" className="text-soft shrink-0 pl-2 select-none">
        <a
          href={addressOf(line.id)}
          tabIndex={-1}
          title={`${line.ts}: link to this line`}
          className={`hover:underline ${isActive ? 'text-accent font-semibold underline' : ''}`}
          onClick={(event) => {
            if (event.metaKey || event.ctrlKey) return
            event.preventDefault()
            onLink(line.id)
          }}
        >
          {clock(line.ts)}
        </a>
      </div>
      {/* biome-ignore lint/a11y/useFocusableInteractive: the grid around it has the focus and names the active row. */}
      {/* biome-ignore lint/a11y/useSemanticElements: rows of a list of which only a part is drawn are no table. */}
      <div
        role="gridcell"
        className={`pr-3 ${isWrapped ? 'min-w-0 break-words whitespace-pre-wrap [overflow-wrap:anywhere]' : 'whitespace-pre'} ${isSystem ? 'text-soft italic' : ''}`}
      >
        {workerPath && (
          <A to={workerPath(line.place.workerId)} tabIndex={-1} className="text-soft mr-3 select-none hover:underline">
            {line.place.workerId}
          </A>
        )}
        {isSystem && <span className="not-italic">system · </span>}
        {markHits(spansOf(line.line), query).map((span, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line never changes.
          <Stretch key={index} {...span} />
        ))}
      </div>
    </>
  )
})

function Stretch({ text, href, isHit, ...style }: ReturnType<typeof markHits>[number]) {
  const shown = isHit ? <mark className="bg-warn-bg text-warn rounded-xs font-semibold">{text}</mark> : text
  const className = `${style.isBold ? 'font-bold' : ''} ${style.isDim ? 'text-soft' : ''} ${style.isItalic ? 'italic' : ''} ${style.isUnderlined ? 'underline' : ''}`
  if (href !== undefined) {
    return (
      <a href={href} target="_blank" rel="noreferrer noopener" className={`text-accent underline ${className}`}>
        {shown}
      </a>
    )
  }
  return (
    <span className={className} style={styleOf(style)}>
      {shown}
    </span>
  )
}

/** Colors that are readable on light and dark backgrounds. */
const PALETTE: Readonly<Record<string, string>> = {
  black: 'var(--color-soft)',
  white: 'var(--color-ink)',
  red: 'var(--color-bad)',
  green: 'var(--color-good)',
  yellow: 'var(--color-warn)',
  blue: 'light-dark(#1d4ed8, #93b4fd)',
  magenta: 'light-dark(#9d1a85, #f19be0)',
  cyan: 'light-dark(#0b6477, #67d3e6)',
}

function styleOf({ color, background }: { color?: string; background?: string }): CSSProperties | undefined {
  if (color === undefined && background === undefined) return undefined
  return {
    ...(color !== undefined && { color: PALETTE[color] ?? `color-mix(in oklab, ${color} 35%, var(--color-ink))` }),
    ...(background !== undefined && { backgroundColor: `color-mix(in oklab, ${PALETTE[background] ?? background} 15%, transparent)` }),
  }
}

function addressOf(id: string): string {
  const query = new URLSearchParams(location.search)
  query.set('line', id)
  return `?${query}`
}

const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const clock = (ts: string) => CLOCK.format(new Date(ts))
