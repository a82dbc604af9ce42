import { lazy, Suspense, useState } from 'react'
import { opened } from '../../../../client/page.ts'
import type { EndpointTimeline } from '../../../../contract/endpoints/timeline.ts'
import { useLive } from '../../../hooks/live.ts'
import { useUrlState } from '../../../hooks/url-state.ts'
import type { ChartData } from '../../../parts/charts/figures.ts'
import { SelectField, TextField } from '../../../parts/form/field.tsx'
import { money } from '../../../parts/format.ts'
import { Panel } from '../../../parts/page.tsx'
import { Facts } from '../../../parts/table.tsx'
import { Loading, ViewState } from '../../../parts/view-state.tsx'
import { eventsBefore, eventText, seriesLabel, timeOf } from './moments.ts'

const Chart = lazy(() => import('../../../parts/charts/chart.tsx'))
const HOUR_MS = 3_600_000
const SPANS: Readonly<Record<string, number>> = { '1h': HOUR_MS, '6h': 6 * HOUR_MS, '24h': 24 * HOUR_MS, '7d': 168 * HOUR_MS }
const EVERY_MS = 30_000
const EVENTS = 8

/** Queue, workers, releases and scaler decisions on one time axis; the user chooses a point and reads the events before it. */
export function History({ endpointId }: { endpointId: string }) {
  const [span, setSpan] = useUrlState('over', '1h')
  const timeline = useLive(
    ['timeline', endpointId, span],
    async (api, signal) => {
      const from = new Date(Date.now() - (SPANS[span] ?? HOUR_MS)).toISOString()
      // The series are complete; of the events, the page has the newest.
      return opened(await api.getEndpointTimeline({ path: { id: endpointId }, query: { from } }, { signal }))
    },
    { everyMs: EVERY_MS },
  )
  return (
    <div className="flex flex-col gap-4">
      <div className="max-w-xs">
        <SelectField label="Period" value={span} onChange={({ target }) => setSpan(target.value)}>
          <option value="1h">Last hour</option>
          <option value="6h">Last 6 hours</option>
          <option value="24h">Last 24 hours</option>
          <option value="7d">Last 7 days</option>
        </SelectField>
      </div>
      <ViewState of={timeline}>{(data) => <Moments of={data} />}</ViewState>
    </div>
  )
}

function Moments({ of: timeline }: { of: EndpointTimeline }) {
  const points = timeline.series[0]?.points.length ?? 0
  const [chosen, setChosen] = useState<number | null>(null)
  const at = Math.min(chosen ?? points - 1, points - 1)
  const charts = [
    chartOf(timeline, 'Queue', ['queued', 'inProgress']),
    chartOf(timeline, 'Workers', ['ready', 'starting', 'throttled', 'failed']),
  ]
  const events = eventsBefore(timeline, at, EVENTS)
  return (
    <>
      <Suspense fallback={<Loading />}>
        {charts
          .filter(({ lines }) => lines.length > 0)
          .map((chart) => (
            <Panel key={chart.title} title={chart.title}>
              <Chart data={chart} />
            </Panel>
          ))}
      </Suspense>
      <Panel title="Point in time">
        <div className="flex flex-col gap-3">
          <TextField
            label={`At ${new Date(timeOf(timeline, at)).toLocaleString()}`}
            hint="Move the slider to see the values at that time and the events before it."
            type="range"
            min={0}
            max={Math.max(0, points - 1)}
            value={at}
            onChange={({ target }) => setChosen(Number(target.value))}
          />
          <Facts rows={timeline.series.map(({ name, unit, points: values }) => [seriesLabel(name), figureOf(values[at], unit)] as const)} />
          <h3 className="font-medium">Earlier events</h3>
          {events.length === 0 ? (
            <p className="text-soft">No recorded events.</p>
          ) : (
            <ul className="flex flex-col gap-1">
              {events.map((event) => (
                <li key={`${event.at} ${eventText(event)}`}>
                  <time dateTime={event.at} className="text-soft mr-2 tabular-nums">
                    {new Date(event.at).toLocaleTimeString()}
                  </time>
                  {eventText(event)}
                </li>
              ))}
            </ul>
          )}
        </div>
      </Panel>
    </>
  )
}

function figureOf(value: number | null | undefined, unit: 'count' | 'usd'): string {
  if (value === null || value === undefined) return 'unknown'
  return unit === 'usd' ? money(value) : String(value)
}

function chartOf(timeline: EndpointTimeline, title: string, names: readonly string[]): ChartData {
  const series = timeline.series.filter(({ name, points }) => names.includes(name) && points.some((value) => value !== null))
  const times = (series[0]?.points ?? []).map((_, index) => timeOf(timeline, index) / 1_000)
  return { title, unit: 'count', times, lines: series.map(({ name, points }) => ({ title: seriesLabel(name), points })) }
}
