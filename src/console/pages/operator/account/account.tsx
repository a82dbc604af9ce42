import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useAct } from '../../../app/act.ts'
import { useLive } from '../../../app/live.ts'
import { useApi } from '../../../app/session.ts'
import { Button } from '../../../parts/button.tsx'
import { Confirm } from '../../../parts/over/confirm.tsx'
import { Page } from '../../../parts/page.tsx'
import { Keys } from './keys.tsx'
import { Budgets, Ceilings, Quotas } from './limits.tsx'
import { AccountPlan } from './plan.tsx'

/** One user, as the operator sees it: keys, what the account may, and the switch that ends it. */
export function AccountPage() {
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  const users = useLive(['operator', 'users'], (api, signal) => api.listUsers({}, { signal }), { everyMs: 0 })
  const email = users.data?.users.find((user) => user.id === id)?.email
  return (
    <Page title={email ?? id} actions={<Suspend id={id} name={email ?? id} />}>
      <Keys id={id} />
      <div className="grid gap-4 lg:grid-cols-2">
        <AccountPlan id={id} />
        <Quotas id={id} />
        <Budgets id={id} />
        <Ceilings id={id} />
      </div>
    </Page>
  )
}

function Suspend({ id, name }: { id: string; name: string }) {
  const { api } = useApi()
  const { isBusy, run } = useAct()
  const [isAsking, setIsAsking] = useState(false)
  const suspend = async () => {
    await run(() => api.suspendUser({ path: { id } }), `${name} is suspended`)
    setIsAsking(false)
  }
  return (
    <>
      <Button isBusy={isBusy} onClick={() => void run(() => api.resumeUser({ path: { id } }), `${name} works again`)}>
        Resume
      </Button>
      <Button kind="danger" onClick={() => setIsAsking(true)}>
        Suspend
      </Button>
      <Confirm
        title={`Suspend ${name}?`}
        verb="Suspend"
        isOpen={isAsking}
        isBusy={isBusy}
        onClose={() => setIsAsking(false)}
        onConfirm={() => void suspend()}
        plan={{ method: 'POST', path: `/admin/v1/users/${id}/suspend` }}
      >
        <p>Jobs and data are kept; resuming starts the pods again.</p>
      </Confirm>
    </>
  )
}
