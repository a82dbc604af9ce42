import { type FormEvent, useState } from 'react'
import type { Cluster } from '../../../contract/clusters/clusters.ts'
import { useRefresh } from '../../hooks/live.ts'
import { useApi } from '../../hooks/session.ts'
import { useSubmit } from '../../hooks/submit.ts'
import { Button } from '../../parts/button.tsx'
import { CopyAs } from '../../parts/copy/copy-as.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/form/field.tsx'
import { Refusal } from '../../parts/form/refusal.tsx'

/** Form for the name, the only field of a cluster that can change. */
export function Rename({ cluster: { id, name }, noRight }: { cluster: Cluster; noRight: string | undefined }) {
  const { api } = useApi()
  const refresh = useRefresh()
  const { isBusy, errors, refusal, send } = useSubmit()
  const [text, setText] = useState<string | null>(null)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const answer = await send(() => api.updateCluster({ path: { id }, body: { name: text ?? name } }), 'The cluster is renamed')
    if (answer === undefined) return
    setText(null)
    await refresh('clusters')
  }
  return (
    <>
      <Button disabledReason={noRight} onClick={() => setText(name)}>
        Rename
      </Button>
      <Dialog title={`Rename ${name}`} isOpen={text !== null} onClose={() => setText(null)}>
        <form onSubmit={(event) => void submit(event)} className="flex flex-col gap-3">
          <Refusal text={refusal} />
          <TextField
            label="Name"
            autoComplete="off"
            value={text ?? ''}
            error={errors.of('name')}
            onChange={({ target }) => setText(target.value)}
          />
          <div className="flex justify-end gap-2">
            <CopyAs call={{ method: 'PATCH', path: `/v2/clusters/${id}`, body: { name: text ?? name } }} />
            <Button onClick={() => setText(null)}>Cancel</Button>
            <Button type="submit" kind="primary" isBusy={isBusy}>
              Rename
            </Button>
          </div>
        </form>
      </Dialog>
    </>
  )
}
