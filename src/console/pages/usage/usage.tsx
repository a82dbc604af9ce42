import { useLive } from '../../hooks/live.ts'
import { useApi } from '../../hooks/session.ts'
import { useUrlState } from '../../hooks/url-state.ts'
import { SelectField } from '../../parts/form/field.tsx'
import { Options } from '../../parts/form/form.tsx'
import { money, perHour } from '../../parts/format.ts'
import { Page, Panel } from '../../parts/page.tsx'
import { Facts, LiveTable } from '../../parts/table.tsx'
import { ViewState } from '../../parts/view-state.tsx'
import { Costs } from './costs.tsx'
import { SpendLimitsForm } from './spend-limits.tsx'
import { StopSpend } from './stop-spend.tsx'
import { Stops } from './stops.tsx'

const BUCKETS = { hour: '48', day: '30', week: '26', month: '12' } as const
type Bucket = keyof typeof BUCKETS

/** Spend of the account: current, past, and its limits. */
export function UsagePage() {
  const { account, may } = useApi()
  if (!may('billing:read')) {
    return (
      <Page title="Usage" actions={<StopSpend />}>
        <p>Your role in {account.name} does not see costs; ask an OWNER, ADMIN or BILLING.</p>
      </Page>
    )
  }
  return (
    <Page title="Usage">
      <div className="grid gap-4 lg:grid-cols-2">
        <Now />
        <SpendLimitsForm />
      </div>
      <Costs />
      <Stops />
      <Bills />
    </Page>
  )
}

function Now() {
  const summary = useLive(['spend-rate'], (api, signal) => api.getBillingSummary({}, { signal }))
  return (
    <Panel title="Current spend">
      <ViewState of={summary}>
        {({ rate, month }) => (
          <Facts
            rows={[
              ['All resources', <strong key="rate">{perHour(rate.perHour)}</strong>],
              ['Pods', perHour(rate.pods)],
              ['Endpoints', perHour(rate.serverless)],
              ['Network volumes', perHour(rate.networkVolumes)],
              ['This month so far', money(month.spent)],
              ['This month at the current rate', money(month.estimate)],
              ['Share of the hourly limit', share(rate.share)],
              ['Share of the monthly limit', share(month.share)],
            ]}
          />
        )}
      </ViewState>
    </Panel>
  )
}

function share(part: number | null): string {
  return part === null ? 'no limit' : `${Math.round(part * 100)} %`
}

function Bills() {
  const [chosen, choose] = useUrlState('by', 'day')
  const bucketSize: Bucket = chosen in BUCKETS ? (chosen as Bucket) : 'day'
  const bills = useLive(
    ['bills', bucketSize],
    (api, signal) => api.listBilling({ query: { bucketSize, lastN: BUCKETS[bucketSize] } }, { signal }),
    { everyMs: 60_000 },
  )
  return (
    <Panel title="Charges">
      <div className="flex flex-col gap-4">
        <div className="max-w-48">
          <SelectField label="Interval" value={bucketSize} onChange={(event) => choose(event.target.value)}>
            <Options of={Object.keys(BUCKETS)} />
          </SelectField>
        </div>
        <LiveTable
          of={bills}
          rows={({ records }) => [...records].reverse()}
          empty={{ title: 'No charges in this period' }}
          caption={`Charges by ${bucketSize}, in USD`}
          keyOf={({ startTime }) => startTime}
          columns={[
            { title: 'From (UTC)', show: ({ startTime }) => startTime.replace('T', ' ').replace(/:00(\.000)?Z$/, '') },
            { title: 'Pods', isNumber: true, show: (row) => money(row.podGpuAmount + row.podCpuAmount + row.podDiskAmount) },
            {
              title: 'Endpoints',
              isNumber: true,
              show: (row) => money(row.serverlessGpuAmount + row.serverlessCpuAmount + row.serverlessDiskAmount + row.serverlessFeeAmount),
            },
            {
              title: 'Clusters',
              isNumber: true,
              isMinor: true,
              show: (row) => money(row.clusterGpuAmount + row.clusterDiskAmount + row.clusterNetworkingAmount),
            },
            {
              title: 'Volumes',
              isNumber: true,
              isMinor: true,
              show: (row) => money(row.storageStandardAmount + row.storageHighPerformanceAmount),
            },
            { title: 'Total', isNumber: true, show: ({ totalAmount }) => <strong>{money(totalAmount)}</strong> },
          ]}
        />
      </div>
    </Panel>
  )
}
