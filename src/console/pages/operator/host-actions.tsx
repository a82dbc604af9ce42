import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import type { Host } from '../../../contract/hosts/hosts.ts'
import { useAct } from '../../hooks/act.ts'
import { useRefresh } from '../../hooks/live.ts'
import { paths } from '../../hooks/paths.ts'
import { useApi } from '../../hooks/session.ts'
import { Button } from '../../parts/button.tsx'
import { CopyAs } from '../../parts/copy/copy-as.tsx'
import { Confirm } from '../../parts/over/confirm.tsx'

/** Buttons that cordon, drain and remove a host. A cordon loses nothing, so it needs no confirmation. */
export function HostActions({ of: host }: { of: Host }) {
  const { api } = useApi()
  const { isBusy, run } = useAct()
  const refresh = useRefresh()
  const [asking, ask] = useState<'drain' | 'remove' | null>(null)
  const router = useRouter()
  const path = { id: host.id }
  const act = async (what: () => Promise<unknown>, done: string) => {
    const worked = await run(what, done)
    ask(null)
    await refresh('operator')
    return worked
  }
  const remove = async () => {
    if (await act(() => api.removeHost({ path }), `${host.name} is removed`)) await router.navigate({ to: paths.hosts() as '/' })
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
      <Button disabledReason={host.draining ? 'The host is draining already.' : undefined} onClick={() => ask('drain')}>
        Drain
      </Button>
      <Button
        kind="danger"
        disabledReason={pods + workers > 0 ? 'Drain the host first: it has workloads.' : undefined}
        onClick={() => ask('remove')}
      >
        Remove
      </Button>
      <Confirm
        title={`Drain ${host.name}?`}
        verb="Drain"
        isOpen={asking === 'drain'}
        isBusy={isBusy}
        onClose={() => ask(null)}
        onConfirm={() => void act(() => api.drainHost({ path, body: {} }), `${host.name} is draining`)}
        plan={{ method: 'POST', path: `/admin/v1/hosts/${host.id}/drain`, body: {}, command: `hosts drain ${host.id}` }}
      >
        <p>The host takes no new work, and workloads that can leave are asked to leave.</p>
      </Confirm>
      <Confirm
        title={`Remove ${host.name}?`}
        verb="Remove"
        typed={host.name}
        isOpen={asking === 'remove'}
        isBusy={isBusy}
        onClose={() => ask(null)}
        onConfirm={() => void remove()}
        plan={{ method: 'DELETE', path: `/admin/v1/hosts/${host.id}` }}
      >
        <p>The plane then refuses its agent. To join again, the host needs a new join token.</p>
      </Confirm>
    </>
  )
}
