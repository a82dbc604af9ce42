import { z } from 'zod'
import { SIGN_IN_LINK_DEFAULTS } from '../defaults.ts'
import { ResourceId, Timestamp } from '../fields.ts'

export const CreateSignInLinkRequest = z
  .strictObject({
    userId: ResourceId.max(64).meta({ description: 'The user that the link signs in.' }),
    isOperator: z
      .boolean()
      .optional()
      .meta({ default: SIGN_IN_LINK_DEFAULTS.isOperator, description: 'Its session is valid for /admin/v1 too.' }),
  })
  .meta({ id: 'CreateSignInLinkRequest', example: { userId: '7q1w3e4k8h2m9x' } })
export type CreateSignInLinkRequest = z.infer<typeof CreateSignInLinkRequest>

export const SignInLink = z
  .object({
    link: z.string().meta({ description: 'Shown only once; only a hash is stored.' }),
    path: z.string().meta({ description: 'The address to open: the part after `#` is not sent to any server.' }),
    expiresAt: Timestamp,
  })
  .meta({
    id: 'SignInLink',
    example: { link: '<random>', path: '/console/sign-in#link=<random>', expiresAt: '2026-06-02T00:00:00Z' },
  })
export type SignInLink = z.infer<typeof SignInLink>

/** The same bounds as in `SignInRequest`. */
export const DescribeLinkRequest = z
  .strictObject({ link: z.string().min(1).max(512).meta({ description: 'The secret of a sign-in link.' }) })
  .meta({ id: 'DescribeLinkRequest', example: { link: '<random>' } })

/** The user whom a link signs in, shown for confirmation before the link is used. */
export const DescribedLink = z
  .object({
    user: z.object({ id: z.string(), email: z.string() }),
    isOperator: z.boolean().meta({ description: 'Its session is valid for /admin/v1 too.' }),
    expiresAt: Timestamp,
  })
  .meta({
    id: 'DescribedLink',
    example: { user: { id: '7q1w3e4k8h2m9x', email: 'ada@example.com' }, isOperator: false, expiresAt: '2026-06-02T00:00:00Z' },
  })
export type DescribedLink = z.infer<typeof DescribedLink>
