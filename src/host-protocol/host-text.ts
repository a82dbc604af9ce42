import { z } from 'zod'

/**
 * Control characters (C0 and C1), and characters that change the direction of text, break lines or are invisible. Each run of them becomes
 * a space.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
const UNSHOWN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]+/g

/** Paths of the platform or of a container engine in all usual locations, up to their end. */
const MACHINE_PATH =
  /(?:\/(?:var\/)?run\/(?:podplane|docker|containerd|runc)|\/var\/lib\/(?:podplane|docker|containerd|containers|kubelet)|\/proc\/(?:self|\d+)|\/sys\/fs|(?:\/[^\s/"'`,;]{1,64}){0,8}\/[^\s/"'`,;]{0,64}(?:overlay2|podplane))\b[^\s"'`,;:)]*/g
/** IPv4 and bracketed IPv6 addresses, with or without a port. */
const MACHINE_ADDRESS = /(?<![\w.:])(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?(?!:\d|[\w./])|\[[0-9a-f:]{2,45}\](?::\d{1,5})?/gi

/** Replaces the characters of a text that could control a terminal or change the direction of text. */
export function shown(text: string): string {
  return text.replace(UNSHOWN, ' ')
}

/** Replaces paths and addresses of the machine in an error text: only its operator may see them (EDG-6). */
export function withoutMachine(text: string): string {
  return text.replace(MACHINE_PATH, '(a path of the host)').replace(MACHINE_ADDRESS, '(an address of the host)')
}

/**
 * Schema of a text from a host, an engine or a registry that people read later: `min` to `max` characters, without control characters.
 * Otherwise the owner of a host or image could write to terminals and change the direction of the text around it (HOST-190).
 */
export function hostText(max: number, min = 0) {
  return z.string().min(min).max(max).transform(shown)
}
