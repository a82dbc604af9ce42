/**
 * Reasons why an image cannot be pulled, as its tenant sees them: a few fixed sentences, because a server's answer may contain another
 * tenant's data (HOST-95). Numbers come from the agent.
 */
export const PULL_REASONS = {
  notFound: 'the image does not exist, or needs a credential',
  refused: 'the registry refused the credential',
  unreachable: 'the registry cannot be reached, or does not respond like a registry',
  tooSlow: 'the registry sends too slowly',
  tooLong: 'the image pull timed out',
  notAllowed: 'the registry is not allowed on this host; its operator can allow it with --registry-allow',
  foreignLogin: 'the credential belongs to another registry than the image',
  unusable: 'this host cannot run the image',
  tooLarge: 'the image is too large',
  overShare: 'this account has reached its share of image space on this host',
  notStored: 'the container engine of this host could not load the image',
  reserved: 'the name is reserved',
} as const
export type PullReason = keyof typeof PULL_REASONS

/** A failed pull. `detail` is only for the operator's log. */
export class PullError extends Error {
  readonly reason: PullReason
  readonly detail: string

  /** `numbers` are appended to the reason that the tenant sees. */
  constructor(reason: PullReason, detail: string, numbers = '') {
    super(PULL_REASONS[reason] + numbers)
    this.reason = reason
    this.detail = detail
  }
}

/** Formats a size in MB or GB. */
export function gigabytes(bytes: number): string {
  return bytes < 1e8 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`
}

/** The image needs more bytes than the host has for it (HOST-99). `what` begins the sentence, such as "it takes". */
export function tooLarge(what: string, bytes: number, maxBytes: number): PullError {
  const numbers = `: ${what} ${gigabytes(bytes)}, and this host has ${gigabytes(maxBytes)} for it`
  return new PullError('tooLarge', `${what} ${bytes} bytes of ${maxBytes}`, numbers)
}

/** The images of an account would exceed its share of a host's space (HOST-101). */
export function overShare(bytes: number, maxBytes: number): PullError {
  const numbers = `: with it they take ${gigabytes(bytes)} or more of ${gigabytes(maxBytes)}`
  return new PullError('overShare', `the account takes ${bytes} bytes of ${maxBytes}`, numbers)
}

/** The images of an account would exceed their maximum number on a host (SHR-34). */
export function tooMany(images: number, maxImages: number): PullError {
  const numbers = `: with it they are ${images} of at most ${maxImages}`
  return new PullError('overShare', `the account has ${images} images of ${maxImages}`, numbers)
}

/** The image did not arrive in the time that a start may wait, which includes earlier pulls of the account (SHR-36). */
export function tooLong(maxMs: number): PullError {
  const hours = maxMs / 3_600_000
  const numbers = `: a start waits ${hours} h for it, turns of other pulls of this account counted`
  return new PullError('tooLong', `not all of it came within ${hours} h`, numbers)
}

/** The same registry was too slow for this account a short time ago (SHR-37). */
export function waitsAfterStall(host: string, waitMs: number): PullError {
  const numbers = `: ${host} did so lately; try again in ${Math.ceil(waitMs / 60_000)} min`
  return new PullError('tooSlow', `${host} was too slow, and is asked again in ${waitMs} ms`, numbers)
}
