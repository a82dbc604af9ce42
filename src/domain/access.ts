import type { Permission } from '../contract/enums.ts'

/** Scope names of AUT-3. `jobs:*` may carry `@<endpoint_id>`. */
export const SCOPES = [
  'pods:read',
  'pods:write',
  'clusters:read',
  'clusters:write',
  'serverless:read',
  'serverless:write',
  'templates:read',
  'templates:write',
  'volumes:read',
  'volumes:write',
  'registries:read',
  'registries:write',
  'account:read',
  'account:write',
  'billing:read',
  'organizations:read',
  'jobs:read',
  'jobs:write',
] as const

export type Scope = (typeof SCOPES)[number]

const ALL_SCOPES: ReadonlySet<string> = new Set(SCOPES)
const READ_SCOPES: ReadonlySet<string> = new Set(SCOPES.filter((scope) => scope.endsWith(':read')))

/** The scopes that a key's permission grants (AUT-4). `listed` counts only for RESTRICTED. */
export function scopesOf(permission: Permission, listed: readonly string[]): ReadonlySet<string> {
  if (permission === 'ALL') return ALL_SCOPES
  return permission === 'READ_ONLY' ? READ_SCOPES : new Set(listed)
}

/**
 * The right of a key inside a workload on that workload. It is always bound to the workload, and is no scope, so that only operations that
 * name it accept it (AUT-6).
 */
export type Capability = 'pods:act'

/** The actions that `pods:act` permits: they stop or restart what runs, and change no field of the pod. */
const POD_KEY_ACTIONS: ReadonlySet<string> = new Set(['stop', 'restart', 'terminate'])

/** The capability that permits an action on a pod in place of `pods:write`; undefined: none does. */
export function podCapability(action: string): Capability | undefined {
  return POD_KEY_ACTIONS.has(action) ? 'pods:act' : undefined
}

/** Whether an action ends a pod, so that it may use the reserve of its caller's rate limit (CAP-3). A restart ends nothing. */
export function endsPod(action: string): boolean {
  return action === 'stop' || action === 'terminate'
}

/** The scopes of the key that a pod gets (AUT-6). */
export function scopesOfPodKey(podId: string): ReadonlySet<string> {
  return new Set([`pods:read@${podId}`, `${'pods:act' satisfies Capability}@${podId}`])
}

/** All actions of a worker's key, for its own endpoint and worker alone: to take work, to report on it, and to send heartbeats (CAP-20). */
export const WORKER_KEY_ACTIONS: readonly string[] = ['job-take', 'job-take-batch', 'job-stop', 'job-done', 'job-stream', 'ping']

/**
 * Whether a set has a scope, either whole or bound to the addressed endpoint or pod, or the capability that is enough there (AUT-3, AUT-6).
 */
export function hasScope(scopes: ReadonlySet<string>, scope: Scope, id?: string, enough?: Capability): boolean {
  if (scopes.has(scope)) return true
  return id !== undefined && (scopes.has(`${scope}@${id}`) || (enough !== undefined && scopes.has(`${enough}@${id}`)))
}

/** The roles of team members (ORG-3). */
export const ROLES = ['OWNER', 'ADMIN', 'DEV', 'BILLING', 'BASIC'] as const
export type Role = (typeof ROLES)[number]

const RUN_JOBS: readonly Scope[] = ['jobs:read', 'jobs:write']
const SEE_RESOURCES: readonly Scope[] = [
  'pods:read',
  'clusters:read',
  'serverless:read',
  'templates:read',
  'volumes:read',
  'account:read',
  'organizations:read',
]
const MANAGE_RESOURCES: readonly Scope[] = [
  'pods:write',
  'serverless:write',
  'templates:write',
  'volumes:write',
  'registries:read',
  'registries:write',
]
const ROLE_SCOPES: Readonly<Record<Role, ReadonlySet<string>>> = {
  OWNER: ALL_SCOPES,
  ADMIN: ALL_SCOPES,
  DEV: new Set([...RUN_JOBS, ...SEE_RESOURCES, ...MANAGE_RESOURCES]),
  BILLING: new Set(['billing:read', 'organizations:read']),
  BASIC: new Set([...RUN_JOBS, ...SEE_RESOURCES]),
}

/** The scopes of a role (ORG-3): those of the member's session, and the upper bound of a key of the member (TEAM-2). */
export function scopesOfRole(role: Role): ReadonlySet<string> {
  return ROLE_SCOPES[role]
}

/** The scopes of a key, whole or bound to one resource, that its maker's current role grants (TEAM-2). */
export function scopesWithin(scopes: ReadonlySet<string>, role: Role): ReadonlySet<string> {
  const granted = ROLE_SCOPES[role]
  return granted === ALL_SCOPES ? scopes : new Set([...scopes].filter((scope) => granted.has(scope.split('@', 1)[0] ?? '')))
}

/** Whether a role may invite, change and remove members (ORG-3). */
export function managesMembers(role: Role): boolean {
  return role === 'OWNER' || role === 'ADMIN'
}
