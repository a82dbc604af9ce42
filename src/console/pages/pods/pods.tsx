import { useState } from 'react'
import type { Pod } from '../../../contract/pods/pods.ts'
import { useLive } from '../../hooks/live.ts'
import { paths } from '../../hooks/paths.ts'
import { useApi } from '../../hooks/session.ts'
import { useUrlState } from '../../hooks/url-state.ts'
import { LinkButton } from '../../parts/button.tsx'
import { matchesLabels } from '../../parts/container/text-lists.ts'
import { SelectField, TextField } from '../../parts/form/field.tsx'
import { Options } from '../../parts/form/form.tsx'
import { money, perHour } from '../../parts/format.ts'
import { A } from '../../parts/link.tsx'
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

/** All pods of the account except cluster members; the filter is stored in the address. */
export function PodsPage() {
  const [state, setState] = useUrlState('state', '')
  const [name, setName] = useUrlState('name', '', { isTyped: true })
  const [label, setLabel] = useUrlState('label', '', { isTyped: true })
  const pods = useLive(['pods'], (api, signal) => api.listPods({}, { signal }))
  const isShown = (pod: Pod) =>
    (state === '' || pod.status === state) && pod.name.toLowerCase().includes(name.toLowerCase()) && matchesLabels(pod.labels, label)
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
      <search className="grid max-w-3xl grid-cols-3 gap-3">
        <TextField label="Name contains" type="search" value={name} onChange={({ target }) => setName(target.value)} />
        <TextField label="Labels" type="search" value={label} onChange={({ target }) => setLabel(target.value)} />
        <SelectField label="State" value={state} onChange={({ target }) => setState(target.value)}>
          <option value="">All</option>
          <Options of={STATES} />
        </SelectField>
      </search>
      <ViewState of={pods} empty={{ when: ({ pods: { length } }) => length === 0, show: first }}>
        {({ pods: all }) => <PodTable pods={all.filter(isShown)} />}
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
