import type { TunnelAbility, WantedTarget } from '../host-protocol/tunnel/frames.ts'

/** The object that holds a host's tunnel, as everybody else knows it. `fetch` takes the agent's WebSocket, and requests to workloads. */
export interface HostTunnelRpc extends Rpc.DurableObjectBranded {
  fetch(request: Request): Promise<Response>
}

/** A request to a workload, but for its body. */
export interface TunnelRequest {
  target: WantedTarget
  /** Whose share of the host's connections it takes: the account that pays for its workload's (SHR-30). */
  account: string
  /** The place that it has in its endpoint's count, which the tunnel gives back at its end; null: it goes to a pod, which counts none. */
  slot: SlotRef | null
  /** What the agent must serve; null: every one that has a tunnel does. */
  needs: TunnelAbility | null
  /** Streams that its workload may have already; null: as many as the tunnel takes. */
  beside: number | null
  /** How long the first bytes of the answer may take. */
  timeoutMs: number
  /** Its answer is shown under a name of the endpoint's own, and not under the plane's. */
  isOwnOrigin: boolean
  /** What a page of it may do under the plane's name; absent: nothing. */
  sandbox?: string
}

/** A place among the requests of an endpoint's worker. */
export interface SlotRef {
  endpointId: string
  workerId: string
  lease: string
}

/** What became of a request that got no answer. `unreachable`: it has not begun. `outdated`: the agent of its host is too old. */
export interface TunnelFailure {
  code: 'unreachable' | 'outdated' | 'broken' | 'late' | 'too large'
  detail: string
}
