import { z } from 'zod'

const UserId = z.number().int().min(0)

/** Properties of the container engine that determine how containers are isolated from the machine. */
export const EngineFacts = z.object({
  /** Whether containers continue while the engine is stopped. */
  liveRestore: z.boolean(),
  /** Directory of images and containers, in the engine's own file system. */
  dataRoot: z.string(),
  /** Versions as named by the packages; null: not reported. */
  versions: z.object({ engine: z.string().nullable(), runc: z.string().nullable() }),
  /** Names of the container runtimes that the engine has. */
  runtimes: z.array(z.string()),
  /** Whether a seccomp profile filters system calls. */
  seccomp: z.boolean(),
  /** The uid and gid of the machine that are root inside containers; null: real root, because there are no user namespaces. */
  remappedRoot: z.object({ uid: UserId, gid: UserId }).nullable(),
})
export type EngineFacts = z.infer<typeof EngineFacts>

/** The parts of the engine's `/info` and `/version` that are read. */
export interface EngineAnswers {
  info: { LiveRestoreEnabled?: boolean; Runtimes?: object | null; SecurityOptions?: readonly string[] | null; DockerRootDir?: string }
  version: { Version?: string; Components?: readonly { Name: string; Version: string }[] | null }
}

/** An engine with user namespaces names its data directory after the remapped root: `/var/lib/docker/100000.100000`. */
const REMAPPED_DIR = /\/(\d+)\.(\d+)$/

/** The facts that the agent uses, from the engine's own answers. An absent member counts as not supported. */
export function readEngineFacts({ info, version }: EngineAnswers): EngineFacts {
  const component = (name: string) => version.Components?.find(({ Name }) => Name.toLowerCase() === name)?.Version
  return {
    liveRestore: info.LiveRestoreEnabled === true,
    dataRoot: info.DockerRootDir ?? '',
    versions: { engine: version.Version ?? null, runc: component('runc') ?? null },
    runtimes: Object.keys(info.Runtimes ?? {}),
    seccomp: (info.SecurityOptions ?? []).some((option) => /^name=seccomp(?!.*unconfined)/.test(option)),
    remappedRoot: readRemappedRoot(info),
  }
}

function readRemappedRoot({ SecurityOptions, DockerRootDir = '' }: EngineAnswers['info']): EngineFacts['remappedRoot'] {
  const isRemapped = (SecurityOptions ?? []).some((option) => option.split(',').includes('name=userns'))
  const [, uid, gid] = REMAPPED_DIR.exec(DockerRootDir) ?? []
  return isRemapped && uid !== undefined ? { uid: Number(uid), gid: Number(gid) } : null
}
