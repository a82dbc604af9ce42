import type { ReactNode } from 'react'
import type { Live } from '../../hooks/live.ts'
import { Panel } from '../page.tsx'
import { ViewState } from '../view-state.tsx'

interface ForetoldProps<Preview> {
  answer: Live<Preview>
  /** Reason why no preview can be requested yet. */
  missing: string | undefined
  children: (of: Preview) => ReactNode
}

/** Preview of what the button of a form does, updated while the user types. */
export function Foretold<Preview>({ answer, missing, children }: ForetoldProps<Preview>) {
  return (
    <Panel title="What would happen">
      <div aria-live="polite">
        {missing === undefined ? <ViewState of={answer}>{children}</ViewState> : <p className="text-soft">{missing}</p>}
      </div>
    </Panel>
  )
}

/** Obstacles, one per line. */
export function InTheWay({ title, lines }: { title: string; lines: readonly string[] }) {
  return (
    <div>
      <p className="text-bad mb-1">{title}</p>
      <ul className="list-disc pl-5">
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </div>
  )
}
