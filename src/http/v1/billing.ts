import { z } from 'zod'
import { BillingQuery } from '../../contract/billing/query.ts'
import { NETWORK_VOLUME_BILLS, POD_BILLS, SERVERLESS_BILLS } from '../../domain/billing/lists.ts'
import { type BillRecord, type Grouping, v1Bills } from '../../domain/v1/billing.ts'
import { listBills } from '../../services/billing/bills.ts'
import { asV2, type V1Call, type V1Route, v1Route } from './route.ts'

type Call = V1Call<unknown>

const PodGrouping = z.object({ grouping: z.enum(['podId', 'gpuTypeId']).default('podId') })
const EndpointGrouping = z.object({ grouping: z.enum(['endpointId', 'podId', 'gpuTypeId']).default('endpointId') })

/** Bills of v1 (LEG-10): `/billing`. */
export const BILLING_ROUTES: readonly V1Route[] = [
  v1Route('GET', '/billing/pods', 'billing:read', async (call) => {
    const { grouping } = asV2(PodGrouping, { grouping: asked(call, 'grouping') })
    const { records } = await listBills(call.ctx, POD_BILLS, windowOf(call), asked(call, 'podId'))
    return show(call, [...records], grouping, ({ podId }) => podId)
  }),
  v1Route('GET', '/billing/endpoints', 'billing:read', async (call) => {
    const { grouping } = asV2(EndpointGrouping, { grouping: asked(call, 'grouping') })
    const { records } = await listBills(call.ctx, SERVERLESS_BILLS, windowOf(call), asked(call, 'endpointId'))
    return show(call, [...records], grouping, ({ serverlessId }) => serverlessId)
  }),
  v1Route('GET', '/billing/networkvolumes', 'billing:read', async (call) => {
    const { records } = await listBills(call.ctx, NETWORK_VOLUME_BILLS, windowOf(call), asked(call, 'networkVolumeId'))
    return show(call, [...records], null, ({ networkVolumeId }) => networkVolumeId)
  }),
]

/** Rows are built from intervals, so the query asks v2 to include them. */
function windowOf(call: Call): BillingQuery {
  const [startTime, endTime, bucketSize] = ['startTime', 'endTime', 'bucketSize'].map((name) => asked(call, name))
  return asV2(BillingQuery, { startTime, endTime, bucketSize, include: 'INTERVALS' })
}

function asked({ query }: Call, name: string): string | undefined {
  return query.get(name) || undefined
}

function show<Shown extends BillRecord>(call: Call, records: readonly Shown[], grouping: Grouping, ownerOf: (record: Shown) => string) {
  return call.c.json(v1Bills(records, grouping, ownerOf, call.ctx.nowMs, asked(call, 'gpuTypeId')), 200)
}
