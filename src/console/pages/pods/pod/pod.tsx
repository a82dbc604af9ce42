import type { Pod } from '../../../../contract/pods/pods.ts'
import { useLive } from '../../../hooks/live.ts'
import { useGo, useParam } from '../../../hooks/params.ts'
import { paths } from '../../../hooks/paths.ts'
import { useApi } from '../../../hooks/session.ts'
import { Button } from '../../../parts/button.tsx'
import { CopyAs } from '../../../parts/copy/copy-as.tsx'
import { Logs } from '../../../parts/logs/logs.tsx'
import { podLog } from '../../../parts/logs/reading/origins.ts'
import { Page } from '../../../parts/page.tsx'
import { State } from '../../../parts/state.tsx'
import { Tabs } from '../../../parts/tabs.tsx'
import { ViewState } from '../../../parts/view-state.tsx'
import { ACT_ORDER, POD_ACTS, whyNot } from '../pod-acts.ts'
import { usePodActs } from '../use-pod-act.tsx'
import { Connect } from './connect.tsx'
import { Metrics } from './metrics.tsx'
import { Overview } from './overview.tsx'
import { Settings } from './settings.tsx'
import { TerminalTab } from './terminal-tab.tsx'

/** Shows a pod with its state, its actions and its tabs. */
export function PodPage() {
  const id = useParam('id')
  const pod = useLive(['pods', id], (api, signal) => api.getPod({ path: { id } }, { signal }))
  const { data } = pod
  return (
    <Page
      title={data?.name ?? 'Pod'}
      {...(data && { mark: data.status })}
      actions={
        data && (
          <>
            <State value={data.status} />
            <Acts pod={data} />
          </>
        )
      }
    >
      <ViewState of={pod}>
        {(found) => (
          <Tabs
            name={`Views of ${found.name}`}
            tabs={[
              { id: 'overview', title: 'Overview', show: () => <Overview pod={found} /> },
              { id: 'connect', title: 'Connect', show: () => <Connect pod={found} /> },
              { id: 'terminal', title: 'Terminal', show: () => <TerminalTab pod={found} /> },
              { id: 'metrics', title: 'Metrics', show: () => <Metrics pod={found} /> },
              { id: 'logs', title: 'Logs', show: () => <Logs of={podLog(found.id)} /> },
              { id: 'settings', title: 'Settings', show: () => <Settings key={found.id} pod={found} /> },
            ]}
          />
        )}
      </ViewState>
    </Page>
  )
}

function Acts({ pod }: { pod: Pod }) {
  const go = useGo()
  const { may } = useApi()
  const leave = () => go(paths.pods())
  const { act, question, isBusy } = usePodActs(leave)
  const [next = 'stop'] = pod.actions
  return (
    <>
      {ACT_ORDER.map((one) => (
        <Button
          key={one}
          kind={one === 'terminate' ? 'danger' : one === next ? 'primary' : 'plain'}
          isBusy={isBusy}
          disabledReason={whyNot(pod, one, may('pods:write'))}
          onClick={() => act(pod, one)}
        >
          {POD_ACTS[one].title}
        </Button>
      ))}
      <CopyAs call={{ method: 'POST', path: `/v2/pods/${pod.id}/action`, body: { action: next }, command: `pods ${next} ${pod.id}` }} />
      {question}
    </>
  )
}
