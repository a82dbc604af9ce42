import type { SpendStop } from '../../../contract/billing/stops.ts'
import { useAct } from '../../hooks/act.ts'
import { useLive } from '../../hooks/live.ts'
import { useApi } from '../../hooks/session.ts'
import { Button } from '../../parts/button.tsx'
import { CopyAs } from '../../parts/copy/copy-as.tsx'
import { count, perHour } from '../../parts/format.ts'
import { Panel } from '../../parts/page.tsx'
import { LiveTable } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'

/** Past stops, each with a button that starts the same resources again. */
export function Stops() {
  const stops = useLive(['spend-stops'], (api, signal) => api.listSpendStops({}, { signal }), { everyMs: 15_000 })
  return (
    <Panel title="Stops">
      <LiveTable
        of={stops}
        rows={(data) => data.stops}
        empty={{ title: 'No stops yet' }}
        caption="Stops"
        keyOf={({ id }) => id}
        columns={[
          { title: 'Time', show: ({ createdAt }) => <Ago at={createdAt} /> },
          { title: 'Resources', show: (stop) => <Items of={stop} /> },
          { title: 'Saved', isNumber: true, show: ({ savedPerHour }) => perHour(savedPerHour) },
          { title: 'Actions', show: (stop) => <Undo of={stop} /> },
        ]}
      />
    </Panel>
  )
}

function Items({ of: { items } }: { of: SpendStop }) {
  const troubles = items.filter(({ reason }) => reason !== null)
  return (
    <details>
      <summary>
        {count(items.length, 'resource')}
        {troubles.length > 0 && `, ${count(troubles.length, 'problem')}`}
      </summary>
      <ul className="list-disc pl-5">
        {items.map(({ id, name, state, reason }) => (
          <li key={id}>
            {name}: {state.toLowerCase()}
            {reason !== null && ` (${reason})`}
          </li>
        ))}
      </ul>
    </details>
  )
}

function Undo({ of: { id, items, undoneAt } }: { of: SpendStop }) {
  const { api, may, refresh } = useApi()
  const { isBusy, run } = useAct()
  if (undoneAt !== null) {
    return (
      <span className="text-soft">
        undone <Ago at={undoneAt} />
      </span>
    )
  }
  const isAllowed = may('pods:write') && (may('serverless:write') || items.every(({ kind }) => kind !== 'ENDPOINT'))
  const undo = async () => {
    await run(() => api.undoSpendStop({ path: { id } }), 'The resources start again; the list shows any problems')
    await refresh()
  }
  return (
    <span className="flex flex-wrap gap-2">
      <Button
        isBusy={isBusy}
        disabledReason={isAllowed ? undefined : 'Your role may not start pods and endpoints.'}
        onClick={() => void undo()}
      >
        Undo
      </Button>
      <CopyAs call={{ method: 'POST', path: `/v2/spend/stops/${id}/undo` }} />
    </span>
  )
}
