import type { Host } from '../../../contract/hosts/hosts.ts'
import { useAct } from '../../hooks/act.ts'
import { useGo } from '../../hooks/params.ts'
import { paths } from '../../hooks/paths.ts'
import { useApi } from '../../hooks/session.ts'
import { Button } from '../../parts/button.tsx'
import { CopyAs } from '../../parts/copy/copy-as.tsx'
import { ConfirmButton } from '../../parts/over/confirm-button.tsx'

/** Buttons that cordon, drain and remove a host. A cordon loses nothing, so it needs no confirmation. */
export function HostActions({ of: host }: { of: Host }) {
  const { api, refresh } = useApi()
  const { isBusy, run } = useAct()
  const go = useGo()
  const path = { id: host.id }
  const act = async (what: () => Promise<unknown>, done: string) => {
    await run(what, done)
    await refresh('operator')
  }
  const turn = (verb: string) => ({
    method: 'POST' as const,
    path: `/admin/v1/hosts/${host.id}/${verb}`,
    command: `hosts ${verb} ${host.id}`,
  })
  const { pods, workers } = host.workloads
  return (
    <>
      {host.cordon === null ? (
        <Button isBusy={isBusy} onClick={() => void act(() => api.cordonHost({ path, body: {} }), `${host.name} takes no new work`)}>
          Cordon
        </Button>
      ) : (
        <Button isBusy={isBusy} onClick={() => void act(() => api.uncordonHost({ path }), `${host.name} takes work again`)}>
          Uncordon
        </Button>
      )}
      <CopyAs call={host.cordon === null ? { ...turn('cordon'), body: {} } : turn('uncordon')} />
      <ConfirmButton
        title={`Drain ${host.name}?`}
        verb="Drain"
        kind="plain"
        disabledReason={host.draining ? 'The host is draining already.' : undefined}
        act={() => api.drainHost({ path, body: {} })}
        done={`${host.name} is draining`}
        refresh={['operator']}
        plan={{ method: 'POST', path: `/admin/v1/hosts/${host.id}/drain`, body: {}, command: `hosts drain ${host.id}` }}
      >
        <p>The host takes no new work, and workloads that can leave are asked to leave.</p>
      </ConfirmButton>
      <ConfirmButton
        title={`Remove ${host.name}?`}
        verb="Remove"
        typed={host.name}
        disabledReason={pods + workers > 0 ? 'Drain the host first: it has workloads.' : undefined}
        act={() => api.removeHost({ path })}
        done={`${host.name} is removed`}
        refresh={['operator']}
        onDone={() => go(paths.hosts())}
        plan={{ method: 'DELETE', path: `/admin/v1/hosts/${host.id}` }}
      >
        <p>The plane then refuses its agent. To join again, the host needs a new join token.</p>
      </ConfirmButton>
    </>
  )
}
