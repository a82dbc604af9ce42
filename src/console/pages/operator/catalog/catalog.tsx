import { useState } from 'react'
import type { ApiClient } from '../../../../client/client.ts'
import type { CatalogItem } from '../../../../contract/catalog/entries.ts'
import { useLive } from '../../../hooks/live.ts'
import { Button } from '../../../parts/button.tsx'
import { money } from '../../../parts/format.ts'
import { Page } from '../../../parts/page.tsx'
import { State } from '../../../parts/state.tsx'
import { type Column, LiveTable } from '../../../parts/table.tsx'
import { Tabs } from '../../../parts/tabs.tsx'
import { Edit } from './edit.tsx'
import type { CATALOG_FIELDS } from './fields.ts'

type Answer = { entries: CatalogItem[] }
type InForce = CatalogItem['inForce']
interface Kind {
  id: keyof typeof CATALOG_FIELDS
  title: string
  /** Columns of the values in force, most important first. */
  columns: readonly Column<CatalogItem>[]
  list: (api: ApiClient, signal: AbortSignal) => Promise<Answer>
  put: (api: ApiClient, id: string, body: object) => Promise<unknown>
}

/** Column that is left out on narrow screens, where prices are more important than sizes. */
const minor = (title: string, show: (inForce: InForce) => string): Column<CatalogItem> => ({
  title,
  isMinor: true,
  show: ({ inForce }) => show(inForce),
})
const figure = (title: string, show: (inForce: InForce) => string): Column<CatalogItem> => ({
  title,
  isNumber: true,
  show: ({ inForce }) => show(inForce),
})
const said = (value: unknown): string => (value === null || value === undefined ? '–' : String(value))
const dollars = (value: unknown): string => (typeof value === 'number' ? money(value) : 'not sold')
/** A withdrawn type takes no new work; running work continues. */
const OFFERED: Column<CatalogItem> = {
  title: 'Offered',
  isMinor: true,
  show: ({ inForce }) => (inForce.offered === false ? <State value="WITHDRAWN" tone="warn" /> : 'yes'),
}

const KINDS: readonly Kind[] = [
  {
    id: 'gpus',
    title: 'GPUs',
    columns: [
      figure('Memory', ({ memoryGb }) => `${String(memoryGb)} GB`),
      minor('Pool', ({ pool }) => said(pool)),
      figure('Secure', ({ securePrice }) => dollars(securePrice)),
      figure('Community', ({ communityPrice }) => dollars(communityPrice)),
      figure('Serverless', ({ serverlessPrice }) => dollars(serverlessPrice)),
      minor('Maximum', ({ maxCount }) => said(maxCount)),
      OFFERED,
    ],
    list: (api, signal) => api.listCatalogGpus({}, { signal }),
    put: (api, id, body) => api.putCatalogGpu({ path: { id }, body }),
  },
  {
    id: 'cpus',
    title: 'CPUs',
    columns: [
      minor('vCPUs', ({ minVcpu, maxVcpu }) => `${String(minVcpu)} to ${String(maxVcpu)}`),
      minor('Memory per vCPU', ({ ramGbPerVcpu }) => `${String(ramGbPerVcpu)} GB`),
      figure('Secure, per vCPU', ({ securePricePerVcpu }) => dollars(securePricePerVcpu)),
      figure('Serverless, per vCPU', ({ serverlessPricePerVcpu }) => dollars(serverlessPricePerVcpu)),
      OFFERED,
    ],
    list: (api, signal) => api.listCatalogCpus({}, { signal }),
    put: (api, id, body) => api.putCatalogCpu({ path: { id }, body }),
  },
  {
    id: 'datacenters',
    title: 'Data centers',
    columns: [
      minor('Name', ({ name }) => said(name)),
      minor('Region', ({ region }) => said(region)),
      minor('Country', ({ country }) => said(country)),
      minor('Volumes', ({ networkVolumeTypes }) => (Array.isArray(networkVolumeTypes) ? networkVolumeTypes.join(', ') : '–')),
    ],
    list: (api, signal) => api.listCatalogDataCenters({}, { signal }),
    put: (api, id, body) => api.putCatalogDataCenter({ path: { id }, body }),
  },
  {
    id: 'storage',
    title: 'Storage',
    columns: [{ title: 'USD per GB and month', show: ({ inForce }) => <Members of={inForce} /> }],
    list: (api, signal) => api.listCatalogStorages({}, { signal }),
    put: (api, id, body) => api.putCatalogStorage({ path: { id }, body }),
  },
]

/** Offered hardware and its prices. A change affects new work only. */
export function CatalogPage() {
  return (
    <Page title="Catalog">
      <p className="text-soft">A new price applies to workloads that start later; running workloads keep their price.</p>
      <Tabs
        name="Parts of the catalog"
        tabs={KINDS.map((kind) => ({ id: kind.id, title: kind.title, show: () => <Entries of={kind} /> }))}
      />
    </Page>
  )
}

function Entries({ of: kind }: { of: Kind }) {
  const list = useLive(['operator', 'catalog', kind.id], kind.list, { everyMs: 30_000 })
  const [edited, edit] = useState<CatalogItem | null>(null)
  return (
    <>
      <LiveTable
        of={list}
        rows={({ entries }) => entries}
        empty={{ title: 'No entries' }}
        caption={kind.title}
        keyOf={({ id }) => id}
        columns={[
          { title: 'Id', show: ({ id }) => id },
          { title: 'Origin', isMinor: true, show: ({ origin }) => <State value={origin} tone={origin === 'SEED' ? 'off' : 'info'} /> },
          ...kind.columns,
          {
            title: 'Actions',
            show: (entry) => (
              <Button aria-label={`Change ${entry.id}`} onClick={() => edit(entry)}>
                Change
              </Button>
            ),
          },
        ]}
      />
      {edited !== null && <Edit key={edited.id} kind={kind.id} of={edited} put={kind.put} onClose={() => edit(null)} />}
    </>
  )
}

/** Fields with their values, wrapped over several lines. */
function Members({ of }: { of: CatalogItem['inForce'] }) {
  return (
    <span className="flex flex-wrap gap-x-3 gap-y-0.5 text-xs">
      {Object.entries(of).map(([name, value]) => (
        <span key={name}>
          <span className="text-soft">{name}</span> {typeof value === 'string' ? value : JSON.stringify(value)}
        </span>
      ))}
    </span>
  )
}
