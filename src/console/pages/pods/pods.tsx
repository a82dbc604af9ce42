import { useState } from 'react'
import { pageOf } from '../../../client/page.ts'
import type { Pod } from '../../../contract/pods/pods.ts'
import { useDebounced } from '../../hooks/debounced.ts'
import { useLive } from '../../hooks/live.ts'
import { paths } from '../../hooks/paths.ts'
import { useApi } from '../../hooks/session.ts'
import { useUrlState } from '../../hooks/url-state.ts'
import { LinkButton } from '../../parts/button.tsx'
import { splitLabels } from '../../parts/container/text-lists.ts'
import { SelectField, TextField } from '../../parts/form/field.tsx'
import { Options } from '../../parts/form/form.tsx'
import { money, perHour } from '../../parts/format.ts'
import { A } from '../../parts/link.tsx'
import { given, ListFields, PAGE, useListFilter, withCount } from '../../parts/list-filter.tsx'
import { Pages } from '../../parts/more.tsx'
import { Menu } from '../../parts/over/menu.tsx'
import { Page } from '../../parts/page.tsx'
import { State } from '../../parts/state.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { Empty, ViewState } from '../../parts/view-state.tsx'
import { BulkStop } from './bulk-stop.tsx'
import { ACT_ORDER, hardwareOf, POD_ACTS, whyNot } from './pod-acts.ts'
import { usePodActs } from './use-pod-act.tsx'

const STATES = ['RUNNING', 'PROVISIONING', 'STARTING', 'EXITED', 'ERROR'] as const

/** Pods of the account except cluster members, 50 a page; the filter is stored in the address, and the plane applies it (UI-80). */
export function PodsPage() {
  const filter = useListFilter()
  const [state, setState] = useUrlState('state', '', { resets: 'cursor' })
  const [label, setLabel] = useUrlState('label', '', { isTyped: true, resets: 'cursor' })
  const labels = splitLabels(useDebounced(label))
  const { cursor } = filter
  const query = { limit: PAGE, include: 'COUNTS', ...filter.query, ...given({ status: state, cursor }), label: labels }
  const pods = useLive(['pods', query], (api, signal) => api.listPods({ query }, { signal }), { keepsLast: true })
  const counts = pods.data?.counts
  const first = <Empty title="No pods yet" command="podplane pods create --help" />
  return (
    <Page
      title="Pods"
      actions={
        <LinkButton to={paths.newPod()} kind="primary">
          New pod
        </LinkButton>
      }
    >
      <search className="grid max-w-4xl grid-cols-2 gap-3 sm:grid-cols-4">
        <ListFields of={filter} />
        <TextField label="Labels" type="search" value={label} onChange={({ target }) => setLabel(target.value)} />
        <SelectField label="State" value={state} onChange={({ target }) => setState(target.value)}>
          <option value="">{withCount('All', counts?.total)}</option>
          <Options of={STATES.map((one) => [one, withCount(one, counts && (counts.byStatus[one] ?? 0))])} />
        </SelectField>
      </search>
      <ViewState of={pods} empty={{ when: (answer) => answer.counts?.total === 0, show: first }}>
        {(answer) => {
          const { items, next } = pageOf(answer)
          return (
            <>
              <PodTable pods={items} />
              <Pages cursor={cursor} next={next} go={filter.go} />
            </>
          )
        }}
      </ViewState>
    </Page>
  )
}

function PodTable({ pods }: { pods: readonly Pod[] }) {
  const { may } = useApi()
  const { act, question } = usePodActs()
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const choose = (id: string) => setChosen((before) => new Set(before.has(id) ? [...before].filter((one) => one !== id) : [...before, id]))
  const menuOf = (pod: Pod) =>
    ACT_ORDER.map((one) => ({
      label: POD_ACTS[one].title,
      run: () => act(pod, one),
      disabledReason: whyNot(pod, one, may('pods:write')),
      isDanger: one === 'terminate',
    }))
  const columns: Column<Pod>[] = [
    {
      title: 'Select',
      show: ({ id, name }) => (
        <input type="checkbox" className="size-4" aria-label={`Select ${name}`} checked={chosen.has(id)} onChange={() => choose(id)} />
      ),
    },
    { title: 'Name', show: ({ id, name }) => <A to={paths.pod(id)}>{name}</A> },
    { title: 'State', show: ({ status }) => <State value={status} /> },
    { title: 'Hardware', isMinor: true, show: hardwareOf },
    { title: 'Price', isMinor: true, isNumber: true, show: ({ cost }) => perHour(cost) },
    { title: 'Cost so far', isNumber: true, isMinor: true, show: ({ spend }) => money(spend?.costSoFar ?? 0) },
    { title: 'Created', isMinor: true, show: ({ createdAt }) => <Ago at={createdAt} /> },
    { title: 'Actions', show: (pod) => <Menu name={`Actions for ${pod.name}`} label="Actions" items={menuOf(pod)} /> },
  ]
  if (pods.length === 0) return <p className="text-soft">No matching pods.</p>
  return (
    <>
      <BulkStop pods={pods.filter(({ id }) => chosen.has(id))} onDone={() => setChosen(new Set())} />
      <Table caption="Pods" rows={pods} keyOf={({ id }) => id} columns={columns} />
      {question}
    </>
  )
}
