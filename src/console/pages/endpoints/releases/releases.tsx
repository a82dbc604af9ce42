import { useState } from 'react'
import type { ApiClient } from '../../../../client/client.ts'
import { nextOf, type PageRequest, pageOf } from '../../../../client/page.ts'
import type { Release } from '../../../../contract/endpoints/releases.ts'
import { useAct } from '../../../hooks/act.ts'
import { useLive } from '../../../hooks/live.ts'
import { useApi } from '../../../hooks/session.ts'
import { Button } from '../../../parts/button.tsx'
import { count } from '../../../parts/format.ts'
import { Confirm } from '../../../parts/over/confirm.tsx'
import { Pre } from '../../../parts/pre.tsx'
import { Table } from '../../../parts/table.tsx'
import { Ago } from '../../../parts/time.tsx'
import { Empty, ViewState } from '../../../parts/view-state.tsx'
import { rollbackTo } from './rollback.ts'

const MAY_NOT = 'Your role in this account may not change endpoints.'
const PAGE = 1_000

/** Releases of an endpoint, the changes of each, and the rollback. */
export function Releases({ endpointId }: { endpointId: string }) {
  const releases = useLive(['releases', endpointId], (api, signal) => readReleases(api, endpointId, signal))
  const [target, setTarget] = useState<Release | null>(null)
  return (
    <ViewState of={releases} empty={{ when: ({ releases: { length } }) => length === 0, show: <Empty title="No releases yet" /> }}>
      {({ endpointVersion, rollout, releases: rows }) => (
        <div className="flex flex-col gap-3">
          <p>
            Release {endpointVersion} is the newest.{' '}
            {rollout.inProgress
              ? `${rollout.workersOnLatest} of ${count(rollout.workersTotal, 'worker')} run it so far.`
              : 'No worker runs an older one.'}
          </p>
          <Table
            caption="Releases"
            rows={rows}
            keyOf={({ id }) => id}
            columns={[
              { title: 'Release', show: ({ version }) => version },
              { title: 'Created', show: ({ createdAt }) => <Ago at={createdAt} /> },
              { title: 'Workers', isNumber: true, isMinor: true, show: ({ workerCount }) => workerCount },
              { title: 'Changes', show: (release) => <Changes of={release} /> },
              {
                title: 'Actions',
                show: (release) =>
                  release.version === endpointVersion ? (
                    <span className="text-soft">Newest</span>
                  ) : (
                    <GoBack version={release.version} onClick={() => setTarget(release)} />
                  ),
              },
            ]}
          />
          {target && <GoBackDialog endpointId={endpointId} target={target} releases={rows} onClose={() => setTarget(null)} />}
        </div>
      )}
    </ViewState>
  )
}

/** All releases: the way back to one needs every later one. */
async function readReleases(api: ApiClient, endpointId: string, signal: AbortSignal) {
  const read = (query: PageRequest) => api.listEndpointReleases({ path: { id: endpointId }, query }, { signal })
  const newest = await read({ limit: PAGE })
  const releases = [...pageOf(newest).items]
  for (let cursor = nextOf(newest); cursor !== null; ) {
    const page = await read({ limit: PAGE, cursor })
    releases.push(...pageOf(page).items)
    cursor = nextOf(page)
  }
  return { ...newest, releases }
}

function GoBack({ version, onClick }: { version: number; onClick: () => void }) {
  const { may } = useApi()
  return (
    <Button aria-label={`Roll back to release ${version}`} disabledReason={may('serverless:write') ? undefined : MAY_NOT} onClick={onClick}>
      Roll back
    </Button>
  )
}

function Changes({ of: { diff, version } }: { of: Release }) {
  if (diff.length === 0) return <span className="text-soft">{version === 1 ? 'First release' : 'None'}</span>
  return (
    <ul className="flex flex-col gap-1 font-mono text-xs">
      {diff.map((change) => (
        <li key={change.field} className="break-all">
          {change.field}: <del className="text-bad">{JSON.stringify(change.old)}</del>{' '}
          <ins className="text-good no-underline">{JSON.stringify(change.new)}</ins>
        </li>
      ))}
    </ul>
  )
}

interface DialogProps {
  endpointId: string
  target: Release
  releases: readonly Release[]
  onClose: () => void
}

/** A rollback is an ordinary change: it makes a new release with the old values. */
function GoBackDialog({ endpointId, target, releases, onClose }: DialogProps) {
  const { api, refresh } = useApi()
  const { isBusy, run } = useAct()
  const { body, lost } = rollbackTo(target.version, releases)
  const isEmpty = Object.keys(body).length === 0
  const goBack = async () => {
    const isDone = await run(() => api.updateEndpoint({ path: { id: endpointId }, body }), `Rolled back to release ${target.version}`)
    await refresh()
    if (isDone) onClose()
  }
  return (
    <Confirm
      title={`Roll back to release ${target.version}?`}
      verb="Roll back"
      isOpen
      isBusy={isBusy}
      onClose={onClose}
      onConfirm={() => void goBack()}
      plan={isEmpty ? undefined : { method: 'PATCH', path: `/v2/serverless/${endpointId}`, body }}
      disabledReason={isEmpty ? 'A change cannot restore anything of this release.' : undefined}
    >
      <Pre>{JSON.stringify(body, null, 2)}</Pre>
      {lost.length > 0 && (
        <p className="text-warn">These fields stay unchanged, because a release does not store their values: {lost.join(', ')}.</p>
      )}
    </Confirm>
  )
}
