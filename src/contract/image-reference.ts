/** Longest name of an image: registry and repository, without tag and digest. */
const MAX_NAME_LENGTH = 255
/** Longest reference: a name, a tag and a SHA-512 digest. */
export const MAX_IMAGE_LENGTH = MAX_NAME_LENGTH + ':'.length + 128 + '@sha512:'.length + 128

/** The message for any other text. */
export const IMAGE_FORM = 'want an image reference such as docker.io/library/nginx:1.27, without https://'

const HOST_LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?'
const DOMAIN = `(?:${HOST_LABEL}(?:\\.${HOST_LABEL})*|\\[[0-9a-fA-F:]+\\])(?::[0-9]+)?`
const PATH_PART = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*'
const DIGEST = 'sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}'
const REFERENCE = new RegExp(
  `^(?<name>(?:(?<domain>${DOMAIN})/)?${PATH_PART}(?:/${PATH_PART})*)(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@(?:${DIGEST}))?$`,
)
/** Container engines read such a name as the id of an image. */
const IMAGE_ID = /^[0-9a-f]{64}$/

/**
 * Whether a text is an image reference in the grammar of the registries, `domain/name[:tag][@digest]` (CON-20). Such a text is safe in the
 * path of a URL: it has no scheme, no `..`, no empty part and no character that ends a path.
 */
export function isImageReference(text: string): boolean {
  if (text.length > MAX_IMAGE_LENGTH) return false
  const name = REFERENCE.exec(text)?.groups?.name
  return name !== undefined && name.length <= MAX_NAME_LENGTH && !IMAGE_ID.test(name)
}
