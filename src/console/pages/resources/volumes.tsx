import { useState } from 'react'
import type { GlobalVolume } from '../../../contract/resources/global-volumes.ts'
import type { NetworkVolume } from '../../../contract/resources/network-volumes.ts'
import { useDebounced } from '../../hooks/debounced.ts'
import { useLive } from '../../hooks/live.ts'
import { useApi } from '../../hooks/session.ts'
import { readNumber } from '../../parts/container/text-lists.ts'
import { SelectField, TextField } from '../../parts/form/field.tsx'
import { bytes } from '../../parts/format.ts'
import { Page } from '../../parts/page.tsx'
import { Plan } from '../../parts/plan/plan.tsx'
import { Table } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { Empty, ViewState } from '../../parts/view-state.tsx'
import { DeleteButton } from './delete-button.tsx'
import { FormDialog } from './form-dialog.tsx'

/** The used size of a volume changes slowly. */
const EVERY_MS = 30_000

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
  const volumes = useLive(['network-volumes'], (api, signal) => api.listNetworkVolumes({}, { signal }), { everyMs: EVERY_MS })
  const noRight = useNoRight()
  const first = (
    <Empty title="No network volumes yet" command="podplane volumes create --help">
      <p>A network volume has a size and a data center. Pods and workers there can mount it.</p>
    </Empty>
  )
  return (
    <section aria-labelledby="network" className="flex flex-col gap-3">
      <div className="flex items-center justify-between">
        <h2 id="network" className="font-semibold">
          Network volumes
        </h2>
        <NewNetworkVolume noRight={noRight} />
      </div>
      <ViewState of={volumes} empty={{ when: ({ networkVolumes }) => networkVolumes.length === 0, show: first }}>
        {({ networkVolumes }) => (
          <Table
            caption="Network volumes"
            rows={networkVolumes}
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
        )}
      </ViewState>
    </section>
  )
}

function NewNetworkVolume({ noRight }: { noRight: string | undefined }) {
  const { api } = useApi()
  const centers = useLive(['catalog', 'data-centers'], (client, signal) => client.listDataCenters({}, { signal }), { everyMs: 0 })
  const [{ name, size, dataCenter }, setText] = useState({ name: '', size: '10', dataCenter: '' })
  const body = { name, size: readNumber(size) ?? 0, dataCenter }
  return (
    <FormDialog
      title="New network volume"
      verb="Create"
      isPrimary
      noRight={noRight}
      call={{ method: 'POST', path: '/v2/network-volumes', body }}
      send={() => api.createNetworkVolume({ body })}
      done="The volume is created"
      refresh="network-volumes"
    >
      {(errors) => (
        <>
          <TextField
            label="Name"
            required
            autoComplete="off"
            value={name}
            error={errors.of('name')}
            onChange={({ target }) => setText({ name: target.value, size, dataCenter })}
          />
          <TextField
            label="Size (GB)"
            inputMode="numeric"
            required
            value={size}
            error={errors.of('size')}
            hint="10 to 4096. It can grow later, not shrink."
            onChange={({ target }) => setText({ name, size: target.value, dataCenter })}
          />
          <SelectField
            label="Data center"
            required
            value={dataCenter}
            error={errors.of('dataCenter')}
            onChange={({ target }) => setText({ name, size, dataCenter: target.value })}
          >
            <option value="">Choose one</option>
            {centers.data?.dataCenters.map(({ id }) => (
              <option key={id}>{id}</option>
            ))}
          </SelectField>
        </>
      )}
    </FormDialog>
  )
}

function EditNetworkVolume({ volume, noRight }: { volume: NetworkVolume; noRight: string | undefined }) {
  const { api } = useApi()
  const now = { name: volume.name, size: String(volume.size) }
  const [{ name, size }, setText] = useState(now)
  const wanted = readNumber(size)
  const debounced = readNumber(useDebounced(size))
  const body = { ...(name !== volume.name && { name }), ...(wanted !== undefined && wanted !== volume.size && { size: wanted }) }
  return (
    <FormDialog
      title="Edit"
      name={`Edit ${volume.name}`}
      verb="Save"
      noRight={noRight}
      call={{ method: 'PATCH', path: `/v2/network-volumes/${volume.id}`, body }}
      send={() => api.updateNetworkVolume({ path: { id: volume.id }, body })}
      done="The volume is changed"
      refresh="network-volumes"
      onOpen={() => setText(now)}
    >
      {(errors) => (
        <>
          <TextField label="Name" value={name} error={errors.of('name')} onChange={({ target }) => setText({ name: target.value, size })} />
          <TextField
            label="Size (GB)"
            inputMode="numeric"
            value={size}
            error={errors.of('size')}
            hint="It can only grow."
            onChange={({ target }) => setText({ name, size: target.value })}
          />
          {debounced !== undefined && debounced !== volume.size && (
            <Plan of={{ method: 'PATCH', path: `/v2/network-volumes/${volume.id}`, body: { size: debounced } }} />
          )}
        </>
      )}
    </FormDialog>
  )
}

function GlobalVolumes() {
  const volumes = useLive(['global-volumes'], (api, signal) => api.listGlobalVolumes({}, { signal }), { everyMs: EVERY_MS })
  const noRight = useNoRight()
  const first = (
    <Empty title="No global volumes yet" command="podplane global-volumes create --help">
      <p>A global volume can be mounted in every data center and has no fixed size.</p>
    </Empty>
  )
  return (
    <section aria-labelledby="global" className="flex flex-col gap-3">
      <div className="flex items-center justify-between">
        <h2 id="global" className="font-semibold">
          Global volumes
        </h2>
        <NameGlobalVolume noRight={noRight} />
      </div>
      <ViewState of={volumes} empty={{ when: ({ globalVolumes }) => globalVolumes.length === 0, show: first }}>
        {({ globalVolumes }) => (
          <Table
            caption="Global volumes"
            rows={globalVolumes}
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
        )}
      </ViewState>
    </section>
  )
}

/** The name is the only field of a global volume: one form creates and renames it. */
function NameGlobalVolume({ volume, noRight }: { volume?: GlobalVolume; noRight: string | undefined }) {
  const { api } = useApi()
  const [name, setName] = useState(volume?.name ?? '')
  const body = { name }
  return (
    <FormDialog
      title={volume === undefined ? 'New global volume' : 'Edit'}
      {...(volume && { name: `Edit ${volume.name}` })}
      verb={volume === undefined ? 'Create' : 'Save'}
      noRight={noRight}
      call={
        volume === undefined
          ? { method: 'POST', path: '/v2/global-volumes', body }
          : { method: 'PATCH', path: `/v2/global-volumes/${volume.id}`, body }
      }
      send={() => (volume === undefined ? api.createGlobalVolume({ body }) : api.updateGlobalVolume({ path: { id: volume.id }, body }))}
      done={volume === undefined ? 'The volume is created' : 'The volume is renamed'}
      refresh="global-volumes"
      onOpen={() => setName(volume?.name ?? '')}
    >
      {(errors) => (
        <TextField
          label="Name"
          required
          autoComplete="off"
          value={name}
          error={errors.of('name')}
          onChange={({ target }) => setName(target.value)}
        />
      )}
    </FormDialog>
  )
}
