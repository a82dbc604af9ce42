const SECRETS: readonly RegExp[] = [
  // Platform keys: pp_ user, ppw_ worker, ppo_ operator, ppj_ join token.
  /\bpp[woj]?_[A-Za-z0-9_-]{4,}/g,
  // JSON web tokens, with or without their signature part.
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]*)?/g,
  /\bBearer\s+[^\s"',]+/gi,
]

/** Replaces anything that looks like a credential; applied to every log line and to every reason that leaves the host. */
export function redact(text: string): string {
  return SECRETS.reduce((clean, pattern) => clean.replace(pattern, '[redacted]'), text)
}
