import { execFile } from 'node:child_process'
import { z } from 'zod'
import { type Overlay, type OverlayMember, type OverlayReport, VXLAN_PORT, WIREGUARD_PORT } from '../../../../host-protocol/overlays.ts'
import { errorText } from '../../../../node/fail.ts'
import type { Log } from '../../../log.ts'
import type { HostOverlays } from '../host-overlays.ts'
import { NetworkNamespace } from '../network-namespace.ts'
import { probeTargets } from './probe-targets.ts'

const TURN_EVERY_MS = 1_000
const PROBE_TIMEOUT_MS = 60_000
/** Gaps are reported only after this time, because other members get ready at the same time. */
const PATIENCE_MS = 5_000
const GAPS_MAX = 64
const REASON_MAX_CHARS = 300

/** Returns the addresses that do not answer, probed from the network of a process. */
export type Probe = (pid: number, addresses: readonly string[]) => Promise<string[]>

export interface ReachChecksDeps {
  overlays: Pick<HostOverlays, 'attached' | 'inventory' | 'wayTo'>
  probe: Probe
  /** Sends reports to the plane; true when the plane has taken them. */
  send(reports: OverlayReport[]): Promise<boolean>
  log: Log
  now?(): number
}

/** State of the answer to one check of the plane. */
interface Asked {
  /** Identity of the check: its number, and the addresses and hosts of the members. */
  question: string
  sinceMs: number
  ready: Set<string>
  /** Addresses that have answered, by pod id of the member that probed; they are not probed again. */
  reached: Map<string, Set<string>>
  gaps: OverlayReport['gaps']
  /** The last report that the plane has taken, as JSON. */
  reported: string
}

/**
 * Checks whether members of this machine reach all others of their network (NET-45). A member that does not answer is probed again for as
 * long as the plane's check lasts; each new result is reported under the number of its check.
 */
export class ReachChecks {
  private readonly deps: ReachChecksDeps
  private readonly prepared = new Set<string>()
  private readonly asked = new Map<string, Asked>()
  private timer: NodeJS.Timeout | undefined
  private turning = false

  constructor(deps: ReachChecksDeps) {
    this.deps = deps
  }

  start(): void {
    this.timer ??= setInterval(() => void this.turn(), TURN_EVERY_MS)
  }

  close(): void {
    clearInterval(this.timer)
  }

  /** Marks a workload as ready except for its start. */
  notePrepared(workloadId: string): void {
    this.prepared.add(workloadId)
  }

  discard(workloadId: string): void {
    this.prepared.delete(workloadId)
  }

  /** Runs all checks, one run at a time; a complete check costs nothing. */
  async turn(): Promise<void> {
    if (this.turning) return
    this.turning = true
    try {
      const attached = this.deps.overlays.attached()
      const asking = attached.filter(({ overlay, members }) => overlay.check !== undefined && members.length > 0)
      for (const id of this.asked.keys()) if (!asking.some(({ overlay }) => overlay.id === id)) this.asked.delete(id)
      for (const one of asking) await this.answer(one)
      await this.report(asking.map(({ overlay }) => overlay))
    } catch (error) {
      this.deps.log.warn('the reachability between members of private networks is unknown', { error: errorText(error) })
    } finally {
      this.turning = false
    }
  }

  private async answer({ overlay, members }: ReturnType<HostOverlays['attached']>[number]): Promise<void> {
    const asked = this.askedOf(overlay)
    const gaps: OverlayReport['gaps'] = []
    for (const { attachment, place } of members) {
      const self = overlay.members.find(({ address }) => address === place.address)
      if (self === undefined || asked.ready.has(self.podId) || !this.prepared.has(attachment.workloadId)) continue
      const reached = asked.reached.get(self.podId) ?? new Set()
      asked.reached.set(self.podId, reached)
      const others = probeTargets(overlay, self).filter(({ address }) => !reached.has(address))
      const placed = others.filter(({ hostAddress }) => hostAddress !== null).map(({ address }) => address)
      const silent = new Set(await this.deps.probe(attachment.pid, placed))
      for (const address of placed) if (!silent.has(address)) reached.add(address)
      const unreached = others.filter(({ address }) => !reached.has(address))
      if (unreached.length === 0) asked.ready.add(self.podId)
      gaps.push(...unreached.map((other) => ({ from: self.podId, to: other.podId, reason: this.explain(overlay, self, other) })))
    }
    asked.gaps = gaps.slice(0, GAPS_MAX)
  }

  private askedOf(overlay: Overlay): Asked {
    const targets = overlay.members.map(({ address, hostAddress }) => `${address}@${hostAddress}`).join(' ')
    const question = `${overlay.check} ${targets}`
    const known = this.asked.get(overlay.id)
    if (known?.question === question) return known
    const asked = { question, sinceMs: this.nowMs(), ready: new Set<string>(), reached: new Map(), gaps: [], reported: '' }
    this.asked.set(overlay.id, asked)
    return asked
  }

  private nowMs(): number {
    return this.deps.now?.() ?? performance.now()
  }

  private async report(overlays: readonly Overlay[]): Promise<void> {
    const due = overlays.flatMap(({ id, check }) => {
      const asked = this.asked.get(id)
      if (asked === undefined || check === undefined) return []
      const isPatient = this.nowMs() - asked.sinceMs < PATIENCE_MS
      const report = { overlayId: id, check, ready: [...asked.ready], gaps: isPatient ? [] : asked.gaps }
      const isNew = report.ready.length + report.gaps.length > 0 && JSON.stringify(report) !== asked.reported
      return isNew ? [{ asked, report }] : []
    })
    if (due.length === 0 || !(await this.deps.send(due.map(({ report }) => report)))) return
    for (const { asked, report } of due) asked.reported = JSON.stringify(report)
  }

  private explain(overlay: Overlay, from: OverlayMember, to: OverlayMember): string {
    const name = ({ names, podId }: OverlayMember) => names[0] ?? podId
    const here = this.deps.overlays.inventory.address
    if (to.hostAddress === null) return `${name(to)} is on no host yet`
    const text = `${name(to)} on host ${to.hostAddress} does not answer ${name(from)} on host ${here} over the private network`
    if (to.hostAddress === here) return text.slice(0, REASON_MAX_CHARS)
    const way = this.deps.overlays.wayTo(overlay, to.hostAddress)
    const port = way === 'encrypted' ? WIREGUARD_PORT : VXLAN_PORT
    const ask = `check that firewalls allow UDP ${port} between ${here} and ${to.hostAddress} in both directions`
    return `${text}: ${way === 'refused' ? 'that host does not encrypt, and this one requires it' : ask}`.slice(0, REASON_MAX_CHARS)
  }
}

/** A probe that runs this program again (`command`) in the network of the process. */
export function createProbe(command: readonly [string, ...string[]]): Probe {
  return async (pid, addresses) => {
    if (addresses.length === 0) return []
    const namespace = new NetworkNamespace(pid)
    try {
      const stdout = await new Promise<string>((resolve, reject) => {
        const args = [`--net=${namespace.path}`, ...command, '__reach']
        const child = execFile('nsenter', args, { timeout: PROBE_TIMEOUT_MS, env: { PATH: process.env.PATH } }, (error, text) => {
          if (error === null) resolve(text)
          else reject(error)
        })
        child.stdin?.on('error', () => {})
        child.stdin?.end(JSON.stringify(addresses))
      })
      return z.array(z.string()).parse(JSON.parse(stdout))
    } finally {
      namespace.close()
    }
  }
}
