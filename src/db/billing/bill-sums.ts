import { type Charge, type ChargedInterval, ChargeSums, cutInterval } from '../../domain/billing/bill.ts'
import { inPieces, yieldThread } from '../../platform/yield-thread.ts'
import type { BillBounds, BillRefusal, BillScope } from './bill-scope.ts'

/** Charges added at a time. */
export const PIECE = 1_000

/** The sums of one bill, built up while it is read; other requests run in between (BIL-41). */
export class BillSums {
  private readonly sums = new ChargeSums()
  private readonly scope: BillScope
  private readonly bounds: BillBounds
  /** Time of the request; open intervals count up to then. */
  private readonly nowMs: number
  private parts = 0

  constructor(scope: BillScope, bounds: BillBounds, nowMs: number) {
    this.scope = scope
    this.bounds = bounds
    this.nowMs = nowMs
  }

  /** The bound that is exceeded so far, if any (BIL-14). */
  get refusal(): Extract<BillRefusal, { tooMuch: unknown }> | null {
    if (this.sums.size > this.bounds.records) return { tooMuch: 'records' }
    return this.parts > this.bounds.parts ? { tooMuch: 'parts' } : null
  }

  async add(charges: Iterable<Charge>): Promise<void> {
    for await (const piece of inPieces(charges, PIECE)) {
      this.parts += piece.length
      this.sums.add(this.scope.perResource ? piece : piece.map((charge) => ({ ...charge, resourceId: '' })))
      if (this.refusal) return
    }
  }

  async addIntervals(intervals: readonly ChargedInterval[]): Promise<void> {
    await this.add(partsOf(intervals, this.scope, this.nowMs))
  }

  /** The charges by bucket and then by resource, without charges of zero (BIL-5). */
  async sorted(): Promise<Charge[]> {
    await yieldThread()
    const charges = this.sums.sorted()
    await yieldThread()
    return charges
  }
}

/** The parts of intervals in the buckets of a bill, one at a time: an interval of a month has 720 of an hour. */
export function* partsOf(intervals: readonly ChargedInterval[], { buckets }: Pick<BillScope, 'buckets'>, nowMs: number) {
  for (const interval of intervals) yield* cutInterval(interval, buckets, nowMs)
}
