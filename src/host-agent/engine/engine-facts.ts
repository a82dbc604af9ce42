import { z } from 'zod'

const UserId = z.number().int().min(0)

/** What the container engine says about itself, as far as it decides how containers are kept from the machine. */
export const EngineFacts = z.object({
  /** Containers outlive the engine. */
  liveRestore: z.boolean(),
  /** Where it keeps images and containers, by its own file system. */
  dataRoot: z.string(),
  /** As its packages name them; null: it does not say. */
  versions: z.object({ engine: z.string().nullable(), runc: z.string().nullable() }),
  /** Names under which it knows container runtimes. */
  runtimes: z.array(z.string()),
  /** It filters system calls by a list. */
  seccomp: z.boolean(),
  /** The user and group of the machine that are root inside containers; null: root itself, as there are no user namespaces. */
  remappedRoot: z.object({ uid: UserId, gid: UserId }).nullable(),
})
export type EngineFacts = z.infer<typeof EngineFacts>

/** The parts of the engine's `/info` and `/version` that are read. */
export interface EngineAnswers {
  info: { LiveRestoreEnabled?: boolean; Runtimes?: object | null; SecurityOptions?: readonly string[] | null; DockerRootDir?: string }
  version: { Version?: string; Components?: readonly { Name: string; Version: string }[] | null }
}

/** The place of images and containers of an engine with remapped users is named after their root: `/var/lib/docker/100000.100000`. */
const REMAPPED_DIR = /\/(\d+)\.(\d+)$/

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
