import type { GpuType } from '../../../contract/catalog/catalog.ts'
import { type FieldErrors, fieldErrors } from '../../hooks/field-errors.ts'
import { useLive } from '../../hooks/live.ts'
import { useGo } from '../../hooks/params.ts'
import { paths } from '../../hooks/paths.ts'
import { useApi } from '../../hooks/session.ts'
import { ContainerFields } from '../../parts/container/container-fields.tsx'
import { containerProblems } from '../../parts/container/container-form.ts'
import { CheckField, SelectField, TextField } from '../../parts/form/field.tsx'
import { type FieldsProps, Form, type Input, inputsOf, Options, Refusal, Submit, useForm } from '../../parts/form/form.tsx'
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
  const { api, may, refresh } = useApi()
  const go = useGo()
  const { isBusy, errors, refusal, send, text, set, setText } = useForm<ClusterText>(EMPTY_CLUSTER)
  const preview = useClusterPreview(text)
  const both: FieldErrors = { ...errors, of: (path) => errors.of(path) ?? fieldErrors(preview.error).of(path) }
  const missing = Object.values(containerProblems(text.container))[0] ?? missingOfCluster(text)
  const reason = may('clusters:write') ? missing : 'Your role may view clusters but not create them.'
  const { input, check } = inputsOf(text, set, both)
  const submit = async () => {
    if (isBusy || reason !== undefined) return
    const cluster = await send(() => api.createCluster({ body: clusterBody(text) }), 'The cluster is created')
    if (cluster === undefined) return
    await refresh('clusters')
    go(paths.cluster(cluster.id))
  }
  return (
    <Page title="New cluster">
      <Form onSubmit={submit} className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="flex min-w-0 flex-col gap-4">
          <Panel title="Members">
            <MemberFields text={text} onChange={set} errors={both} />
          </Panel>
          <Panel title="Container">
            <div className="flex flex-col gap-4">
              <TemplateField {...input('templateId')} />
              <ContainerFields text={text.container} onChange={(container) => set({ container })} errors={both} hasRegistry={false} />
              <CheckField label="SSH access" {...check('startSsh')} />
            </div>
          </Panel>
        </div>
        <div className="flex flex-col gap-4 lg:sticky lg:top-16">
          <ClusterPreview answer={preview} missing={missing} onTake={(body) => setText((before) => withClusterOption(before, body))} />
          <Refusal text={refusal} />
          <Submit isBusy={isBusy} disabledReason={reason} call={{ method: 'POST', path: '/v2/clusters', body: clusterBody(text) }}>
            Create cluster
          </Submit>
        </div>
      </Form>
    </Page>
  )
}

function MemberFields({ text, onChange, errors }: FieldsProps<ClusterText>) {
  const { input, check } = inputsOf(text, onChange, errors)
  const query = { include: 'AVAILABILITY', product: 'CLUSTER' }
  const gpus = useLive(['catalog', 'gpus', query], (api, signal) => api.listGpuTypes({ query }, { signal }), { everyMs: 15_000 })
  const volumes = useLive(['network-volumes'], (api, signal) => api.listNetworkVolumes({}, { signal }), { everyMs: 0 })
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <TextField label="Name" required autoComplete="off" {...input('name')} />
      <SelectField label="Type" {...input('type')} hint="SLURM and Ray give members roles and files.">
        <Options of={Object.entries(TYPES)} />
      </SelectField>
      <ViewState of={gpus}>{({ gpus: all }) => <GpuField of={all} {...input('gpuTypeId', 'compute.gpuTypeId')} />}</ViewState>
      <TextField label="GPUs per member" type="number" min={1} {...input('gpuCountPerPod', 'compute.gpuCountPerPod')} />
      <TextField label="Members" type="number" min={2} {...input('podCount', 'compute.podCount')} />
      <DataCenterField {...input('dataCenters', 'dataCenterIds')} />
      <SelectField label="Network volume" {...input('networkVolumeId', 'mounts')} hint="All members share it, at /workspace.">
        <option value="">None</option>
        <Options of={(volumes.data?.networkVolumes ?? []).map(({ id, name, dataCenter }) => [id, `${name} (${dataCenter})`])} />
      </SelectField>
      <CheckField label="Start a member on another machine if its machine is lost" {...check('isReplaced', 'onHostLoss')} />
    </div>
  )
}

/** Types with free capacity come first. */
function GpuField({ of, ...input }: Input & { of: readonly GpuType[] }) {
  const offered = of.filter(({ secure, community }) => secure || community)
  return (
    <SelectField label="GPU type" {...input}>
      <option value="">Choose one</option>
      <Options
        of={offered
          .toSorted((a, b) => Number(b.availability !== 'NONE') - Number(a.availability !== 'NONE'))
          .map(({ id, name, availability }) => [id, availability === 'NONE' ? `${name} (none free)` : name])}
      />
    </SelectField>
  )
}
