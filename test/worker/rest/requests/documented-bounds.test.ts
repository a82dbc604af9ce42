import { createAccount, expect, it, ORIGIN, send } from '../../../support/harness.ts'
import { Browser, PAGE } from '../../../support/http/browser.ts'
import { type Known, OPERATIONS } from '../../../support/openapi/answers.ts'
import { bodyAround, sampleOf, sidesOf } from '../../../support/openapi/bound-values.ts'
import { type Bound, boundsOf, locationOf } from '../../../support/openapi/bounds.ts'
import { type Caller, World } from '../../../support/openapi/world.ts'
import { realTime } from '../../../support/time.ts'

// Tests each documented bound against the Worker, from both sides.

const AT_A_TIME = 16
const TIME_MS = 300_000
/** Milliseconds after which a held call counts as not refused; a refusal may take long on a busy machine. */
const HELD_MS = { within: 500, beyond: 20_000 }
/** A case that takes longer is reported by name, before the test as a whole times out. */
const CASE_MS = 60_000

/** Sides of bounds that are not tested, each with the reason. */
const NOT_ASKED: readonly { bound: RegExp; side: 'within' | 'beyond'; reason: string }[] = [
  { bound: / query \$\.cursor minLength$/, side: 'within', reason: 'only a cursor that a page gave is taken' },
  { bound: / path \$\.\w+ minLength$/, side: 'beyond', reason: 'a path without its last part is another path' },
  { bound: /exec query \$\.command minItems$/, side: 'beyond', reason: 'a list of a query without elements is not there' },
  { bound: /delegations body \$\.resource maxLength$/, side: 'within', reason: 'no ARN of a repository is so long' },
]
/** Parameters that are clamped to their bounds, so that no value is refused; each with its rule. */
const CLAMPED: readonly { bound: RegExp; rule: string }[] = [
  { bound: / query \$\.wait /, rule: 'API-11' },
  { bound: /GET \/v2\/\{endpointId\}\/requests query \$\.limit /, rule: 'HLT-10' },
]
/** Bodies that are passed to the worker unchanged and unchecked (OAI-3). */
const WORKERS_OWN = / \/v2\/\{endpointId\}\/openai\/\{route\} body /

interface Asked {
  operation: Known
  bound: Bound
  name: string
}

const ASKED: Asked[] = OPERATIONS.flatMap((operation) =>
  boundsOf(operation.document, operation).map((bound) => ({
    operation,
    bound,
    name: `${operation.name} ${bound.parameter?.in ?? 'body'} ${locationOf(bound)}${alternativesOf(bound)} ${bound.word}`,
  })),
)

/** Alternatives of one schema have bounds of their own. */
function alternativesOf({ steps }: Bound): string {
  return steps.flatMap((step) => (typeof step === 'object' && 'alternative' in step ? [`|${step.alternative}`] : [])).join('')
}

const world = new World()
let held = new AbortController()

interface Received {
  status: number
  /** The places that the reply names as wrong. */
  named: string[]
  text: string
}

const HELD: Received = { status: 200, named: [], text: 'held' }

/** Sends a value at the place of a bound; repeats with another caller if an earlier call has ended the caller's key or object. */
async function ask(asked: Asked, value: unknown, heldMs: number): Promise<Received> {
  const first = await askOnce(asked, value, heldMs)
  if (first.status !== 401 && first.status !== 404) return first
  world.renew(asked.operation)
  return askOnce(asked, value, heldMs)
}

async function askOnce({ operation, bound }: Asked, value: unknown, heldMs: number): Promise<Received> {
  const caller = await callerOf(operation)
  const { path, init } = requestOf(operation, bound, caller, value)
  const response = await Promise.race([send(path, init), ...(mayBeHeld(operation) ? [late(heldMs)] : [])])
  if (response === null) return HELD
  if (response.status < 400) {
    await response.body?.cancel()
    return { status: response.status, named: [], text: '' }
  }
  const text = await response.text()
  return { status: response.status, named: placesIn(text), text }
}

function mayBeHeld({ parameters }: Known): boolean {
  return parameters.some(({ name }) => ['wait', 'waitFor', 'from', 'route'].includes(name))
}

async function late(heldMs: number): Promise<null> {
  await realTime(heldMs, 'a call that is held is told apart by being held')
  return null
}

async function noAnswer(): Promise<null> {
  await realTime(CASE_MS, 'an answer that never comes')
  return null
}

/** Operations of the console are called from the browser of a signed-in user. */
async function callerOf(operation: Known): Promise<Caller & { headers?: Record<string, string> }> {
  if (!operation.path.startsWith('/console/')) return world.callerOf(operation)
  signedIn ??= createAccount().then(({ key }) => Browser.signedIn(key))
  const { cookies } = await signedIn
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  return { key: '', params: {}, headers: { ...PAGE, Origin: ORIGIN, Cookie: cookie } }
}

let signedIn: Promise<Browser> | undefined

function requestOf(operation: Known, bound: Bound, caller: Awaited<ReturnType<typeof callerOf>>, value: unknown) {
  const body = bodyFor(operation, bound, value)
  const type = body === undefined ? {} : { 'Content-Type': 'application/json' }
  const headers = new Headers({ ...(caller.headers ?? { Authorization: `Bearer ${caller.key}` }), ...type })
  const { parameter } = bound
  if (parameter?.in === 'header') headers.set(parameter.name, String(value))
  const query = queryFor(operation, bound, value)
  const path = pathFor(operation, bound, caller, value)
  const init = { method: operation.method.toUpperCase(), headers, signal: held.signal, ...(body !== undefined && { body }) }
  return { path: query.size === 0 ? path : `${path}?${query}`, init }
}

function bodyFor({ document, operation }: Known, { parameter, steps }: Bound, value: unknown): string | undefined {
  const schema = operation.requestBody?.content['application/json']?.schema
  if (!schema) return undefined
  return JSON.stringify(parameter ? sampleOf(document, schema) : bodyAround(document, schema, steps, value))
}

function pathFor({ path, document, parameters }: Known, { parameter }: Bound, caller: Caller, value: unknown): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    if (parameter?.in === 'path' && parameter.name === name) return encodeURIComponent(String(value))
    const schema = parameters.find((one) => one.in === 'path' && one.name === name)?.schema ?? {}
    return caller.params[name] ?? encodeURIComponent(String(sampleOf(document, schema)))
  })
}

/** Builds the query; `dryRun` is set where a plan is available, so that nothing changes. */
function queryFor({ document, parameters }: Known, { parameter, steps }: Bound, value: unknown): URLSearchParams {
  const query = new URLSearchParams()
  for (const { in: place, name, required, explode, schema } of parameters) {
    if (place !== 'query') continue
    const isAsked = parameter?.in === 'query' && parameter.name === name
    const other = name === 'dryRun' ? true : required ? sampleOf(document, schema) : undefined
    const said = isAsked ? bodyAround(document, schema, steps, value) : other
    const texts = Array.isArray(said) && explode !== false ? said : said === undefined ? [] : [said]
    for (const text of texts) query.append(name, String(text))
  }
  return query
}

/** The places that a problem names: those of REST in `errors`, that of the job API at the start of `detail`. */
function placesIn(text: string): string[] {
  const { errors, detail } = JSON.parse(text) as { errors?: string[]; detail?: string }
  return (errors ?? [detail ?? '']).map((one) => one.split(': ')[0] ?? '')
}

/** Whether a reply refuses the value at the place of a bound. */
function isRefused({ bound, operation }: Asked, { status, named }: Received): boolean {
  const isJob = operation.path.startsWith('/v2/{endpointId}')
  // In the job API 422 means that the idempotency key was used for another job.
  if (status !== 400 && (status !== 422 || isJob)) return false
  const name = bound.parameter?.name
  const own = [locationOf(bound), ...(isJob && name ? [`${name} (query)`, `${name} (header)`] : [])]
  return named.some((place) => own.includes(place))
}

function isLeftOut(name: string, side: 'within' | 'beyond'): boolean {
  return NOT_ASKED.some((one) => one.side === side && one.bound.test(name))
}

async function faultsOf(asked: Asked): Promise<string[]> {
  const { name, bound, operation } = asked
  const sides = sidesOf(operation.document, bound)
  if (sides === null) return [`${name}: no value is known for it`]
  const isClamped = CLAMPED.some((one) => one.bound.test(name))
  const cases = (['within', 'beyond'] as const)
    .filter((side) => !isLeftOut(name, side))
    .flatMap((side) => sides[side].map((value) => ({ side, value })))
  const faults: string[] = []
  for (const { side, value } of cases) {
    const about = `${name}: ${JSON.stringify(value).slice(0, 100)}, ${side} the bound`
    const received = await Promise.race([ask(asked, value, HELD_MS[isClamped ? 'within' : side]), noAnswer()])
    if (received === null) {
      faults.push(`${about}, has no answer within ${CASE_MS / 1000} s`)
      continue
    }
    const isWrong = received.status >= 500 || isRefused(asked, received) !== (side === 'beyond' && !isClamped)
    if (isWrong) faults.push(`${about}, is ${received.status} ${received.text}`)
  }
  return faults
}

it(
  '[DOC-4] every bound that a document states is enforced',
  async () => {
    const wanted = ASKED.filter(({ name }) => !WORKERS_OWN.test(name))
    const faults: string[] = []
    held = new AbortController()
    const waiting = wanted.values()
    const lane = async () => {
      for (const asked of waiting) faults.push(...(await faultsOf(asked).catch((error) => [`${asked.name}: ${error}`])))
    }
    await Promise.all(Array.from({ length: AT_A_TIME }, lane))
    held.abort()
    const left = wanted.filter(({ name }) => isLeftOut(name, 'within') || isLeftOut(name, 'beyond')).length
    console.log(`${wanted.length} of ${ASKED.length} bounds of ${OPERATIONS.length} operations asked for, ${left} of them from one side`)
    expect(faults).toEqual([])
  },
  TIME_MS,
)

it('[DOC-4] every exception is needed', () => {
  const patterns = [...NOT_ASKED, ...CLAMPED].map(({ bound }) => bound)
  for (const pattern of [...patterns, WORKERS_OWN])
    expect(
      ASKED.some(({ name }) => pattern.test(name)),
      String(pattern),
    ).toBe(true)
})
