import { z } from 'zod'

/** Control characters of either set, and marks that turn the direction of text, break lines or stand nowhere. Lines and tabs become spaces. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
const UNSHOWN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]+/g

/** Paths that are the platform's or a container engine's, wherever a machine keeps those, up to their end. */
const MACHINE_PATH =
  /(?:\/(?:var\/)?run\/(?:podplane|docker|containerd|runc)|\/var\/lib\/(?:podplane|docker|containerd|containers|kubelet)|\/proc\/(?:self|\d+)|\/sys\/fs|(?:\/[^\s/"'`,;]{1,64}){0,8}\/[^\s/"'`,;]{0,64}(?:overlay2|podplane))\b[^\s"'`,;:)]*/g
/** IPv4 and bracketed IPv6 addresses, with or without a port. */
const MACHINE_ADDRESS = /(?<![\w.:])(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?(?!:\d|[\w./])|\[[0-9a-f:]{2,45}\](?::\d{1,5})?/gi

/** A text without what writes to terminals or turns the text around it. */
export function shown(text: string): string {
  return text.replace(UNSHOWN, ' ')
}

/** Words about a failure without paths and addresses of the machine, which are its operator's (EDG-6). */
export function withoutMachine(text: string): string {
  return text.replace(MACHINE_PATH, '(a path of the host)').replace(MACHINE_ADDRESS, '(an address of the host)')
}

/**
 * Words of a host, an engine or a registry that people read later: at most `max` characters, and at least `min`. Whoever has a host, or names
 * an image, could otherwise write to terminals and turn the text around them (HOST-190).
 */
export function hostText(max: number, min = 0) {
  return z.string().min(min).max(max).transform(shown)
}
