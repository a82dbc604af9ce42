import type { Workload } from '../../host-protocol/messages.ts'

/** What a host needs of a workload for running it only. */
const PROGRAM = ['entrypoint', 'cmd', 'env', 'platformEnv', 'ports', 'mounts', 'log'] as const
export type Program = Pick<Workload, (typeof PROGRAM)[number]>

/** That part of a workload. */
export function programOf(workload: Workload): Program {
  return Object.fromEntries(PROGRAM.flatMap((name) => (workload[name] === undefined ? [] : [[name, workload[name]]]))) as Program
}

/**
 * A workload as far as a host needs it for keeping, stopping and removing it (HOST-68). Of its mounts the persistent volume is left, which may
 * have to be wiped; its path means nothing without a container.
 */
export function briefOf({ log: _log, registryAuth: _login, mounts, ...workload }: Workload): Workload {
  const volumes = (mounts ?? []).filter(({ kind }) => kind === 'persistent').map((mount) => ({ ...mount, path: '/' }))
  const brief = { ...workload, entrypoint: [], cmd: [], env: {}, platformEnv: {}, ports: [] }
  return volumes.length > 0 ? { ...brief, mounts: volumes } : brief
}
