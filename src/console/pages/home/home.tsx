import { paths } from '../../hooks/paths.ts'
import { useApi } from '../../hooks/session.ts'
import { LinkButton } from '../../parts/button.tsx'
import { A } from '../../parts/link.tsx'
import { Page, Panel } from '../../parts/page.tsx'
import { ViewState } from '../../parts/view-state.tsx'
import { attentionOf } from './attention.ts'
import { FirstSteps } from './first-steps.tsx'
import { Running } from './running.tsx'
import { useOverview } from './use-overview.ts'

/** Home: items that need attention, then running resources; for an empty account, the first steps. */
export function HomePage() {
  const { account } = useApi()
  if (account.id === null) {
    return (
      <Page title="Home">
        <p>
          This session has no account. It can operate the plane: <A to={paths.hosts()}>hosts</A>.
        </p>
      </Page>
    )
  }
  return <Overview />
}

function Overview() {
  const overview = useOverview()
  return (
    <Page
      title="Home"
      actions={
        <LinkButton to={paths.newPod()} kind="primary">
          New pod
        </LinkButton>
      }
    >
      <ViewState of={overview}>
        {(found) => (
          <>
            <Attention lines={attentionOf(found)} />
            {found.pods.total + found.clusters.length === 0 && <FirstSteps endpoints={found.endpoints.first} />}
            <Running of={found} />
          </>
        )}
      </ViewState>
    </Page>
  )
}

function Attention({ lines }: { lines: ReturnType<typeof attentionOf> }) {
  if (lines.length === 0) return null
  return (
    <Panel title="Needs attention">
      <ul className="flex flex-col gap-2">
        {lines.map(({ key, to, name, text, isBad }) => (
          <li key={key} className="flex flex-wrap gap-x-2">
            <span className={isBad ? 'text-bad' : 'text-warn'} aria-hidden="true">
              {isBad ? '✕' : '◐'}
            </span>
            <A to={to}>{name}</A>
            <span className="min-w-0 break-words">{text}</span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
