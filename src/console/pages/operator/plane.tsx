import { useLive } from '../../hooks/live.ts'
import { Page, Panel } from '../../parts/page.tsx'
import { State } from '../../parts/state.tsx'
import { Facts, Table } from '../../parts/table.tsx'
import { ViewState } from '../../parts/view-state.tsx'

const TONES = { OK: 'good', WARN: 'warn', FAIL: 'bad' } as const

/** Release and checks of the plane, with the next step for each problem. */
export function PlanePage() {
  const plane = useLive(['operator', 'plane'], (api, signal) => api.getPlane({}, { signal }), { everyMs: 10_000 })
  return (
    <Page title="Plane">
      <ViewState of={plane}>
        {({ version, migrations, checks }) => (
          <>
            <Panel title="Release">
              <Facts
                rows={[
                  ['Version', version],
                  ['Newest migration', migrations.newest ?? 'none'],
                  ['Applied', String(migrations.applied)],
                  ['Pending', migrations.pending.join(', ') || 'none'],
                ]}
              />
            </Panel>
            <Table
              caption="Checks"
              rows={[...checks]}
              keyOf={({ id }) => id}
              columns={[
                { title: 'Check', show: ({ id }) => id },
                { title: 'Result', show: ({ verdict }) => <State value={verdict} tone={TONES[verdict]} /> },
                { title: 'Details', show: ({ evidence }) => evidence },
                { title: 'Next step', show: ({ fix }) => fix ?? '–' },
              ]}
            />
          </>
        )}
      </ViewState>
    </Page>
  )
}
