import type { AuditEntry } from '../../../contract/accounts/audit.ts'
import { useLive } from '../../hooks/live.ts'
import { useUrlState } from '../../hooks/url-state.ts'
import { TextField } from '../../parts/form/field.tsx'
import { given } from '../../parts/list-filter.tsx'
import { Page } from '../../parts/page.tsx'
import { Pre } from '../../parts/pre.tsx'
import { PagedTable } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'

const PAGE = 50

/** Audit log of the account: every change with its actor, its resource and the previous values. */
export function AuditPage() {
  const [resource, setResource] = useUrlState('resource', '', { resets: 'cursor' })
  const [action, setAction] = useUrlState('action', '', { resets: 'cursor' })
  const [cursor, setCursor] = useUrlState('cursor', '')
  const query = { limit: PAGE, ...given({ resource, action, cursor }) }
  const list = useLive(['audit', query], (api, signal) => api.listAudit({ query }, { signal }), { everyMs: 15_000 })
  return (
    <Page title="Audit">
      <div className="grid gap-3 sm:grid-cols-2">
        <TextField label="Resource id" value={resource} onChange={(event) => setResource(event.target.value)} />
        <TextField label="Action" placeholder="pods.create" value={action} onChange={(event) => setAction(event.target.value)} />
      </div>
      <PagedTable
        of={list}
        empty={{ title: 'No matching changes' }}
        caption="Changes"
        keyOf={({ id }) => id}
        columns={AUDIT_COLUMNS}
        cursor={cursor}
        go={setCursor}
      />
    </Page>
  )
}

export const AUDIT_COLUMNS = [
  { title: 'Time', show: ({ at }: AuditEntry) => <Ago at={at} /> },
  { title: 'Action', show: ({ action }: AuditEntry) => <code>{action}</code> },
  {
    title: 'Resource',
    show: ({ resource }: AuditEntry) => (
      <span>
        {resource.kind} <code>{resource.id}</code>
      </span>
    ),
  },
  { title: 'Actor', show: ({ actor }: AuditEntry) => `${actor.kind.toLowerCase()}${actor.userId === null ? '' : ` of ${actor.userId}`}` },
  { title: 'Change', isMinor: true, show: (entry: AuditEntry) => <Change of={entry} /> },
]

/** The API returns the values without secrets. */
function Change({ of: { before, after, requestId } }: { of: AuditEntry }) {
  if (before === null && after === null) return <span className="text-soft">–</span>
  return (
    <details>
      <summary>Show</summary>
      <Pre>
        {`before ${JSON.stringify(before, null, 2)}\nafter  ${JSON.stringify(after, null, 2)}${requestId === null ? '' : `\nrequest ${requestId}`}`}
      </Pre>
    </details>
  )
}
