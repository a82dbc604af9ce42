import type { PlaneMessage, Workload } from '../../host-protocol/messages.ts'

type DesiredMessage = Extract<PlaneMessage, { type: 'desired' }>
/** All that the host is to run. */
export type Desired = Pick<DesiredMessage, 'revision' | 'workloads' | 'silenceMaxMs' | 'overlays'>

interface Collected {
  desired: Desired
  /** The last workload that has come. */
  last: string
}

/** Puts together a desired state that comes over one link in parts (HOST-71), by asking for each next one. */
export class DesiredParts {
  private readonly askFor: (after: string | null) => void
  private collected: Collected | undefined
  private newestRevision = 0

  /** `askFor` wants the part behind a workload; null: the first one. */
  constructor(askFor: (after: string | null) => void) {
    this.askFor = askFor
  }

  /**
   * The whole, once it is there. A change that comes meanwhile does not begin it anew, or one that is large would never be whole; the parts that
   * are still to come have it already, and afterwards the newest one is asked for.
   */
  take({ revision, workloads, silenceMaxMs, overlays, after, more = false }: DesiredMessage): Desired | undefined {
    this.newestRevision = Math.max(this.newestRevision, revision)
    const former = this.collected
    if (after !== former?.last) {
      // A first part that comes while others are collected may say that the question for the next one was lost.
      if (former !== undefined && after === undefined) this.askFor(former.last)
      return undefined
    }
    const all: Workload[] = former === undefined ? workloads : [...former.desired.workloads, ...workloads]
    const bound = silenceMaxMs === undefined ? {} : { silenceMaxMs }
    // Those come with the first part.
    const networks = former?.desired.overlays ?? overlays
    const desired: Desired = {
      revision: former?.desired.revision ?? revision,
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
