import { useState } from 'react'
import type { Cluster } from '../../../contract/clusters/clusters.ts'
import { useApi } from '../../hooks/session.ts'
import { TextField } from '../../parts/form/field.tsx'
import { FormDialog } from '../../parts/over/form-dialog.tsx'

/** Form for the name, the only field of a cluster that can change. */
export function Rename({ cluster: { id, name }, noRight }: { cluster: Cluster; noRight: string | undefined }) {
  const { api } = useApi()
  const [text, setText] = useState({ name })
  return (
    <FormDialog
      title="Rename"
      name={`Rename ${name}`}
      verb="Rename"
      noRight={noRight}
      text={text}
      onChange={setText}
      call={{ method: 'PATCH', path: `/v2/clusters/${id}`, body: text }}
      send={() => api.updateCluster({ path: { id }, body: text })}
      done="The cluster is renamed"
      refresh="clusters"
      onOpen={() => setText({ name })}
    >
      {(input) => <TextField label="Name" autoComplete="off" {...input('name')} />}
    </FormDialog>
  )
}
