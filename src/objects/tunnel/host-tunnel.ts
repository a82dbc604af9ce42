import type { OpenTarget } from '../../host-protocol/tunnel/frames.ts'

/** The object that holds a host's tunnel, as everybody else knows it. `fetch` takes the agent's WebSocket, and requests to workloads. */
export interface HostTunnelRpc extends Rpc.DurableObjectBranded {
  fetch(request: Request): Promise<Response>
}

/** A request to a workload, but for its body. */
export interface TunnelRequest {
  target: Omit<OpenTarget, 'window'>
  /** The place that it has in its endpoint's count, which the tunnel gives back at its end. */
  slot: SlotRef
  /** How long the first bytes of the answer may take. */
  timeoutMs: number
  /** Its answer is shown under a name of the endpoint's own, and not under the plane's. */
  isOwnOrigin: boolean
}

/** A place among the requests of an endpoint's worker. */
export interface SlotRef {
  endpointId: string
  workerId: string
  lease: string
}

/** What became of a request that got no answer. `unreachable`: it has not begun. */
export interface TunnelFailure {
  code: 'unreachable' | 'broken' | 'late' | 'too large'
  detail: string
}
