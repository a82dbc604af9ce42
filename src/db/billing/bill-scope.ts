import type { Bucket } from '../../domain/billing/buckets.ts'
import type { UsageKind } from '../../domain/billing/usage.ts'

/** Whose bill, and what of it. */
export interface BillScope {
  teamId: string
  kinds: readonly UsageKind[]
  /** Only what this one was charged; null: everything. */
  resourceId: string | null
  /** Sums are of each resource by itself, or of each kind. */
  perResource: boolean
  /** Oldest first, without gaps. */
  buckets: readonly Bucket[]
}

/** The most that one bill is made of; more is refused (BIL-14). */
export interface BillBounds {
  /** Records of the answer. */
  records: number
  /** Daily sums, or intervals, that are read for it. */
  rows: number
  /** Parts that those are cut into at the borders of buckets. */
  parts: number
}

/** Why a bill is refused: its answer or its work would be too large, or the intervals behind it are gone (BIL-42). */
export type BillRefusal = { tooMuch: keyof BillBounds } | { removedUntilMs: number }
