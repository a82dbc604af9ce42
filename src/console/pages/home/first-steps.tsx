import type { ReactNode } from 'react'
import type { Endpoint } from '../../../contract/endpoints/endpoints.ts'
import { paths } from '../../hooks/paths.ts'
import { LinkButton } from '../../parts/button.tsx'
import { Panel } from '../../parts/page.tsx'
import { Command } from '../../parts/view-state.tsx'

/** First steps for an account without resources: a job, a pod, an endpoint. */
export function FirstSteps({ endpoints }: { endpoints: readonly Endpoint[] }) {
  const [endpoint] = endpoints
  return (
    <section aria-label="First steps" className="grid gap-4 lg:grid-cols-3">
      <Step title="Run a job" link={endpoint && <LinkButton to={`${paths.endpoint(endpoint.id)}?tab=try`}>Try {endpoint.name}</LinkButton>}>
        <p className="text-soft">Jobs go into a queue; the number of workers follows the load.</p>
        <Command text={`podplane jobs runsync ${endpoint?.id ?? 'ENDPOINT'} '{"prompt":"Hello"}'`} />
      </Step>
      <Step title="Start a pod" link={<LinkButton to={paths.newPod()}>New pod</LinkButton>}>
        <p className="text-soft">A container with GPUs, SSH, ports and a terminal that runs until you stop it.</p>
        <Command text={`podplane pods create --image docker.io/library/python:3.13 --gpu "NVIDIA L4" --ssh`} />
      </Step>
      <Step title="Deploy an example" link={<LinkButton to={paths.newEndpoint()}>New endpoint</LinkButton>}>
        <p className="text-soft">
          A folder with a handler and a podplane.toml becomes an endpoint. The examples are chat, embeddings, speech and a notebook, with
          real models.
        </p>
        <Command text="podplane dev -f examples/chat/podplane.toml" />
      </Step>
    </section>
  )
}

function Step({ title, link, children }: { title: string; link?: ReactNode; children: ReactNode }) {
  return (
    <Panel title={title}>
      <div className="flex h-full flex-col items-start gap-3">
        {children}
        {link}
      </div>
    </Panel>
  )
}
