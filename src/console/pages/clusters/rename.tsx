import type { Cluster } from '../../../contract/clusters/clusters.ts'
import { TextField } from '../../parts/form/field.tsx'
import { FormDialog } from '../../parts/over/form-dialog.tsx'

/** Form for the name, the only field of a cluster that can change. */
export function Rename({ cluster: { id, name }, noRight }: { cluster: Cluster; noRight: string | undefined }) {
  return (
    <FormDialog
      title="Rename"
      name={`Rename ${name}`}
      verb="Rename"
      noRight={noRight}
      start={{ name }}
      call={(body) => ({ method: 'PATCH', path: `/v2/clusters/${id}`, body })}
      send={(api, body) => api.updateCluster({ path: { id }, body })}
      done="The cluster is renamed"
      refresh="clusters"
    >
      {(input) => <TextField label="Name" autoComplete="off" {...input('name')} />}
    </FormDialog>
  )
}
