import { z } from 'zod'

/** Control characters of either set, and marks that turn the direction of text, break lines or stand nowhere. Lines and tabs become spaces. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
const UNSHOWN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]+/g

/**
 * Words of a host, an engine or a registry that people read later: at most `max` characters, and at least `min`. Whoever has a host, or names
 * an image, could otherwise write to terminals and turn the text around them (HOST-190).
 */
export function hostText(max: number, min = 0) {
  return z
    .string()
    .min(min)
    .max(max)
    .transform((text) => text.replace(UNSHOWN, ' '))
}
