import { useRouter } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import type { GpuType } from '../../../contract/catalog/catalog.ts'
import type { FieldErrors } from '../../hooks/field-errors.ts'
import { useLive, useRefresh } from '../../hooks/live.ts'
import { paths } from '../../hooks/paths.ts'
import { useApi } from '../../hooks/session.ts'
import { useSubmit } from '../../hooks/submit.ts'
import { Button } from '../../parts/button.tsx'
import { ContainerFields } from '../../parts/container/container-fields.tsx'
import { containerProblems } from '../../parts/container/container-form.ts'
import { CopyAs } from '../../parts/copy/copy-as.tsx'
import { CheckField, SelectField, TextField } from '../../parts/form/field.tsx'
import { Refusal } from '../../parts/form/refusal.tsx'
import { Page, Panel } from '../../parts/page.tsx'
import { ViewState } from '../../parts/view-state.tsx'
import { DataCenterField } from '../pods/create/data-center-field.tsx'
import { TemplateField } from '../pods/create/template-field.tsx'
import { type ClusterText, clusterBody, EMPTY_CLUSTER, missingOfCluster, withClusterOption } from './cluster-form.ts'
import { ClusterPreview, useClusterPreview } from './preview.tsx'

/** The types differ in what the plane sets up in their members. */
const TYPES = { TRAINING: 'Training', APPLICATION: 'Application', SLURM: 'SLURM', RAY: 'Ray' } as const

/** Form that creates a cluster; a dry run shows the placement of its members while the user types. */
export function NewClusterPage() {
  const { api, may } = useApi()
  const router = useRouter()
  const refresh = useRefresh()
  const { isBusy, errors, refusal, send } = useSubmit()
  const [text, setText] = useState<ClusterText>(EMPTY_CLUSTER)
  const set = (part: Partial<ClusterText>) => setText((before) => ({ ...before, ...part }))
  const preview = useClusterPreview(text)
  const both: FieldErrors = { ...errors, of: (path) => errors.of(path) ?? preview.errors.of(path) }
  const missing = Object.values(containerProblems(text.container))[0] ?? missingOfCluster(text)
  const reason = may('clusters:write') ? missing : 'Your role may view clusters but not create them.'
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (isBusy || reason !== undefined) return
    const cluster = await send(() => api.createCluster({ body: clusterBody(text) }), 'The cluster is created')
    if (cluster === undefined) return
    await refresh('clusters')
    void router.navigate({ to: paths.cluster(cluster.id) } as object)
  }
  return (
    <Page title="New cluster">
      <form onSubmit={(event) => void submit(event)} className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="flex min-w-0 flex-col gap-4">
          <Panel title="Members">
            <MemberFields text={text} onChange={set} errors={both} />
          </Panel>
          <Panel title="Container">
            <div className="flex flex-col gap-4">
              <TemplateField value={text.templateId} onChange={(templateId) => set({ templateId })} error={both.of('templateId')} />
              <ContainerFields text={text.container} onChange={(container) => set({ container })} errors={both} hasRegistry={false} />
              <CheckField
                label="SSH access"
                checked={text.startSsh}
                error={both.of('startSsh')}
                onChange={({ target }) => set({ startSsh: target.checked })}
              />
            </div>
          </Panel>
        </div>
        <div className="flex flex-col gap-4 lg:sticky lg:top-16">
          <ClusterPreview
            answer={preview.answer}
            missing={missing}
            onTake={(body) => setText((before) => withClusterOption(before, body))}
          />
          <Refusal text={refusal} />
          <div className="flex flex-wrap gap-2">
            <Button type="submit" kind="primary" isBusy={isBusy} disabledReason={reason}>
              Create cluster
            </Button>
            <CopyAs call={{ method: 'POST', path: '/v2/clusters', body: clusterBody(text) }} />
          </div>
        </div>
      </form>
    </Page>
  )
}

interface MemberFieldsProps {
  text: ClusterText
  onChange: (part: Partial<ClusterText>) => void
  errors: FieldErrors
}

function MemberFields({ text, onChange, errors }: MemberFieldsProps) {
  const query = { include: 'AVAILABILITY', product: 'CLUSTER' }
  const gpus = useLive(['catalog', 'gpus', query], (api, signal) => api.listGpuTypes({ query }, { signal }), { everyMs: 15_000 })
  const volumes = useLive(['network-volumes'], (api, signal) => api.listNetworkVolumes({}, { signal }), { everyMs: 0 })
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <TextField
        label="Name"
        required
        autoComplete="off"
        value={text.name}
        error={errors.of('name')}
        onChange={({ target }) => onChange({ name: target.value })}
      />
      <SelectField
        label="Type"
        value={text.type}
        error={errors.of('type')}
        hint="SLURM and Ray give members roles and files."
        onChange={({ target }) => onChange({ type: target.value as ClusterText['type'] })}
      >
        {Object.entries(TYPES).map(([value, title]) => (
          <option key={value} value={value}>
            {title}
          </option>
        ))}
      </SelectField>
      <ViewState of={gpus}>
        {({ gpus: all }) => (
          <GpuField
            of={all}
            value={text.gpuTypeId}
            error={errors.of('compute.gpuTypeId')}
            onChange={(gpuTypeId) => onChange({ gpuTypeId })}
          />
        )}
      </ViewState>
      <TextField
        label="GPUs per member"
        type="number"
        min={1}
        value={text.gpuCountPerPod}
        error={errors.of('compute.gpuCountPerPod')}
        onChange={({ target }) => onChange({ gpuCountPerPod: target.value })}
      />
      <TextField
        label="Members"
        type="number"
        min={2}
        value={text.podCount}
        error={errors.of('compute.podCount')}
        onChange={({ target }) => onChange({ podCount: target.value })}
      />
      <DataCenterField value={text.dataCenters} onChange={(dataCenters) => onChange({ dataCenters })} error={errors.of('dataCenterIds')} />
      <SelectField
        label="Network volume"
        value={text.networkVolumeId}
        error={errors.of('mounts')}
        hint="All members share it, at /workspace."
        onChange={({ target }) => onChange({ networkVolumeId: target.value })}
      >
        <option value="">None</option>
        {volumes.data?.networkVolumes.map(({ id, name, dataCenter }) => (
          <option key={id} value={id}>
            {name} ({dataCenter})
          </option>
        ))}
      </SelectField>
      <CheckField
        label="Start a member on another machine if its machine is lost"
        checked={text.isReplaced}
        error={errors.of('onHostLoss')}
        onChange={({ target }) => onChange({ isReplaced: target.checked })}
      />
    </div>
  )
}

interface GpuFieldProps {
  of: readonly GpuType[]
  value: string
  error: string | undefined
  onChange: (id: string) => void
}

/** Types with free capacity come first. */
function GpuField({ of, value, error, onChange }: GpuFieldProps) {
  const offered = of.filter(({ secure, community }) => secure || community)
  return (
    <SelectField label="GPU type" value={value} error={error} onChange={({ target }) => onChange(target.value)}>
      <option value="">Choose one</option>
      {offered
        .toSorted((a, b) => Number(b.availability !== 'NONE') - Number(a.availability !== 'NONE'))
        .map(({ id, name, availability }) => (
          <option key={id} value={id}>
            {name}
            {availability === 'NONE' ? ' (none free)' : ''}
          </option>
        ))}
    </SelectField>
  )
}
