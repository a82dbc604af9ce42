import type { GlobalVolume } from '../../../contract/resources/global-volumes.ts'
import type { NetworkVolume } from '../../../contract/resources/network-volumes.ts'
import { useDebounced } from '../../hooks/debounced.ts'
import { useLive } from '../../hooks/live.ts'
import { useApi } from '../../hooks/session.ts'
import { readNumber } from '../../parts/container/text-lists.ts'
import { SelectField, TextField } from '../../parts/form/field.tsx'
import { Options } from '../../parts/form/form.tsx'
import { bytes } from '../../parts/format.ts'
import { ListSearch, useListFilter } from '../../parts/list-filter.tsx'
import { DeleteButton } from '../../parts/over/confirm-button.tsx'
import { FormDialog } from '../../parts/over/form-dialog.tsx'
import { Page } from '../../parts/page.tsx'
import { Plan } from '../../parts/plan/plan.tsx'
import { LiveTable } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'

/** The used size of a volume changes slowly. */
const EVERY_MS = 30_000

const NO_NETWORK_VOLUMES = {
  title: 'No network volumes yet',
  command: 'podplane volumes create --help',
  children: <p>A network volume has a size and a data center. Pods and workers there can mount it.</p>,
}
const NO_GLOBAL_VOLUMES = {
  title: 'No global volumes yet',
  command: 'podplane global-volumes create --help',
  children: <p>A global volume can be mounted in every data center and has no fixed size.</p>,
}

/** Storage that outlives pods: network volumes of one data center, and global volumes. */
export function VolumesPage() {
  return (
    <Page title="Volumes">
      <NetworkVolumes />
      <GlobalVolumes />
    </Page>
  )
}

function useNoRight(): string | undefined {
  const { may } = useApi()
  return may('volumes:write') ? undefined : 'Your role may view volumes but not change them.'
}

function used({ usedBytes, usedAt }: Pick<GlobalVolume, 'usedBytes' | 'usedAt'>) {
  if (usedBytes === null) return '–'
  return (
    <>
      {bytes(usedBytes)}, <Ago at={usedAt} />
    </>
  )
}

function NetworkVolumes() {
  const filter = useListFilter()
  const { query } = filter
  const volumes = useLive(['network-volumes', query], (api, signal) => api.listNetworkVolumes({ query }, { signal }), { everyMs: EVERY_MS })
  const noRight = useNoRight()
  return (
    <section aria-labelledby="network" className="flex flex-col gap-3">
      <div className="flex items-center justify-between">
        <h2 id="network" className="font-semibold">
          Network volumes
        </h2>
        <NewNetworkVolume noRight={noRight} />
      </div>
      <ListSearch of={filter} />
      <LiveTable
        of={volumes}
        rows={({ networkVolumes }) => networkVolumes}
        empty={filter.isSearch ? { title: 'No matching network volumes' } : NO_NETWORK_VOLUMES}
        caption="Network volumes"
        keyOf={({ id }) => id}
        columns={[
          { title: 'Name', show: ({ name }) => name },
          { title: 'Size', isNumber: true, show: ({ size }) => `${size} GB` },
          { title: 'Used', isMinor: true, show: used },
          { title: 'Data center', isMinor: true, show: ({ dataCenter }) => dataCenter },
          { title: 'Type', isMinor: true, show: ({ type }) => type },
          {
            title: 'Actions',
            show: (volume) => (
              <div className="flex flex-wrap gap-2">
                <EditNetworkVolume volume={volume} noRight={noRight} />
                <DeleteButton
                  name={volume.name}
                  path={`/v2/network-volumes/${volume.id}`}
                  remove={(api) => api.deleteNetworkVolume({ path: { id: volume.id } })}
                  refresh="network-volumes"
                  noRight={noRight}
                  losesData
                >
                  <p>Everything in it is lost.</p>
                </DeleteButton>
              </div>
            ),
          },
        ]}
      />
    </section>
  )
}

const BLANK = { name: '', size: '10', dataCenter: '' }

function NewNetworkVolume({ noRight }: { noRight: string | undefined }) {
  const centers = useLive(['catalog', 'data-centers'], (client, signal) => client.listDataCenters({}, { signal }), { everyMs: 0 })
  const bodyOf = (text: typeof BLANK) => ({ ...text, size: readNumber(text.size) ?? 0 })
  return (
    <FormDialog
      title="New network volume"
      verb="Create"
      isPrimary
      noRight={noRight}
      start={BLANK}
      isKept
      call={(text) => ({ method: 'POST', path: '/v2/network-volumes', body: bodyOf(text) })}
      send={(api, text) => api.createNetworkVolume({ body: bodyOf(text) })}
      done="The volume is created"
      refresh="network-volumes"
    >
      {(input) => (
        <>
          <TextField label="Name" required autoComplete="off" {...input('name')} />
          <TextField label="Size (GB)" inputMode="numeric" required hint="10 to 4096. It can grow later, not shrink." {...input('size')} />
          <SelectField label="Data center" required {...input('dataCenter')}>
            <option value="">Choose one</option>
            <Options of={(centers.data?.dataCenters ?? []).map(({ id }) => id)} />
          </SelectField>
        </>
      )}
    </FormDialog>
  )
}

function EditNetworkVolume({ volume, noRight }: { volume: NetworkVolume; noRight: string | undefined }) {
  const start = { name: volume.name, size: String(volume.size) }
  const bodyOf = ({ name, size }: typeof start) => {
    const wanted = readNumber(size)
    return { ...(name !== volume.name && { name }), ...(wanted !== undefined && wanted !== volume.size && { size: wanted }) }
  }
  return (
    <FormDialog
      title="Edit"
      name={`Edit ${volume.name}`}
      verb="Save"
      noRight={noRight}
      start={start}
      call={(text) => ({ method: 'PATCH', path: `/v2/network-volumes/${volume.id}`, body: bodyOf(text) })}
      send={(api, text) => api.updateNetworkVolume({ path: { id: volume.id }, body: bodyOf(text) })}
      done="The volume is changed"
      refresh="network-volumes"
    >
      {(input, { size }) => (
        <>
          <TextField label="Name" {...input('name')} />
          <TextField label="Size (GB)" inputMode="numeric" hint="It can only grow." {...input('size')} />
          <GrowthPlan volume={volume} text={size} />
        </>
      )}
    </FormDialog>
  )
}

function GrowthPlan({ volume, text }: { volume: NetworkVolume; text: string }) {
  const size = readNumber(useDebounced(text))
  if (size === undefined || size === volume.size) return null
  return <Plan of={{ method: 'PATCH', path: `/v2/network-volumes/${volume.id}`, body: { size } }} />
}

function GlobalVolumes() {
  const filter = useListFilter('global-')
  const { query } = filter
  const volumes = useLive(['global-volumes', query], (api, signal) => api.listGlobalVolumes({ query }, { signal }), { everyMs: EVERY_MS })
  const noRight = useNoRight()
  return (
    <section aria-labelledby="global" className="flex flex-col gap-3">
      <div className="flex items-center justify-between">
        <h2 id="global" className="font-semibold">
          Global volumes
        </h2>
        <NameGlobalVolume noRight={noRight} />
      </div>
      <ListSearch of={filter} />
      <LiveTable
        of={volumes}
        rows={({ globalVolumes }) => globalVolumes}
        position="global-from"
        empty={filter.isSearch ? { title: 'No matching global volumes' } : NO_GLOBAL_VOLUMES}
        caption="Global volumes"
        keyOf={({ id }) => id}
        columns={[
          { title: 'Name', show: ({ name }) => name },
          { title: 'Used', isMinor: true, show: used },
          { title: 'Created', isMinor: true, show: ({ createdAt }) => <Ago at={createdAt} /> },
          {
            title: 'Actions',
            show: (volume) => (
              <div className="flex flex-wrap gap-2">
                <NameGlobalVolume volume={volume} noRight={noRight} />
                <DeleteButton
                  name={volume.name}
                  path={`/v2/global-volumes/${volume.id}`}
                  remove={(api) => api.deleteGlobalVolume({ path: { id: volume.id } })}
                  refresh="global-volumes"
                  noRight={noRight}
                  losesData
                >
                  <p>Everything in it is lost.</p>
                </DeleteButton>
              </div>
            ),
          },
        ]}
      />
    </section>
  )
}

/** The name is the only field of a global volume: one form creates and renames it. */
function NameGlobalVolume({ volume, noRight }: { volume?: GlobalVolume; noRight: string | undefined }) {
  return (
    <FormDialog
      title={volume === undefined ? 'New global volume' : 'Edit'}
      name={volume && `Edit ${volume.name}`}
      verb={volume === undefined ? 'Create' : 'Save'}
      noRight={noRight}
      start={{ name: volume?.name ?? '' }}
      call={(body) =>
        volume === undefined
          ? { method: 'POST', path: '/v2/global-volumes', body }
          : { method: 'PATCH', path: `/v2/global-volumes/${volume.id}`, body }
      }
      send={(api, body) =>
        volume === undefined ? api.createGlobalVolume({ body }) : api.updateGlobalVolume({ path: { id: volume.id }, body })
      }
      done={volume === undefined ? 'The volume is created' : 'The volume is renamed'}
      refresh="global-volumes"
    >
      {(input) => <TextField label="Name" required autoComplete="off" {...input('name')} />}
    </FormDialog>
  )
}
