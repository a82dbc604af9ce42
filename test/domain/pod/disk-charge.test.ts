import { withDiskRates } from '../../../src/domain/pod/disk-charge.ts'
import { decideAction, decideHostLost, decideRecreate, decideReport } from '../../../src/domain/pod/pod.ts'
import { makePod } from '../../support/pods/pod-state.ts'
import { describe, expect, it } from '../../support/unit.ts'

const RATES = { diskNanosPerHour: 10, stoppedDiskNanosPerHour: 20 }
const MORE = { diskNanosPerHour: 30, stoppedDiskNanosPerHour: 60 }
const stopped = (change = {}) => makePod({ status: 'EXITED', ...RATES, diskChargedFromMs: 5_000, changedAtMs: 5_000, ...change })

function changeOf(outcome: ReturnType<typeof decideAction>) {
  if (!outcome.ok) throw new Error(outcome.detail)
  return outcome.change
}

describe('disks of a pod', () => {
  it('[BIL-8] are charged by themselves from its stop to its start or its end', () => {
    const stop = changeOf(decideAction(makePod(RATES), 'stop', 5_000))
    expect(stop).toMatchObject({ pod: { chargedFromMs: null, diskChargedFromMs: 5_000 }, usage: { startedAtMs: 1_000, endedAtMs: 5_000 } })
    const start = changeOf(decideAction(stop.pod, 'start', 9_000))
    expect(start).toMatchObject({ pod: { diskChargedFromMs: null }, usage: { startedAtMs: 5_000, endedAtMs: 9_000 } })
    const end = changeOf(decideAction(stop.pod, 'terminate', 7_000))
    expect(end).toMatchObject({ pod: { diskChargedFromMs: null }, usage: { startedAtMs: 5_000, endedAtMs: 7_000 } })
  })

  it('[BIL-8] are charged when it ends by itself, too, and not where they cost nothing or its host is lost', () => {
    const exit = { generation: 3, state: 'exited', reason: null, atMs: 6_000 } as const
    expect(decideReport(makePod(RATES), exit, 8_000)?.pod.diskChargedFromMs).toBe(6_000)
    expect(decideReport(makePod(), exit, 8_000)?.pod.diskChargedFromMs).toBeNull()
    const lost = decideHostLost(makePod(RATES), 'lost', 6_000, 8_000)
    expect(lost?.pod).toMatchObject({ status: 'ERROR', diskChargedFromMs: null })
    const failed = decideReport(makePod({ ...RATES, status: 'STARTING' }), { ...exit, state: 'error' }, 8_000)
    expect(failed).toMatchObject({ pod: { diskChargedFromMs: 6_000 }, usage: null })
  })

  it('[BIL-7][BIL-8] a new size ends the charge of the previous one, running or stopped', () => {
    const kept = (pod: ReturnType<typeof stopped>) => ({ pod: { ...pod, version: pod.version + 1 }, usage: null })
    const resting = stopped()
    expect(withDiskRates(resting, kept(resting), MORE, 8_000)).toMatchObject({
      pod: { ...MORE, diskChargedFromMs: 8_000, chargedFromMs: null },
      usage: { startedAtMs: 5_000, endedAtMs: 8_000 },
    })
    const running = makePod(RATES)
    expect(withDiskRates(running, kept(running), MORE, 8_000)).toMatchObject({
      pod: { ...MORE, chargedFromMs: 8_000, startedAtMs: 1_000, diskChargedFromMs: null },
      usage: { startedAtMs: 1_000, endedAtMs: 8_000 },
    })
    expect(withDiskRates(resting, kept(resting), RATES, 8_000)).toEqual(kept(resting))
    const recreated = decideRecreate(running, 8_000)
    expect(withDiskRates(running, recreated, MORE, 8_000)).toEqual({ ...recreated, pod: { ...recreated.pod, ...MORE } })
  })
})
