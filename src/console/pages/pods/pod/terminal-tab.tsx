import { lazy, Suspense } from 'react'
import type { Pod } from '../../../../contract/pods/pods.ts'
import { useApi } from '../../../hooks/session.ts'
import { Loading } from '../../../parts/view-state.tsx'

const Terminal = lazy(() => import('../terminal/terminal.tsx'))

/** Shell in the pod; its code is loaded when the tab is opened. */
export function TerminalTab({ pod }: { pod: Pod }) {
  const { may } = useApi()
  if (!may('pods:write')) return <p>Your role may view pods but not open a terminal in them.</p>
  if (pod.status !== 'RUNNING') return <p>The pod is {pod.status}. A terminal opens when it runs.</p>
  return (
    <Suspense fallback={<Loading what="Loading the terminal" />}>
      <Terminal podId={pod.id} name={pod.name} />
    </Suspense>
  )
}
