import { useLive } from '../../hooks/live.ts'
import { paths } from '../../hooks/paths.ts'
import { useUrlState } from '../../hooks/url-state.ts'
import { LinkButton } from '../../parts/button.tsx'
import { A } from '../../parts/link.tsx'
import { Page } from '../../parts/page.tsx'
import { LiveTable } from '../../parts/table.tsx'

/** Container configurations stored under a name. */
export function TemplatesPage() {
  const [cursor, setCursor] = useUrlState('cursor', '')
  const templates = useLive(
    ['templates', 'page', cursor],
    (api, signal) => api.listTemplates({ query: { limit: 100, ...(cursor !== '' && { cursor }) } }, { signal }),
    { everyMs: 30_000 },
  )
  return (
    <Page
      title="Templates"
      actions={
        <LinkButton to={paths.template('new')} kind="primary">
          New template
        </LinkButton>
      }
    >
      <LiveTable
        of={templates}
        rows={(answer) => answer.templates}
        empty={{
          title: 'No templates yet',
          command: 'podplane templates create --help',
          children: (
            <p>A template has a name and stores an image with its command, ports and environment. You create pods and endpoints from it.</p>
          ),
        }}
        caption="Templates"
        keyOf={({ id }) => id}
        columns={[
          { title: 'Name', show: ({ id, name }) => <A to={paths.template(id)}>{name}</A> },
          { title: 'Image', show: ({ image }) => <code className="break-all">{image}</code> },
          { title: 'Used for', isMinor: true, show: ({ serverless }) => (serverless ? 'endpoints' : 'pods') },
          { title: 'Visible to', isMinor: true, show: (template) => (template.public ? 'every account' : 'this account') },
          { title: 'Actions', isMinor: true, show: ({ id, name, serverless }) => !serverless && <Use id={id} name={name} /> },
        ]}
        pages={{ cursor, next: templates.data?.pagination.nextCursor ?? null, go: setCursor }}
      />
    </Page>
  )
}

function Use({ id, name }: { id: string; name: string }) {
  return <A to={`${paths.newPod()}?template=${encodeURIComponent(id)}`}>New pod from {name}</A>
}
