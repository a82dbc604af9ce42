import type { ContainerSpec } from '../domain/resources/container.ts'
import { legacyGrants } from '../domain/resources/secret-grants.ts'
import type { Place, Vault } from '../platform/seal.ts'

type Variables = Record<string, string>

/**
 * A stored container (SEAL-2) with sealed variables. `env` is present in rows of a release without sealing, and where it is empty; sealed
 * variables always come with `secretGrants`, except in rows of a release without grants (CAP-12).
 */
export type SealedContainer = Omit<ContainerSpec, 'env'> & { env?: Variables; sealedEnv?: string }
/** A record whose container is stored sealed. */
export type Sealed<Kept extends { container: ContainerSpec }> = Omit<Kept, 'container'> & { container: SealedContainer }

/** Seals a record for storage. */
export function sealContainer<Kept extends { container: ContainerSpec }>(vault: Vault, place: Place, record: Kept): Sealed<Kept> {
  const { env, ...container } = record.container
  if (Object.keys(env).length === 0) return { ...record, container: { ...container, env } }
  const sealed = { sealedEnv: sealVariables(vault, place, env), secretGrants: container.secretGrants ?? {} }
  return { ...record, container: { ...container, ...sealed } }
}

/** Opens a stored record, with the fields of its container in their canonical order. Throws when its variables cannot be opened. */
export function openContainer<Kept extends { container: ContainerSpec }>(vault: Vault, place: Place, record: Sealed<Kept>): Kept {
  const { image, args, diskGb, env, sealedEnv, ports, registry, secretGrants: kept } = record.container
  const opened = sealedEnv === undefined ? (env ?? {}) : openVariables(vault, place, sealedEnv)
  const granted = kept ?? legacyGrants(opened) ?? {}
  const secretGrants = Object.keys(granted).length > 0 && { secretGrants: granted }
  const container: ContainerSpec = { image, args, diskGb, env: opened, ports, registry, ...secretGrants }
  // TypeScript cannot infer for a generic type that replacing its container yields the same type.
  return { ...record, container } as unknown as Kept
}

/** Seals environment variables for their place (SEAL-2). */
export function sealVariables(vault: Vault, place: Place, variables: Variables): string {
  return vault.seal(place, JSON.stringify(variables))
}

/**
 * Throws when the variables cannot be opened: continuing without them would lose them at the next write, or start a program without its
 * password.
 */
export function openVariables(vault: Vault, place: Place, sealed: string): Variables {
  const text = vault.open(place, sealed)
  if (text !== null) return JSON.parse(text) as Variables
  throw new Error(`${place.join(' ')} was sealed under a TOKEN_SECRET that this plane does not have: add it to TOKEN_SECRET_PREVIOUS`)
}
