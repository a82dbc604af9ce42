import { ChangePlan } from '../../../src/contract/change-plan.ts'
import { adminDocument } from '../../../src/http/admin-api.ts'
import { callOf, EXEMPT, nameOf } from '../../support/access/audited.ts'
import { DOCUMENTED, documentedIn, fill, type Operation } from '../../support/access/operations.ts'
import { settledState, wholeState } from '../../support/access/whole-state.ts'
import { beforeAll, createAccount, describe, expect, it, send } from '../../support/harness.ts'

// Every operation of both documents that takes `dryRun`, called by its owner and by another tenant; and every changing operation without a
// plan.

const CHANGING = [...DOCUMENTED, ...documentedIn(adminDocument())].filter(
  (operation) => operation.method !== 'get' && !(nameOf(operation) in EXEMPT),
)

/** Operations whose dry run has a reply of another form: the object does not exist yet, or many objects are affected. */
const OTHER_SHAPES: Readonly<Record<string, string>> = {
  'post /v2/pods': 'where the pod would go',
  'post /v2/clusters': 'where the cluster would go',
  'post /v2/serverless': 'where a worker would go',
  'post /v2/spend/stop': 'what would be stopped, with a planId to stop exactly that',
  'post /v2/{endpointId}/requests/cancel': 'which jobs match',
}

const NAMES = 'changes a name'

/** Operations without a plan, each with the reason. All other operations take `dryRun`. */
const UNPLANNED: Readonly<Record<string, string>> = {
  'delete /admin/v1/deleted-volumes/{id}': 'says that something is gone already',
  'post /admin/v1/hosts/{id}/uncordon': 'takes nothing away',
  'post /admin/v1/secrets/reseal': 'nobody outside sees a difference',
  'patch /v2/clusters/{id}': NAMES,
  'patch /v2/global-volumes/{id}': NAMES,
  'patch /v2/organizations/{id}': NAMES,
  'post /v2/webhooks/signing-secret/rotate': 'both secrets sign for a day',
  'post /v2/organizations/invitations/accept': 'takes nothing away; who joined can leave',
  'post /v2/organizations/invitations/decline': 'ends one invitation, which is all that it names',
  'post /v2/spend/stops/{id}/undo': 'starts what the stop lists, as far as starts are allowed',
  'post /v2/webhooks/deliveries/{id}/redeliver': 'sends once more',
  'post /v2/{endpointId}/cancel/{jobId}': 'ends one job, which is all that it names',
  'post /v2/{endpointId}/purge-queue': 'requests/cancel with status IN_QUEUE does the same, and has a plan',
}

/** Whether an operation creates something: its cost is stated in the request. */
const isCreate = ({ method, path }: Operation) =>
  method === 'post' && (/\/(keys|invitations)$/.test(path) || !/\}\/|\/(stop|accept|decline|rotate|reseal)$/.test(path))

let otherTenantsKey: string

beforeAll(async () => {
  otherTenantsKey = (await createAccount()).key
})

async function ask(key: string, { method, path }: Operation, body: object | undefined) {
  const response = await send(`${path}?dryRun=true`, {
    method: method.toUpperCase(),
    headers: { Authorization: `Bearer ${key}`, ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: response.status, text: await response.text() }
}

describe('[DRY-5] an operation that takes dryRun', () => {
  it.each(CHANGING.filter(({ isPlannable }) => isPlannable).map((operation) => ({ name: nameOf(operation), operation })))(
    '$name returns a plan, changes nothing, and shows another tenant nothing',
    async ({ operation }) => {
      const { key, params, body = operation.body } = await callOf(operation)
      const filled = { ...operation, path: fill(operation.path, params) }
      const endpointId = operation.path.startsWith('/v2/serverless/') ? params.id : params.endpointId
      const before = await settledState(endpointId)
      const isForAll = !operation.path.includes('{') && !operation.path.startsWith('/admin/')
      if (!isForAll) expect((await ask(otherTenantsKey, filled, body)).status).toBe(operation.path.startsWith('/admin/') ? 401 : 404)
      const own = await ask(key, filled, body)
      expect(own.status, own.text).toBe(200)
      if (!(nameOf(operation) in OTHER_SHAPES)) {
        const plan = ChangePlan.strict().parse(JSON.parse(own.text))
        expect(plan.effects.length + (plan.refusal ? 1 : 0), own.text).toBeGreaterThan(0)
      }
      expect(await wholeState(endpointId)).toBe(before)
    },
  )
  it('is every one that ends or changes something, except those listed here with their reason', () => {
    const without = CHANGING.filter((operation) => !operation.isPlannable && !isCreate(operation)).map(nameOf)
    expect(without.toSorted()).toEqual(Object.keys(UNPLANNED).toSorted())
  })
})
