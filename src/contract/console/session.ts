import { z } from 'zod'
import { Timestamp } from '../fields.ts'

/** Longest accepted text of a key or a link. */
const MAX_SECRET_CHARS = 512

const Secret = z.string().min(1).max(MAX_SECRET_CHARS)

/** Credentials of a sign-in: exactly one of the two. */
export const SignInRequest = z
  .strictObject({
    key: Secret.optional().meta({ description: 'An API key, whose permissions the session gets, or the operator key.' }),
    link: Secret.optional().meta({ description: 'The secret of a sign-in link.' }),
  })
  .refine(({ key, link }) => (key === undefined) !== (link === undefined), 'want either key or link')
  .meta({ id: 'SignInRequest', example: { key: 'pp_k3y1d00000_<secret>' } })
export type SignInRequest = z.infer<typeof SignInRequest>

export const ConsoleUser = z
  .object({
    id: z.string(),
    email: z.string(),
    name: z.string().meta({ description: 'Display name: the local part of the e-mail address.' }),
  })
  .meta({ id: 'ConsoleUser', example: { id: '7q1w3e4k8h2m9x', email: 'ada@example.com', name: 'ada' } })

export const ConsoleAccount = z
  .object({
    id: z.string(),
    name: z.string(),
    kind: z.enum(['USER', 'ORGANIZATION']),
    role: z.enum(['OWNER', 'ADMIN', 'DEV', 'BILLING', 'BASIC']),
    scopes: z.array(z.string()).meta({ description: 'Permissions of the session there; for a session of a key, those of the key.' }),
    isSuspended: z.boolean(),
  })
  .meta({
    id: 'ConsoleAccount',
    example: { id: '5c8r2n6t1v9k3d', name: 'Acme', kind: 'ORGANIZATION', role: 'BASIC', scopes: ['jobs:read'], isSuspended: false },
  })

const Ways = z
  .object({ oidc: z.boolean().meta({ description: '`/console/sign-in/start` leads to the identity provider.' }), key: z.boolean() })
  .meta({ id: 'SignInWays', description: 'The sign-in methods of this plane.', example: { oidc: false, key: true } })

export const SignedIn = z
  .object({
    signedIn: z.literal(true),
    user: ConsoleUser.nullable().meta({ description: 'Null: the operator’s key, which belongs to no user.' }),
    accounts: z
      .array(ConsoleAccount)
      .meta({ description: 'The personal account first, then by name. `X-Team-Id` of a request selects another account.' }),
    accountId: z.string().nullable().meta({ description: 'The account of requests that do not name another one.' }),
    isOperator: z.boolean().meta({ description: 'The session is valid for /admin/v1.' }),
    signedInBy: z.enum(['KEY', 'OPERATOR_KEY', 'OIDC', 'LINK']),
    createdAt: Timestamp,
    expiresAt: Timestamp,
    ways: Ways,
    podProxyDomain: z.string().nullable().meta({
      description:
        'HTTP ports of pods are at `<pod>-<port>.` below this domain, with its port if it has one; null: only below `/proxy/` of the plane.',
    }),
  })
  .meta({
    id: 'SignedIn',
    example: {
      signedIn: true,
      user: { id: '7q1w3e4k8h2m9x', email: 'ada@example.com', name: 'ada' },
      accounts: [],
      accountId: '5c8r2n6t1v9k3d',
      isOperator: false,
      signedInBy: 'OIDC',
      createdAt: '2026-06-01T12:00:00Z',
      expiresAt: '2026-06-02T00:00:00Z',
      ways: { oidc: true, key: true },
      podProxyDomain: 'pods.example.com',
    },
  })
export type SignedIn = z.infer<typeof SignedIn>

export const SignedOut = z
  .object({ signedIn: z.literal(false), ways: Ways })
  .meta({ id: 'SignedOut', example: { signedIn: false, ways: { oidc: false, key: true } } })

/** The signed-in user, or the available ways to sign in. */
export const ConsoleState = z
  .union([SignedIn, SignedOut])
  .meta({ id: 'ConsoleState', example: { signedIn: false, ways: { oidc: false, key: true } } })
export type ConsoleState = z.infer<typeof ConsoleState>
