import { MESSAGE_MAX_BYTES, type PlaneMessage, type Workload } from '../../src/host-protocol/messages.ts'
import type { Overlay } from '../../src/host-protocol/overlays.ts'
import { logEvent } from '../../src/platform/log.ts'
import { type HostLinks, sendTo, takesParts } from './links.ts'
import type { PullLogins } from './pull-logins.ts'
import type { HostWorkload, WorkloadStore } from './workload-store.ts'

/** Largest size of the workloads in one message; the rest of the limit is for logins and the frame. */
const MAX_BYTES = MESSAGE_MAX_BYTES - 2 ** 20
/** A host whose desired state has this size gets no new workloads; the rest of the limit is for changes of existing ones (HOST-69). */
const FULL_BYTES = MESSAGE_MAX_BYTES / 2
/** The same limit for a host that takes its desired state in parts. */
const FULL_IN_PARTS_BYTES = 64 * 2 ** 20
/** Size at which a part ends (HOST-71). */
const PART_BYTES = 2 ** 19
/**
 * Key of the revision at which the agent closed its link because a message was too large; cleared once the agent has applied the current
 * revision.
 */
const BROKEN_KEY = 'brokenBySize'
/** WebSocket close code "message too big" (RFC 6455 §7.4.1). */
const TOO_LARGE = 1009

type DesiredMessage = Extract<PlaneMessage, { type: 'desired' }>

/** Desired state of the host, complete and under its revision; the agent ignores a revision older than its own. */
export class DesiredState {
  private readonly store: WorkloadStore
  private readonly links: HostLinks
  private readonly logins: PullLogins
  private readonly silenceMaxMs: number
  private readonly overlays: () => Overlay[]

  /**
   * `overlays`: the private networks of the host. `silenceMaxMs`: the longest time that a job waits for this host (HOST-36); the host stops
   * its workers earlier by the same rule, so it must know the value.
   */
  constructor(store: WorkloadStore, links: HostLinks, logins: PullLogins, overlays: () => Overlay[], silenceMaxMs: number) {
    this.store = store
    this.links = links
    this.logins = logins
    this.silenceMaxMs = silenceMaxMs
    this.overlays = overlays
  }

  /** Adds a workload or changes its desired state. `isWanted` is checked in the transaction that writes it. */
  async setWorkload(
    storage: DurableObjectStorage,
    workload: Workload,
    ownerId: string,
    isWanted: () => boolean = () => true,
  ): Promise<void> {
    const { workload: bare, sealedLogin } = this.logins.take(workload)
    storage.transactionSync(() => {
      if (isWanted()) this.store.setWorkload(bare, ownerId, sealedLogin)
    })
  }

  /** Sends the whole desired state, or the part after the id `after` to an agent that takes it in parts. */
  async sendTo(socket: WebSocket, after: string | null = null): Promise<void> {
    if (takesParts(socket)) sendTo(socket, this.part(after))
    else if (!this.refuseOversize()) sendTo(socket, this.snapshot())
  }

  async broadcast(): Promise<void> {
    for (const socket of this.links.inUse()) await this.sendTo(socket)
  }

  /** Whether the desired state has space for another workload (HOST-69). */
  hasRoom(): boolean {
    return this.store.wantedBytes() < (this.isSentInParts() ? FULL_IN_PARTS_BYTES : FULL_BYTES) && !this.isBroken()
  }

  /** Whether the desired state is too large for the agent, which would drop the link because of it or has done so. */
  isOversize(): boolean {
    return this.isBroken() || (!this.isSentInParts() && this.store.wantedBytes() > MAX_BYTES)
  }

  /** A link was closed with `code`; 1009 means that a message was too large for the agent. */
  linkClosed(code: number): void {
    if (code === TOO_LARGE) this.store.writeMeta(BROKEN_KEY, String(this.store.revision()))
  }

  /** Records that the agent has applied this revision. */
  applied(revision: number): void {
    if (this.isBroken() && revision >= this.store.revision()) this.store.clearMeta(BROKEN_KEY)
  }

  private isBroken(): boolean {
    return this.store.readMeta(BROKEN_KEY) !== null
  }

  private isSentInParts(): boolean {
    return this.links.inUse().every(takesParts)
  }

  // The host continues with the state that it received last.
  private refuseOversize(): boolean {
    const refused = this.isOversize()
    if (refused)
      logEvent('error', 'the desired state of a host is too large to be sent', {
        hostId: this.store.hostId(),
        bytes: this.store.wantedBytes(),
      })
    return refused
  }

  private snapshot(): DesiredMessage {
    return this.withOverlays(this.messageOf(this.store.wanted()))
  }

  private part(after: string | null): DesiredMessage {
    const { rows, more } = this.store.wantedPart(after ?? '', PART_BYTES)
    const message = this.messageOf(rows)
    return { ...(after === null ? this.withOverlays(message) : { ...message, after }), ...(more ? { more } : {}) }
  }

  private withOverlays(message: DesiredMessage): DesiredMessage {
    const overlays = this.overlays()
    return overlays.length === 0 ? message : { ...message, overlays }
  }

  private messageOf(rows: readonly HostWorkload[]): DesiredMessage {
    const revision = this.store.revision()
    const workloads = rows.map((row) => this.logins.give(row))
    return { type: 'desired', revision, workloads, silenceMaxMs: this.silenceMaxMs }
  }
}
