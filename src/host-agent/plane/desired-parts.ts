import type { PlaneMessage, Workload } from '../../host-protocol/messages.ts'

type DesiredMessage = Extract<PlaneMessage, { type: 'desired' }>
/** The complete desired state of a host. */
export type Desired = Pick<DesiredMessage, 'revision' | 'workloads' | 'silenceMaxMs' | 'overlays'>

interface Collected {
  desired: Desired
  /** Id of the last workload received. */
  last: string
}

/** Assembles a desired state that arrives over one link in parts (HOST-71); it requests each next part. */
export class DesiredParts {
  private readonly askFor: (after: string | null) => void
  private collected: Collected | undefined
  private newestRevision = 0

  /** `askFor` requests the part that follows a workload id; null requests the first part. */
  constructor(askFor: (after: string | null) => void) {
    this.askFor = askFor
  }

  /**
   * Returns the desired state once it is complete, otherwise undefined. A newer revision that arrives meanwhile does not restart the
   * collection, or a large state would never be complete: the remaining parts already contain the change, and the newest revision is
   * requested afterwards.
   */
  take({ revision, workloads, silenceMaxMs, overlays, after, more = false }: DesiredMessage): Desired | undefined {
    this.newestRevision = Math.max(this.newestRevision, revision)
    const previous = this.collected
    if (after !== previous?.last) {
      // A first part that arrives during a collection may mean that the request for the next part was lost: repeat it.
      if (previous !== undefined && after === undefined) this.askFor(previous.last)
      return undefined
    }
    const all: Workload[] = previous === undefined ? workloads : [...previous.desired.workloads, ...workloads]
    const bound = silenceMaxMs === undefined ? {} : { silenceMaxMs }
    // Only the first part carries overlays.
    const networks = previous?.desired.overlays ?? overlays
    const desired: Desired = {
      revision: previous?.desired.revision ?? revision,
      workloads: all,
      ...bound,
      ...(networks === undefined ? {} : { overlays: networks }),
    }
    const last = workloads.at(-1)?.id
    if (more && last !== undefined) {
      this.collected = { desired, last }
      this.askFor(last)
      return undefined
    }
    this.collected = undefined
    if (this.newestRevision > desired.revision) this.askFor(null)
    return desired
  }
}
