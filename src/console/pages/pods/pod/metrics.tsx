import { lazy, Suspense } from 'react'
import type { Pod } from '../../../../contract/pods/pods.ts'
import { useLive } from '../../../hooks/live.ts'
import { useUrlState } from '../../../hooks/url-state.ts'
import { chartsOf } from '../../../parts/charts/figures.ts'
import { SelectField } from '../../../parts/form/field.tsx'
import { Options } from '../../../parts/form/form.tsx'
import { Panel } from '../../../parts/page.tsx'
import { Loading, ViewState } from '../../../parts/view-state.tsx'

const Chart = lazy(() => import('../../../parts/charts/chart.tsx'))

/** Length of the shown period, seconds; the shortest one is refreshed more often. */
const RANGES = { '10m': 600, '1h': 3_600, '24h': 86_400, '7d': 604_800, '30d': 2_592_000 } as const
type Range = keyof typeof RANGES
const TITLES: Record<Range, string> = {
  '10m': 'Last 10 minutes',
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
}

/** Resource usage of the pod over time; retained for 30 days. */
export function Metrics({ pod: { id, image } }: { pod: Pod }) {
  const [chosen, choose] = useUrlState('range', '1h')
  const range: Range = chosen in RANGES ? (chosen as Range) : '1h'
  const metrics = useLive(
    ['pods', id, 'metrics', range],
    (api, signal) => {
      const from = new Date(Date.now() - RANGES[range] * 1_000).toISOString()
      return api.getPodMetrics({ path: { id }, query: { from } }, { signal })
    },
    { everyMs: range === '10m' ? 5_000 : 30_000 },
  )
  return (
    <div className="flex flex-col gap-4">
      <div className="w-48">
        <SelectField label="Period" value={range} onChange={({ target }) => choose(target.value)}>
          <Options of={Object.entries(TITLES)} />
        </SelectField>
      </div>
      <ViewState
        of={metrics}
        empty={{
          when: (answer) => chartsOf(answer).length === 0,
          show: (
            <p className="text-soft">
              {image.startsWith('builtin/')
                ? 'Built-in images run without a container and report no metrics.'
                : 'There are no metrics for this period. The pod reports metrics while it runs, the first within a minute.'}
            </p>
          ),
        }}
      >
        {(answer) => (
          <div className="grid gap-4 lg:grid-cols-2">
            {chartsOf(answer).map((data) => (
              <Panel key={data.title} title={data.title}>
                <Suspense fallback={<Loading what="Loading the chart" />}>
                  <Chart data={data} />
                </Suspense>
              </Panel>
            ))}
          </div>
        )}
      </ViewState>
    </div>
  )
}
