import type { Workload } from '../../host-protocol/messages.ts'
import type { Log } from '../log.ts'
import type { Counted, ProjectQuotas } from './project-quotas.ts'
import { findQuotas } from './quota-support.ts'
import type { SharedStorage } from './volume-flags.ts'

/** Kinds of volumes that have a size. */
export type SizedKind = 'persistent' | 'network'

/** Enforces the sizes of this host's volumes where their file systems can (HOST-112). */
export class VolumeSizes {
  private readonly quotas: Readonly<Partial<Record<SizedKind, ProjectQuotas>>>
  private readonly log: Log
  /** Sizes that are enforced, in GB. */
  private readonly set = new Map<string, number>()
  /** Sizes that could not be set: they are not tried again until the volume is mounted again or gets another size. */
  private readonly failed = new Map<string, number>()

  constructor(quotas: Readonly<Partial<Record<SizedKind, ProjectQuotas>>>, log: Log) {
    this.quotas = quotas
    this.log = log
  }

  /** Checks which file systems of the volume directories support quotas. */
  static async open(
    { volumeDir, networkVolumes }: Pick<SharedStorage, 'networkVolumes'> & { volumeDir: string },
    log: Log,
  ): Promise<VolumeSizes> {
    const quotas: Partial<Record<SizedKind, ProjectQuotas>> = {}
    const places = [['persistent', volumeDir] as const, ...(networkVolumes === undefined ? [] : [['network', networkVolumes] as const])]
    for (const [kind, path] of places) {
      const found = typeof path === 'string' ? await findQuotas(path) : { problem: 'the container engine mounts it from a server' }
      if ('problem' in found) log.info('sizes of volumes are reservations here', { kind, reason: found.problem })
      else quotas[kind] = found
    }
    return new VolumeSizes(quotas, log)
  }

  /** Returns the kinds of volumes whose sizes are enforced. */
  enforced(): SizedKind[] {
    return Object.keys(this.quotas) as SizedKind[]
  }

  /** Prepares the directory of a volume that is about to be mounted. */
  async prepare(kind: SizedKind, id: string, sizeGb: number | undefined): Promise<void> {
    this.failed.delete(`${kind} ${id}`)
    if (sizeGb !== undefined) await this.resize(kind, id, sizeGb)
    else await this.quotas[kind]?.adopt(id)
  }

  /** Sets the size of a volume. Repeated calls with the same size do nothing. */
  async resize(kind: SizedKind, id: string, sizeGb: number): Promise<void> {
    const [quotas, name] = [this.quotas[kind], `${kind} ${id}`]
    if (quotas === undefined || this.set.get(name) === sizeGb || this.failed.get(name) === sizeGb) return
    if (await quotas.limit(id, sizeGb)) {
      this.set.set(name, sizeGb)
      return
    }
    this.failed.set(name, sizeGb)
    this.log.info('the size of a volume is a reservation', { kind, volume: id })
  }

  /** Applies the sizes of persistent volumes from the desired state. */
  update(workloads: readonly Workload[]): void {
    for (const { id, sizeGb } of workloads.flatMap(({ mounts = [] }) => mounts.filter(({ kind }) => kind === 'persistent'))) {
      if (sizeGb !== undefined && this.set.has(`persistent ${id}`)) void this.resize('persistent', id, sizeGb)
    }
  }

  /** Returns the use that the file system has counted in a volume; undefined where it does not count. */
  async counted(kind: string, id: string): Promise<Counted | undefined> {
    return kind === 'network' ? await this.quotas.network?.counted(id) : undefined
  }
}
