import { setTimeout as sleep } from 'node:timers/promises'
import { type Lab, type Program, type ProgramOptions, within } from './lab.ts'
import { call, type Demo, GPU_ARGS } from './plane.ts'

const POLL_MS = 200
const SERVICE_PAUSE_MS = 2_000

export interface AgentOptions extends ProgramOptions {
  name: string
  stateDir: string
  /** Join token, for the first start. */
  token?: string
  args?: readonly string[]
  /** Flags that let it run built-in images; an older release has other names for them. */
  flags?: readonly string[]
}

/** Starts a host agent for built-in images, with simulated GPUs. */
export function startAgent(lab: Lab, planeUrl: string, options: AgentOptions): Program {
  const { name, stateDir, token, args = [], flags = ['--builtin-images', '--trusted-tenants'] } = options
  const given = token === undefined ? [] : ['--token', token]
  return lab.node(
    ['src/host-agent/main.ts', '--url', planeUrl, '--name', name, '--state-dir', stateDir, ...given, ...flags, ...GPU_ARGS, ...args],
    options,
  )
}

/** A host in the operator API. */
export interface Host {
  id: string
  name: string
  status: string
  lastSeenAt: string | null
  linkReplacements?: { count: number } | null
}

/** Returns the hosts of this name. */
export async function hostsNamed(plane: Demo, name: string): Promise<Host[]> {
  const { body } = await call(plane.url, plane.operatorKey, 'GET', '/admin/v1/hosts')
  return ((body.hosts ?? []) as Host[]).filter((host) => host.name === name)
}

/** Waits until a host of this name is online and was seen after `sinceMs`; undefined if it is not in time, or if its agent has ended. */
export async function waitOnline(plane: Demo, name: string, sinceMs: number, limitMs: number, agent?: Program): Promise<Host | undefined> {
  const since = Math.floor(sinceMs / 1000) * 1000
  const isLive = ({ status, lastSeenAt }: Host) => status === 'ONLINE' && Date.parse(lastSeenAt ?? '') >= since
  const found = await within(
    limitMs,
    async () => {
      const host = (await hostsNamed(plane, name)).find(isLive)
      return host ? { host } : agent?.isRunning() === false && { host: undefined }
    },
    POLL_MS,
  )
  return found?.host
}

/** Starts an agent, and restarts it whenever it ends, as a service does. */
export class AgentService {
  starts = 0
  /** While true, an agent that ends is not restarted. */
  isHeld = false
  private closed = false

  constructor(lab: Lab, planeUrl: string, options: AgentOptions) {
    lab.defer(() => {
      this.closed = true
    })
    void this.run(lab, planeUrl, options)
  }

  private async run(lab: Lab, planeUrl: string, options: AgentOptions): Promise<void> {
    while (!this.closed) {
      if (!this.isHeld) {
        this.starts += 1
        await startAgent(lab, planeUrl, options).ended
      }
      await sleep(SERVICE_PAUSE_MS)
    }
  }
}
