/** A nonce of the plane is far shorter. */
const BOOT = /^[\x21-\x7e]{0,128}$/

/** What a refusal says. */
export const BOOT_FORM = 'boot (query): want at most 128 visible ASCII characters without spaces'

/**
 * The boot nonce that a worker's URL carries, empty for none; null when it is none that the plane gives out (PP-237). It is kept beside
 * others with spaces between them.
 */
export function readBoot(query: URLSearchParams): string | null {
  const boot = query.get('boot') ?? ''
  return BOOT.test(boot) ? boot : null
}
