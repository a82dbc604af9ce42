import type { ContainerSpec } from '../domain/resources/container.ts'
import { formerGrants } from '../domain/resources/secret-grants.ts'
import type { Place, Vault } from '../platform/seal.ts'

type Variables = Record<string, string>

/**
 * A container as it is kept (PP-211): its variables sealed. `env` is there in rows of a release that sealed none, and where it is empty;
 * beside sealed ones always `secretGrants`, but in rows of a release that had none (CAP-12).
 */
export type SealedContainer = Omit<ContainerSpec, 'env'> & { env?: Variables; sealedEnv?: string }
/** A record whose container is kept so. */
export type Sealed<Kept extends { container: ContainerSpec }> = Omit<Kept, 'container'> & { container: SealedContainer }

/** A record as it is kept. */
export function sealContainer<Kept extends { container: ContainerSpec }>(vault: Vault, place: Place, record: Kept): Sealed<Kept> {
  const { env, ...container } = record.container
  if (Object.keys(env).length === 0) return { ...record, container: { ...container, env } }
  const sealed = { sealedEnv: sealVariables(vault, place, env), secretGrants: container.secretGrants ?? {} }
  return { ...record, container: { ...container, ...sealed } }
}

/** A record as the plane works with it, its members in the order of those that were never kept. Throws when its variables cannot be opened. */
export function openContainer<Kept extends { container: ContainerSpec }>(vault: Vault, place: Place, record: Sealed<Kept>): Kept {
  const { image, args, diskGb, env, sealedEnv, ports, registry, secretGrants: kept } = record.container
  const opened = sealedEnv === undefined ? (env ?? {}) : openVariables(vault, place, sealedEnv)
  const granted = kept ?? formerGrants(opened) ?? {}
  const secretGrants = Object.keys(granted).length > 0 && { secretGrants: granted }
  const container: ContainerSpec = { image, args, diskGb, env: opened, ports, registry, ...secretGrants }
  // Of a generic type TypeScript does not know that its container, taken out and put back, is the whole again.
  return { ...record, container } as unknown as Kept
}

export function sealVariables(vault: Vault, place: Place, variables: Variables): string {
  return vault.seal(place, JSON.stringify(variables))
}

/** Throws when the variables cannot be opened: to go on without them would lose them with the next write, or start a program without its password. */
export function openVariables(vault: Vault, place: Place, sealed: string): Variables {
  const text = vault.open(place, sealed)
  if (text !== null) return JSON.parse(text) as Variables
  throw new Error(`${place.join(' ')} was sealed under a TOKEN_SECRET that this plane does not have: add it to TOKEN_SECRET_PREVIOUS`)
}
