import type { Bucket } from '../../domain/billing/buckets.ts'
import type { UsageKind } from '../../domain/billing/usage.ts'

/** The account of a bill, and the part of it that is requested. */
export interface BillScope {
  teamId: string
  kinds: readonly UsageKind[]
  /** Only charges of this resource; null: all. */
  resourceId: string | null
  /** Whether sums are per resource, or else per kind. */
  perResource: boolean
  /** Oldest first, without gaps. */
  buckets: readonly Bucket[]
}

/** Limits of one bill; a larger one is refused (BIL-14). */
export interface BillBounds {
  /** Records of the reply. */
  records: number
  /** Daily sums or intervals that are read. */
  rows: number
  /** Parts into which these are cut at bucket borders. */
  parts: number
}

/** Reason why a bill is refused: its reply or its work would be too large, or its intervals are deleted (BIL-42). */
export type BillRefusal = { tooMuch: keyof BillBounds } | { removedUntilMs: number }
