import type { PodSsh } from '../../contract/pods/pod-parts.ts'
import type { PodState, PortMapping } from './pod.ts'
import type { PodSpec } from './record.ts'

const SSH_PORT = 22

/** Fields of a pod from which its SSH and port addresses are derived. */
export interface ReachablePod extends Pick<PodState, 'status' | 'ports'> {
  id: string
  spec: Pick<PodSpec, 'container'>
  publicIp: string | null
  sshSuffix: string
}

/** SSH access to a pod (NET-2): through the proxy if there is one, and directly while its `22/tcp` is published. */
export function sshOf(pod: ReachablePod, proxy: { host: string; port: number } | null): PodSsh {
  const direct = directPort(pod)
  return {
    proxy: proxy && sshEndpoint(proxy.host, proxy.port, `${pod.id}-${pod.sshSuffix}`, proxy.port !== SSH_PORT),
    direct: direct !== null && pod.publicIp !== null ? sshEndpoint(pod.publicIp, direct, 'root', true) : null,
  }
}

/** Live port mappings as clients read them (POD-21). Clients take a port for public by its address. */
export function portsView({ id, ports, publicIp }: Pick<ReachablePod, 'id' | 'ports' | 'publicIp'>) {
  return ports.map((port: PortMapping) => ({
    private: port.private,
    public: port.public,
    type: port.type,
    ip: port.type === 'http' ? sharedAddressOf(id) : publicIp,
  }))
}

/** Current cost of a pod, USD per hour (POD-19). */
export function costOf({ status, pricePerHour }: { status: PodState['status']; pricePerHour: number }): number {
  const isCharged = status === 'PROVISIONING' || status === 'STARTING' || status === 'RUNNING'
  return isCharged ? shownPrice(pricePerHour) : 0
}

/** Price rounded to a millionth of a dollar, so that 3 times 0.1 is 0.3 (POD-51). */
export function shownPrice(usd: number): number {
  return Math.round(usd * PRICE_STEPS) / PRICE_STEPS
}

const PRICE_STEPS = 1_000_000

function directPort({ status, ports, spec }: ReachablePod): number | null {
  if (status !== 'RUNNING' || !spec.container.ports.includes(`${SSH_PORT}/tcp`)) return null
  return ports.find((port) => port.private === SSH_PORT && port.type === 'tcp')?.public ?? null
}

function sshEndpoint(host: string, port: number, username: string, namesPort: boolean) {
  return { host, port, username, command: `ssh ${username}@${host}${namesPort ? ` -p ${port}` : ''}` }
}

/** Address in 100.64.0.0/10 that is always the same for a pod. It is a placeholder that does not accept connections. */
function sharedAddressOf(podId: string): string {
  let hash = 0x811c9dc5
  for (let index = 0; index < podId.length; index += 1) hash = Math.imul(hash ^ podId.charCodeAt(index), 0x01000193) >>> 0
  const host = hash & 0x3fffff
  return `100.${64 + (host >> 16)}.${(host >> 8) & 0xff}.${host & 0xff}`
}
