import type { SpendItem } from '../../../contract/billing/spending.ts'
import { useLive } from '../../hooks/live.ts'
import { paths } from '../../hooks/paths.ts'
import { count, money, perHour } from '../../parts/format.ts'
import { A } from '../../parts/link.tsx'
import { Panel } from '../../parts/page.tsx'
import { Table } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { Empty, ViewState } from '../../parts/view-state.tsx'
import { StopSpend } from './stop-spend.tsx'

/** Resources that cost money, most expensive first, and the button that stops all of them. */
export function Costs() {
  const spend = useLive(['spend'], (api, signal) => api.getSpend({}, { signal }), { everyMs: 15_000 })
  return (
    <Panel title="Current costs" actions={<StopSpend />}>
      <ViewState of={spend} empty={{ when: ({ items }) => items.length === 0, show: <Empty title="No resource costs money" /> }}>
        {({ items, itemCount, today }) => (
          <div className="flex flex-col gap-3">
            <p>
              {money(today.spent)} today, {count(itemCount, 'resource')}.
            </p>
            <Table
              caption="Resources that cost money"
              rows={items}
              keyOf={({ kind, id }) => `${kind} ${id}`}
              columns={[
                { title: 'Name', show: (item) => <Named of={item} /> },
                { title: 'Price', isNumber: true, show: (item) => perHour(item.perHour) },
                { title: 'Price when stopped', isNumber: true, isMinor: true, show: (item) => perHour(item.stoppedPerHour) },
                { title: 'Today', isNumber: true, show: (item) => money(item.costToday) },
                { title: 'Since', isMinor: true, show: ({ runningSince }) => <Ago at={runningSince} /> },
                { title: 'Idle', show: (item) => <Idle of={item} /> },
              ]}
            />
          </div>
        )}
      </ViewState>
    </Panel>
  )
}

const PLACES = { POD: paths.pod, ENDPOINT: paths.endpoint, CLUSTER: paths.cluster, NETWORK_VOLUME: () => paths.volumes() } as const

function Named({ of: { kind, id, name } }: { of: SpendItem }) {
  return <A to={PLACES[kind](id)}>{name}</A>
}

function Idle({ of: { idleSince, idleWaste, idleCount, runningCount } }: { of: SpendItem }) {
  if (idleSince === null) return <span className="text-soft">–</span>
  return (
    <span className="text-warn">
      {idleCount < runningCount && `${idleCount} of ${runningCount}, `}since <Ago at={idleSince} />
      {idleWaste !== null && `, ${money(idleWaste)}`}
    </span>
  )
}
