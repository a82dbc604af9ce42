import { useLive } from '../../hooks/live.ts'
import { paths } from '../../hooks/paths.ts'
import { LinkButton } from '../../parts/button.tsx'
import { count } from '../../parts/format.ts'
import { A } from '../../parts/link.tsx'
import { given, ListSearch, PAGE, useListFilter } from '../../parts/list-filter.tsx'
import { Page } from '../../parts/page.tsx'
import { PagedTable } from '../../parts/table.tsx'

const NO_TEMPLATES = {
  title: 'No templates yet',
  command: 'podplane templates create --help',
  children: (
    <p>A template has a name and stores an image with its command, ports and environment. You create pods and endpoints from it.</p>
  ),
}

/** Container configurations stored under a name. */
export function TemplatesPage() {
  const filter = useListFilter()
  const query = { limit: PAGE, include: 'COUNTS', ...filter.query, ...given({ cursor: filter.cursor }) }
  const templates = useLive(['templates', query], (api, signal) => api.listTemplates({ query }, { signal }), { everyMs: 30_000 })
  const total = templates.data?.counts?.total
  return (
    <Page
      title="Templates"
      actions={
        <LinkButton to={paths.template('new')} kind="primary">
          New template
        </LinkButton>
      }
    >
      <ListSearch of={filter} total={total === undefined ? undefined : count(total, 'template')} />
      <PagedTable
        of={templates}
        empty={filter.isSearch ? { title: 'No matching templates' } : NO_TEMPLATES}
        caption="Templates"
        keyOf={({ id }) => id}
        columns={[
          { title: 'Name', show: ({ id, name }) => <A to={paths.template(id)}>{name}</A> },
          { title: 'Image', show: ({ image }) => <code className="break-all">{image}</code> },
          { title: 'Used for', isMinor: true, show: ({ serverless }) => (serverless ? 'endpoints' : 'pods') },
          { title: 'Visible to', isMinor: true, show: (template) => (template.public ? 'every account' : 'this account') },
          { title: 'Actions', isMinor: true, show: ({ id, name, serverless }) => !serverless && <Use id={id} name={name} /> },
        ]}
        cursor={filter.cursor}
        go={filter.go}
      />
    </Page>
  )
}

function Use({ id, name }: { id: string; name: string }) {
  return <A to={`${paths.newPod()}?template=${encodeURIComponent(id)}`}>New pod from {name}</A>
}
