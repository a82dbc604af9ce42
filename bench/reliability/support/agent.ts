import { type Lab, type Program, type ProgramOptions, within } from './lab.ts'
import { call, type Demo, GPU_ARGS } from './plane.ts'

const POLL_MS = 200

export interface AgentOptions extends ProgramOptions {
  name: string
  stateDir: string
  /** For the first join. */
  token?: string
  args?: readonly string[]
  /** What lets it run built-in images; a former release has other names for it. */
  flags?: readonly string[]
}

/** Runs a host agent that runs built-in images, with simulated GPUs. */
export function startAgent(lab: Lab, planeUrl: string, options: AgentOptions): Program {
  const { name, stateDir, token, args = [], flags = ['--builtin-images', '--trusted-tenants'] } = options
  const given = token === undefined ? [] : ['--token', token]
  return lab.node(
    ['src/host-agent/main.ts', '--url', planeUrl, '--name', name, '--state-dir', stateDir, ...given, ...flags, ...GPU_ARGS, ...args],
    options,
  )
}

/** A host as the operator sees it. */
export interface Host {
  id: string
  name: string
  status: string
  lastSeenAt: string | null
  linkReplacements?: { count: number } | null
}

/** Hosts of this name. */
export async function hostsNamed(plane: Demo, name: string): Promise<Host[]> {
  const { body } = await call(plane.url, plane.operatorKey, 'GET', '/admin/v1/hosts')
  return ((body.hosts ?? []) as Host[]).filter((host) => host.name === name)
}

/** Waits until a host of this name is online and was heard after `sinceMs`; undefined: in vain, or its agent has ended. */
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
