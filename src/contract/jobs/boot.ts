/** Form of a boot nonce; those of the plane are far shorter. */
const BOOT = /^[\x21-\x7e]{0,128}$/

/** The message of a refusal. */
export const BOOT_FORM = 'boot (query): want at most 128 visible ASCII characters without spaces'

/**
 * Returns the boot nonce in a worker's URL, empty if there is none; null if the plane cannot have issued it (WRK-51). Stored nonces are
 * separated by spaces, so a nonce has none.
 */
export function readBoot(query: URLSearchParams): string | null {
  const boot = query.get('boot') ?? ''
  return BOOT.test(boot) ? boot : null
}
