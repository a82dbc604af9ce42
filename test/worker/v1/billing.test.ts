import { createAccount, describe, expect, it, teamOf } from '../../support/harness.ts'
import { decodeGoList, type GoStruct } from '../../support/http/go-decoder.ts'
import { v1 } from '../../support/http/v1.ts'
import { closed, HOUR_MS, writeUsage } from '../../support/pods/usage.ts'

const JUNE = Date.UTC(2026, 5, 1)
const L4 = 440_000_000
const WINDOW = 'startTime=2026-06-01T00:00:00Z&endTime=2026-06-08T00:00:00Z'
const GO_BILL: GoStruct = {
  time: 'string',
  amount: 'float64',
  timeBilledMs: 'int',
  diskSpaceBilledGb: 'int',
  podId: 'string',
  endpointId: 'string',
  gpuTypeId: 'string',
}

describe('bills of v1', () => {
  it('[LEG-10][LEG-7] pods, by pod and by GPU type: an interval across a border is cut there', async () => {
    const account = await createAccount()
    const hours = (from: number, to: number) => ({ startedAtMs: JUNE + from * HOUR_MS, endedAtMs: JUNE + to * HOUR_MS })
    await writeUsage(await teamOf(account), [
      closed({ resourceId: 'a', workloadId: 'a', gpuTypeId: 'NVIDIA L4', diskGb: 5, gpuNanosPerHour: L4, ...hours(23, 26) }),
      closed({ resourceId: 'b', workloadId: 'b', gpuTypeId: 'NVIDIA L4', diskGb: 7, gpuNanosPerHour: L4, ...hours(1, 2) }),
      closed({ resourceId: 'b', workloadId: 'b', gpuTypeId: null, diskGb: 7, cpuNanosPerHour: 60_000_000, ...hours(3, 4) }),
    ])
    const call = v1(account.key)
    const byType = await call.get(`/billing/pods?bucketSize=day&grouping=gpuTypeId&${WINDOW}`)
    expect([byType.status, decodeGoList(byType.body, GO_BILL)]).toEqual([
      200,
      [
        { time: '2026-06-01T00:00:00Z', amount: 0.88, timeBilledMs: 2 * HOUR_MS, diskSpaceBilledGb: 12, gpuTypeId: 'NVIDIA L4' },
        { time: '2026-06-01T00:00:00Z', amount: 0.06, timeBilledMs: HOUR_MS, diskSpaceBilledGb: 7, gpuTypeId: '' },
        { time: '2026-06-02T00:00:00Z', amount: 0.88, timeBilledMs: 2 * HOUR_MS, diskSpaceBilledGb: 5, gpuTypeId: 'NVIDIA L4' },
      ],
    ])
    const ofOne = { time: '2026-06-01T00:00:00Z', podId: 'b', diskSpaceBilledGb: 7 }
    expect((await call.get(`/billing/pods?bucketSize=month&podId=b&${WINDOW}`)).body).toEqual([
      { ...ofOne, amount: 0.5, timeBilledMs: 2 * HOUR_MS },
    ])
    expect((await call.get(`/billing/pods?bucketSize=month&podId=b&gpuTypeId=NVIDIA+L4&${WINDOW}`)).body).toEqual([
      { ...ofOne, amount: 0.44, timeBilledMs: HOUR_MS },
    ])
    expect((await v1((await createAccount()).key).get(`/billing/pods?${WINDOW}`)).body).toEqual([])
  })

  it.each(['pods?bucketSize=day&grouping=gpuTypeId', 'endpoints?bucketSize=day&grouping=endpointId', 'networkvolumes?bucketSize=day'])(
    '[LEG-10] %s of an account that has spent nothing is an empty array',
    async (path) => {
      const reply = await v1((await createAccount()).key).get(`/billing/${path}`)
      expect([reply.status, reply.body]).toEqual([200, []])
    },
  )

  it.each([
    ['endpoints?bucketSize=decade', '$.bucketSize: '],
    ['pods?grouping=endpointId', '$.grouping: '],
    ['pods?startTime=yesterday', '$.startTime: '],
  ])('[LEG-10] %s is 422', async (path, where) => {
    const reply = await v1((await createAccount()).key).get(`/billing/${path}`)
    expect([reply.status, reply.body]).toEqual([422, { message: expect.stringContaining(where) }])
  })
})
