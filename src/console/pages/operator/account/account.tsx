import { useAct } from '../../../hooks/act.ts'
import { useLive } from '../../../hooks/live.ts'
import { useParam } from '../../../hooks/params.ts'
import { useApi } from '../../../hooks/session.ts'
import { Button } from '../../../parts/button.tsx'
import { CopyAs } from '../../../parts/copy/copy-as.tsx'
import { ConfirmButton } from '../../../parts/over/confirm-button.tsx'
import { Page, Panel } from '../../../parts/page.tsx'
import { ViewState } from '../../../parts/view-state.tsx'
import { Budgets } from './budgets.tsx'
import { Keys } from './keys.tsx'
import { AccountPlan } from './plan.tsx'
import { Requests } from './requests.tsx'
import { Spend } from './spend.tsx'

const EVERY_MS = 15_000

/** Operator page of one user: keys, resources, limits, and suspension. */
export function AccountPage() {
  const id = useParam('id')
  const users = useLive(['operator', 'users'], (api, signal) => api.listUsers({}, { signal }), { everyMs: 0 })
  const limits = useLive(['operator', 'limits', id], (api, signal) => api.getUserLimits({ path: { id } }, { signal }), {
    everyMs: EVERY_MS,
  })
  const name = users.data?.users.find((user) => user.id === id)?.email ?? id
  return (
    <Page title={name} actions={limits.data && <Suspend id={id} name={name} isSuspended={limits.data.suspendedAt !== null} />}>
      <ViewState of={limits}>
        {({ suspendedAt, requests, budgets, spend }) => (
          <>
            {suspendedAt !== null && (
              <p className="bg-warn-bg text-warn rounded-md p-3">
                The account is suspended: none of its workloads runs, and its keys are refused.
              </p>
            )}
            <Keys id={id} />
            <div className="grid gap-4 lg:grid-cols-3">
              <Panel title="Spending limits">
                <Spend id={id} inForce={spend} />
              </Panel>
              <Panel title="Request limits">
                <Requests key={JSON.stringify(requests)} id={id} inForce={requests} />
              </Panel>
              <Panel title="Plan">
                <AccountPlan id={id} />
              </Panel>
            </div>
            <Panel title="Budgets">
              <Budgets id={id} inForce={budgets} />
            </Panel>
          </>
        )}
      </ViewState>
    </Page>
  )
}

function Suspend({ id, name, isSuspended }: { id: string; name: string; isSuspended: boolean }) {
  const { api, refresh } = useApi()
  const { isBusy, run } = useAct()
  const resume = async () => {
    await run(() => api.resumeUser({ path: { id } }), `${name} is resumed`)
    await refresh('operator')
  }
  if (isSuspended) {
    return (
      <>
        <Button isBusy={isBusy} onClick={() => void resume()}>
          Resume
        </Button>
        <CopyAs call={{ method: 'POST', path: `/admin/v1/users/${id}/resume`, command: `users resume ${id}` }} />
      </>
    )
  }
  return (
    <ConfirmButton
      title={`Suspend ${name}?`}
      verb="Suspend"
      act={() => api.suspendUser({ path: { id } })}
      done={`${name} is suspended`}
      refresh={['operator']}
      plan={{ method: 'POST', path: `/admin/v1/users/${id}/suspend` }}
    >
      <p>Jobs and data are retained; Resume starts the pods again.</p>
    </ConfirmButton>
  )
}
