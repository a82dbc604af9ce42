import type { Overlay, OverlayInventory, OverlayPlace } from '../../../host-protocol/overlays.ts'
import { errorText } from '../../../node/fail.ts'
import type { Log } from '../../log.ts'
import { MaintainedTables } from '../maintained-tables.ts'
import type { Nft } from '../nft.ts'
import { removeTable } from '../nft-text.ts'
import type { Attachment } from './attachment.ts'
import type { IpTools } from './ip-tools.ts'
import { memberName, memberPrefix, overlaysTable, overlayTable, tableOfTunnel, tunnelName, tunnelPrefix } from './names.ts'
import { NetworkNamespace } from './network-namespace.ts'
import { type Attached, localOverlay, OverlayDevices, type WantedOverlay } from './overlay-devices.ts'
import { buildMachineRules, buildOverlayRules } from './overlay-rules.ts'
import { peersOf } from './peers.ts'
import type { Underlay } from './underlay.ts'
import { writeNames } from './write-names.ts'

const KEEP_EVERY_MS = 10_000
const NO_END = { address: '', wire: null, isPlainRefused: false }

export interface HostOverlaysDeps {
  key: string
  underlay: Underlay | { reason: string }
  tools: IpTools
  nft: Nft
  log: Log
}

/** The private networks across hosts that containers of this machine are in: reconciles their interfaces, rules and names (HOST-141). */
export class HostOverlays {
  private readonly deps: HostOverlaysDeps
  private readonly tables: MaintainedTables
  private readonly devices: OverlayDevices | undefined
  /** Networks in the last message of the plane; undefined: there was none yet, so nothing is changed. */
  private overlays: ReadonlyMap<string, Overlay> | undefined
  private readonly attachments = new Map<string, Attachment>()
  /** Reason why a workload lacks an interface, by workload id. */
  private problems: ReadonlyMap<string, string> = new Map()
  private passes: Promise<void> = Promise.resolve()
  /** A pass that has not begun yet. */
  private queued: Promise<void> | undefined
  /** Whether all leftovers were removed, also those of a previous agent process. */
  private tidied = false
  private timer: NodeJS.Timeout | undefined

  constructor(deps: HostOverlaysDeps) {
    this.deps = deps
    this.tables = new MaintainedTables(deps.nft, deps.log)
    this.devices = 'reason' in deps.underlay ? undefined : new OverlayDevices(deps.key, deps.underlay, deps.tools)
  }

  get inventory(): OverlayInventory {
    const { underlay } = this.deps
    if ('reason' in underlay) return { address: null, reason: underlay.reason, encryption: 'none' }
    const { address, encryption, encryptionReason, wire, mtu } = underlay
    return {
      address,
      reason: null,
      encryption,
      mtu,
      ...(encryptionReason !== undefined && { encryptionReason }),
      ...(wire !== null && { publicKey: wire.publicKey }),
    }
  }

  /** Takes over the networks of this machine's workloads as the plane states them, and reconciles. */
  update(overlays: readonly Overlay[]): void {
    this.overlays = new Map(overlays.map((overlay) => [overlay.id, overlay]))
    void this.keep()
  }

  /** Each network with its members on this machine. */
  attached(): { overlay: Overlay; members: { attachment: Attachment; place: OverlayPlace }[] }[] {
    const all = [...this.attachments.values()]
    return [...(this.overlays?.values() ?? [])].map((overlay) => {
      const members = all.flatMap((attachment) =>
        attachment.places.filter(({ id }) => id === overlay.id).map((place) => ({ attachment, place })),
      )
      return { overlay, members }
    })
  }

  /** How this host sends to another host of a network. */
  wayTo(overlay: Overlay, hostAddress: string): 'plain' | 'encrypted' | 'refused' {
    const { underlay } = this.deps
    const { encrypted, refused } = peersOf(overlay, 'reason' in underlay ? NO_END : underlay)
    if (refused.includes(hostAddress)) return 'refused'
    return encrypted.some(({ address }) => address === hostAddress) ? 'encrypted' : 'plain'
  }

  /** Name of a member without a domain, from the first network in which it has one. */
  nameOf(places: readonly OverlayPlace[]): string | undefined {
    for (const { id, address } of places) {
      const member = this.overlays?.get(id)?.members.find((one) => one.address === address)
      const name = member?.names.find((text) => !text.includes('.'))
      if (name !== undefined) return name
    }
    return undefined
  }

  /** Networks of the container with this address, the latest one that has it; undefined: the plane has not sent any networks yet. */
  networksOf(address: string): Overlay[] | undefined {
    const attachment = [...this.attachments.values()].findLast(({ addresses }) => addresses.includes(address))
    return this.overlays && (attachment?.places ?? []).flatMap(({ id }) => this.overlays?.get(id) ?? [])
  }

  /** Domain of the first of these networks that has one. */
  domainOf(places: readonly OverlayPlace[]): string | undefined {
    return places.flatMap(({ id }) => this.overlays?.get(id)?.domain ?? [])[0]
  }

  /** Creates the interfaces of a container. Throws an error with a text for its user when it lacks any of them. */
  async attach(attachment: Attachment): Promise<void> {
    this.adopt(attachment)
    await this.keep()
    const problem = this.devices === undefined ? this.inventory.reason : this.problems.get(attachment.workloadId)
    if (problem == null) return
    this.detach(attachment.workloadId)
    throw new Error(problem)
  }

  has(workloadId: string): boolean {
    return this.attachments.has(workloadId)
  }

  /** Registers a container, such as one that a previous agent process has attached. */
  adopt(attachment: Attachment): void {
    this.attachments.set(attachment.workloadId, attachment)
    this.tidied = false
    this.timer ??= setInterval(() => void this.keep(), KEEP_EVERY_MS)
  }

  /** Removes a container that has ended or is about to. */
  detach(workloadId: string): void {
    if (this.attachments.delete(workloadId)) void this.keep()
  }

  /** Reconciles interfaces, rules and names with the desired networks. Resolves after a pass that began after the call. */
  keep(): Promise<void> {
    if (this.queued !== undefined) return this.queued
    const queued = this.passes.then(async () => {
      this.queued = undefined
      await this.pass().catch((error: unknown) => {
        this.deps.log.error('private networks could not be reconciled', { error: errorText(error) })
      })
    })
    this.queued = queued
    this.passes = queued
    return queued
  }

  private async pass(): Promise<void> {
    if (this.overlays === undefined || this.devices === undefined || (this.attachments.size === 0 && this.tidied)) return
    const problems = new Map<string, string>()
    const { wanted, opened } = this.open(problems)
    try {
      await this.keepMachine(wanted)
      const links = await this.deps.tools.links()
      await this.devices.keepEncryption(wanted, links)
      for (const one of wanted) {
        await this.keepOne(one, links).catch((error: unknown) => {
          const reason = 'the private network could not be set up on its host'
          this.deps.log.error('a private network differs from its desired state', { overlay: one.overlay.id, error: errorText(error) })
          for (const { workloadId } of one.attached) problems.set(workloadId, reason)
        })
      }
      for (const attachment of this.attachments.values()) writeNames(attachment, this.overlays, this.deps.log)
      await this.tidy(wanted)
    } catch (error) {
      for (const id of this.attachments.keys()) problems.set(id, 'private networks could not be set up on its host')
      throw error
    } finally {
      this.problems = problems
      for (const namespace of opened) namespace.close()
    }
  }

  /** The networks with members here, each with the network namespaces of these members held open. */
  private open(problems: Map<string, string>): { wanted: WantedOverlay[]; opened: NetworkNamespace[] } {
    const byOverlay = new Map<string, Attached[]>()
    const opened: NetworkNamespace[] = []
    for (const { workloadId, places, pid } of this.attachments.values()) {
      try {
        const inside = new NetworkNamespace(pid)
        opened.push(inside)
        for (const place of places) {
          if (this.overlays?.has(place.id)) byOverlay.set(place.id, [...(byOverlay.get(place.id) ?? []), { workloadId, place, inside }])
          else problems.set(workloadId, `the plane has not sent the configuration of the private network '${place.id}'`)
        }
      } catch {
        problems.set(workloadId, 'it has just ended')
      }
    }
    const wanted = [...(this.overlays?.values() ?? [])].flatMap((overlay) => {
      const attached = byOverlay.get(overlay.id)
      return attached === undefined ? [] : [{ overlay, attached }]
    })
    return { wanted, opened }
  }

  private local(wanted: WantedOverlay) {
    const { underlay } = this.deps
    return localOverlay(this.deps.key, 'reason' in underlay ? NO_END : underlay, wanted)
  }

  /** Precedes the interfaces, so that the machine itself never receives a frame of these networks. */
  private async keepMachine(wanted: readonly WantedOverlay[]): Promise<void> {
    const { key } = this.deps
    const rules = buildMachineRules(
      key,
      wanted.map((one) => this.local(one)),
    )
    if (wanted.length > 0) await this.tables.keep('inet', overlaysTable(key), rules)
  }

  private async keepOne(one: WantedOverlay, links: Awaited<ReturnType<IpTools['links']>>): Promise<void> {
    const { key } = this.deps
    await this.devices?.make(one, links)
    await this.tables.keep('netdev', overlayTable(key, one.overlay.id), buildOverlayRules(key, this.local(one)))
    await this.devices?.connect(one)
  }

  /** Removes interfaces and rules that no container here needs. */
  private async tidy(wanted: readonly WantedOverlay[]): Promise<void> {
    const { key, tools, nft } = this.deps
    const needed = new Set(
      wanted.flatMap(({ overlay, attached }) => [
        tunnelName(key, overlay.id),
        ...attached.map(({ workloadId }) => memberName(key, workloadId, overlay.id)),
      ]),
    )
    const isOurs = (name: string) => name.startsWith(tunnelPrefix(key)) || name.startsWith(memberPrefix(key))
    const left = (await tools.links()).filter(({ ifname }) => isOurs(ifname) && !needed.has(ifname))
    // An interface that is already gone, with its container for example, is no error.
    for (const { ifname } of left) await tools.apply([`link delete ${ifname}`]).catch(() => {})
    for (const table of left.flatMap(({ ifname }) => tableOfTunnel(key, ifname) ?? [])) {
      await nft.apply(removeTable(`netdev ${table}`))
      this.tables.discard('netdev', table)
    }
    // A container that was attached when this pass began and has ended since is left to the next pass.
    this.tidied = wanted.length === 0 && this.attachments.size === 0
    if (!this.tidied) return
    await nft.apply(removeTable(`inet ${overlaysTable(key)}`))
    this.tables.discard('inet', overlaysTable(key))
    clearInterval(this.timer)
    this.timer = undefined
  }

  /** Stops reconciling and leaves everything in place: containers may continue without the agent. */
  async close(): Promise<void> {
    clearInterval(this.timer)
    await this.passes
  }
}
