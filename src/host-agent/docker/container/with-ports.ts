import type { Workload } from '../../../host-protocol/messages.ts'
import { EngineClientEnded, engineText } from '../../engine/engine-errors.ts'
import { type PublishedPort, StartError, type StartHooks } from '../../runtime.ts'
import { startRefused } from '../engine/failure-text.ts'
import type { HostPorts } from '../ports/host-ports.ts'
import type { AssignedPort } from '../ports/port-choice.ts'
import { payerOf } from './container-spec.ts'

/** Attempts to start with other ports when the engine reports one as taken. */
const PORT_TRIES = 5

/** Starts something on host ports for a workload, and chooses other ports where the engine reports one as taken. Throws a `StartError`. */
export async function withPorts<T>(
  hostPorts: HostPorts,
  workload: Pick<Workload, 'id' | 'ports' | 'account' | 'payer' | 'mounts'>,
  { previousPorts: previous = [] }: Pick<StartHooks, 'previousPorts'>,
  start: (ports: AssignedPort[]) => Promise<T>,
): Promise<T> {
  const refused = new Set<number>()
  const claim = { id: workload.id, account: payerOf(workload), wanted: workload.ports, previous }
  for (let attempt = 1; ; attempt += 1) {
    const ports = await hostPorts.reserve(claim, refused)
    try {
      return await start(ports)
    } catch (error) {
      hostPorts.release(workload.id)
      // Perhaps not the fault of this start: one retry.
      if (error instanceof EngineClientEnded && attempt === 1) continue
      const port = takenPort(engineText(error), ports)
      if (port === undefined) throw startRefused(error, workload)
      if (attempt === PORT_TRIES) throw new StartError(`port ${port} is already taken on this host`)
      refused.add(port)
    }
  }
}

/** The port that the engine could not publish; undefined when the error has another cause. */
function takenPort(text: string, ports: readonly PublishedPort[]): number | undefined {
  if (!/port is already allocated|address already in use/i.test(text)) return undefined
  return ports.find((port) => new RegExp(`:${port.public}\\b`).test(text))?.public ?? ports[0]?.public
}
