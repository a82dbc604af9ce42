import type { TunnelAbility, WantedTarget } from '../host-protocol/tunnel/frames.ts'

/** RPC interface of the object that holds a host's tunnel. `fetch` accepts the agent's WebSocket, and requests to workloads. */
export interface HostTunnelRpc extends Rpc.DurableObjectBranded {
  fetch(request: Request): Promise<Response>
}

/** A request to a workload, without its body. */
export interface TunnelRequest {
  target: WantedTarget
  /** The account whose share of the host's connections it uses: the payer of its workload (SHR-30). */
  account: string
  /** Its slot at a worker of an endpoint, which the tunnel releases at the end; null for a pod, which has no slots. */
  slot: SlotRef | null
  /** Ability that the agent must have; null: none beyond a tunnel. */
  needs: TunnelAbility | null
  /** Largest number of open streams of its workload; null: only the tunnel's limit applies. */
  beside: number | null
  /** Timeout of the first bytes of the response, in milliseconds. */
  timeoutMs: number
  /** Whether the response is served under the endpoint's own host name instead of the plane's. */
  isOwnOrigin: boolean
  /** Sandbox permissions of its pages under the plane's host name; absent: none. */
  sandbox?: string
}

/** A reserved slot for one request at an endpoint's worker. */
export interface SlotRef {
  endpointId: string
  workerId: string
  lease: string
}

/** Reason why a request got no response. `unreachable`: it has not started. `outdated`: the agent of its host is too old. */
export interface TunnelFailure {
  code: 'unreachable' | 'outdated' | 'broken' | 'late' | 'too large'
  detail: string
}
