import { isDiskCharged, type PodChange, type PodState } from './pod.ts'

type DiskRates = Pick<PodState, 'diskNanosPerHour' | 'stoppedDiskNanosPerHour'>

/**
 * Applies new disk rates to a pod change (BIL-8). When the rates differ, the open charged interval ends and another begins at the new rate,
 * unless the change itself has ended it.
 */
export function withDiskRates<Pod extends PodState>(
  before: PodState,
  { pod, usage }: PodChange<Pod>,
  rates: DiskRates,
  nowMs: number,
): PodChange<Pod> {
  const after = { ...pod, ...rates }
  const isSame = before.diskNanosPerHour === rates.diskNanosPerHour && before.stoppedDiskNanosPerHour === rates.stoppedDiskNanosPerHour
  if (isSame || before.status !== after.status) return { pod: after, usage }
  const fromMs = before.chargedFromMs ?? before.diskChargedFromMs
  const atMs = Math.max(nowMs, fromMs ?? 0)
  const charged = {
    chargedFromMs: before.chargedFromMs === null ? null : atMs,
    diskChargedFromMs: isDiskCharged(after) ? atMs : null,
  }
  return { pod: { ...after, ...charged }, usage: fromMs === null ? usage : { startedAtMs: fromMs, endedAtMs: atMs } }
}
