import type { ReactNode } from 'react'
import type { ApiClient } from '../../../client/client.ts'
import type { WhyOption } from '../../../contract/explain/explain.ts'

import { useDebounced } from '../../hooks/debounced.ts'
import { type Live, useLive } from '../../hooks/live.ts'
import { Panel } from '../page.tsx'
import { ViewState } from '../view-state.tsx'
import { Nearest } from './nearest.tsx'

/** Free capacity changes while the user reads. */
const EVERY_MS = 10_000

type Read<Body, Preview> = (api: ApiClient, body: Body, signal: AbortSignal) => Promise<Preview>

/** Current outcome of a create request: its dry run, sent after the user stops typing and refreshed every `EVERY_MS`. */
export function useDryRun<Body, Preview>(key: string, body: Body, isComplete: boolean, read: Read<Body, Preview>): Live<Preview> {
  const text = useDebounced(JSON.stringify(body))
  return useLive([key, text], (api, signal) => read(api, JSON.parse(text), signal), { everyMs: EVERY_MS, isEnabled: isComplete })
}

/** Props of the preview of one kind of resource. */
export interface PreviewProps<Preview, Body> {
  answer: Live<Preview>
  /** Reason why no preview can be requested yet. */
  missing: string | undefined
  /** Applies an option that would fit instead. */
  onTake: (body: Body) => void
}

interface ForetoldProps<Preview, Body> extends PreviewProps<Preview, Body> {
  price: (of: Preview) => ReactNode
  /** Text for a request that fits. */
  fitText: (of: Preview) => string
  /** Obstacles of a request that does not fit. */
  obstacles: (of: Preview) => ReactNode
}

/** Preview of what the button of a form does, updated while the user types. */
export function Foretold<Preview extends { fits: boolean; options: readonly WhyOption[] }, Body>(props: ForetoldProps<Preview, Body>) {
  const { answer, missing, price, fitText, obstacles, onTake } = props
  return (
    <Panel title="Preview">
      <div aria-live="polite">
        {missing === undefined ? (
          <ViewState of={answer}>
            {(of) => (
              <div className="flex flex-col gap-3">
                {price(of)}
                {of.fits ? (
                  <p className="text-good">{fitText(of)}</p>
                ) : (
                  <>
                    {obstacles(of)}
                    {/* Each option of a dry run is a complete create request. */}
                    <Nearest options={of.options} onTake={(body) => onTake(body as Body)} />
                  </>
                )}
              </div>
            )}
          </ViewState>
        ) : (
          <p className="text-soft">{missing}</p>
        )}
      </div>
    </Panel>
  )
}

/** Price that a preview begins with. */
export function Price({ text }: { text: string }) {
  return <p className="text-lg font-semibold tabular-nums">{text}</p>
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
