import { type Declared, type Kind, resolveReferences } from './manifest.ts'

/** Resource as the API returns it. */
export type Present = Readonly<Record<string, unknown>> & { id: string; name: string }

/** Field that a deploy changes, with its present and its declared value. */
export interface Change {
  member: string
  from: unknown
  to: unknown
}

/** Action of a deploy for one resource. */
export interface Step {
  kind: Kind
  name: string
  action: 'create' | 'update' | 'keep' | 'refuse'
  id: string | null
  changes: Change[]
  /** Reason of a `refuse`. */
  reason?: string
  declared: Declared
}

/** Fields that can only be set at creation. */
const FIXED: Readonly<Record<Kind, readonly string[]>> = {
  volumes: ['dataCenter', 'type'],
  templates: [],
  endpoints: [],
  pods: ['cloud', 'cpu', 'dataCenterIds', 'gpu'],
}
const SINGULAR: Readonly<Record<Kind, string>> = { volumes: 'volume', templates: 'template', endpoints: 'endpoint', pods: 'pod' }
/** Variables that the plane adds. */
const GIVEN_VARIABLES = new Set(['PUBLIC_KEY', 'JUPYTER_PASSWORD'])

/** Returns the singular of a kind, for messages. */
export function singular(kind: Kind): string {
  return SINGULAR[kind]
}

/** Steps that bring all declared resources into the declared state (CMD-21). Other resources are left alone. */
export function planDeploy(declared: readonly Declared[], present: Readonly<Record<Kind, readonly Present[]>>): Step[] {
  const ids = new Map<string, string>()
  return declared.map((one) => {
    const { kind, name } = one
    const found = present[kind].filter((thing) => thing.name === name)
    const [thing] = found
    if (thing !== undefined && found.length === 1) ids.set(`${kind}.${name}`, thing.id)
    const members = resolveReferences(one.members, (reference) => ids.get(reference)) as Record<string, unknown>
    return planStep({ ...one, members }, found)
  })
}

function planStep(declared: Declared, found: readonly Present[]): Step {
  const { kind, name, members } = declared
  const [thing] = found
  if (thing === undefined) {
    const changes = Object.entries(members).map(([member, to]) => ({ member, from: null, to }))
    return { kind, name, action: 'create', id: null, changes, declared }
  }
  if (found.length > 1) {
    const reason = `${found.length} ${kind} are named ${name}: ${found.map(({ id }) => id).join(', ')}; rename or delete all but one`
    return { kind, name, action: 'refuse', id: null, changes: [], reason, declared }
  }
  // Fields that the API does not return, such as the keys of a pod, cannot be compared.
  const shown = Object.entries(members).filter(([member]) => member in thing)
  const changes = shown
    .filter(([member, to]) => !holds(member, to, thing[member]))
    .map(([member, to]) => ({ member, from: thing[member], to }))
  const fixed = changes.filter(({ member }) => FIXED[kind].includes(member))
  const base = { kind, name, id: thing.id, changes, declared }
  if (fixed.length === 0) return { ...base, action: changes.length === 0 ? 'keep' : 'update' }
  const reason = `${fixed.map(({ member }) => member).join(', ')} of a ${singular(kind)} cannot be changed: delete ${thing.id} and deploy again`
  return { ...base, action: 'refuse', reason }
}

/** Whether a resource matches the declaration; nested fields that are left out match any value. */
function holds(member: string, declared: unknown, present: unknown): boolean {
  if (member === 'env') return sameVariables(declared, present)
  if (member === 'flashboot' && typeof declared === 'boolean') return present === (declared ? 'FLASHBOOT' : 'OFF')
  if (member === 'dataCenterIds' && !Array.isArray(present)) return true
  if (member === 'registry') return (declared || null) === (present || null)
  if (member === 'globalNetworking') return declared === (present as { enabled?: boolean }).enabled
  return isWithin(declared, present)
}

function isWithin(declared: unknown, present: unknown): boolean {
  if (Array.isArray(declared)) {
    return Array.isArray(present) && declared.length === present.length && declared.every((item, index) => isWithin(item, present[index]))
  }
  if (typeof declared !== 'object' || declared === null) return declared === present || sameTime(declared, present)
  if (typeof present !== 'object' || present === null) return false
  return Object.entries(declared).every(([name, value]) => isWithin(value, (present as Record<string, unknown>)[name]))
}

function sameTime(a: unknown, b: unknown): boolean {
  const isTime = (value: unknown): value is string => typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)
  return isTime(a) && isTime(b) && Date.parse(a) === Date.parse(b)
}

function sameVariables(declared: unknown, present: unknown): boolean {
  const wanted = Object.entries((declared ?? {}) as Record<string, unknown>)
  const held = Object.entries((present ?? {}) as Record<string, unknown>).filter(
    ([name]) => !GIVEN_VARIABLES.has(name) || wanted.some(([own]) => own === name),
  )
  return wanted.length === held.length && wanted.every(([name, value]) => held.some(([own, other]) => own === name && other === value))
}

/** Update request with the differing fields; tables of variables and lists are sent as a whole. */
export function changeBody(step: Step): Record<string, unknown> {
  return Object.fromEntries(step.changes.map(({ member, to }) => [member, to]))
}
