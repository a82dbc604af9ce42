import type { Refusal } from '../../contract/problems.ts'
import type { Role } from '../access.ts'

/** Resources that prevent the deletion of an organization (TEAM-13), with their singular and plural names. */
export const BLOCKERS = {
  pods: ['pod', 'pods'],
  endpoints: ['endpoint', 'endpoints'],
  networkVolumes: ['network volume', 'network volumes'],
  globalVolumes: ['global volume', 'global volumes'],
  templates: ['template', 'templates'],
  registries: ['registry credential', 'registry credentials'],
  secrets: ['secret', 'secrets'],
  keysOfOthers: ['key of another member', 'keys of other members'],
} as const satisfies Record<string, readonly [string, string]>

export type Blocker = keyof typeof BLOCKERS
export const BLOCKER_KINDS = Object.keys(BLOCKERS) as Blocker[]

/** Why an organization may not be deleted (TEAM-13), naming all remaining resources; null: allowed. */
export function refuseDeletion(actor: Role, left: Readonly<Record<Blocker, number>>): Refusal | null {
  if (actor !== 'OWNER') return { key: 'accessDenied', errors: [`the role ${actor} does not own the organization`] }
  const names = BLOCKER_KINDS.filter((kind) => left[kind] > 0).map((kind) => `${left[kind]} ${BLOCKERS[kind][left[kind] === 1 ? 0 : 1]}`)
  if (names.length === 0) return null
  return { key: 'conflict', detail: `the organization still has ${names.join(', ')}: delete or revoke them first`, code: 'IN_USE' }
}
