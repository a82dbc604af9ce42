import { isReplacementRecent, type LinkReplacements } from '../../../src/domain/host/link-replacement.ts'
import { logEvent } from '../../../src/platform/log.ts'
import type { LinkEnd } from '../links.ts'
import type { WorkloadStore } from '../workload-store.ts'

const REPLACEMENTS_KEY = 'linkReplacements'

/** Counts takeovers of this host's open link by another agent process: its key may be in two places (HOST-77). */
export class HostLinkReplacements {
  private readonly store: WorkloadStore
  private readonly now: () => number

  constructor(store: WorkloadStore, now: () => number) {
    this.store = store
    this.now = now
  }

  /** Records that a link was replaced. A reconnect of the same agent process does not count. */
  note(newer: LinkEnd, older: LinkEnd): void {
    if (newer.process !== null && newer.process === older.process) return
    const count = (this.read()?.count ?? 0) + 1
    const last: LinkReplacements = { count, lastAtMs: this.now(), lastAddress: newer.address }
    this.store.writeMeta(REPLACEMENTS_KEY, JSON.stringify(last))
    logEvent('warn', 'host link replaced', { hostId: this.store.hostId(), address: newer.address, previousAddress: older.address, count })
  }

  /** The count for the operator; null when no link was ever replaced. */
  view(): (LinkReplacements & { recent: boolean }) | null {
    const found = this.read()
    return found && { ...found, recent: isReplacementRecent(found, this.now()) }
  }

  private read(): LinkReplacements | null {
    const text = this.store.readMeta(REPLACEMENTS_KEY)
    return text === null ? null : (JSON.parse(text) as LinkReplacements)
  }
}
