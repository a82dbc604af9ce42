import type { Workload } from '../../host-protocol/messages.ts'

/** The fields of a workload that a host needs only to run it. */
const PROGRAM = ['entrypoint', 'cmd', 'env', 'platformEnv', 'ports', 'mounts', 'log'] as const
export type Program = Pick<Workload, (typeof PROGRAM)[number]>

/** Returns these fields of a workload. */
export function programOf(workload: Workload): Program {
  return Object.fromEntries(PROGRAM.flatMap((name) => (workload[name] === undefined ? [] : [[name, workload[name]]]))) as Program
}

/**
 * A workload with the fields that a host needs to retain, stop and remove it (HOST-68). Of its mounts only the persistent volume stays,
 * which may have to be wiped; its path means nothing without a container.
 */
export function briefOf({ log: _log, registryAuth: _login, mounts, ...workload }: Workload): Workload {
  const volumes = (mounts ?? []).filter(({ kind }) => kind === 'persistent').map((mount) => ({ ...mount, path: '/' }))
  const brief = { ...workload, entrypoint: [], cmd: [], env: {}, platformEnv: {}, ports: [] }
  return volumes.length > 0 ? { ...brief, mounts: volumes } : brief
}
