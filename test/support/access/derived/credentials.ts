import type { Shown } from '../../../../src/domain/session/bearer.ts'
import { countedAsRequest } from '../../../../src/rpc/counted.ts'
import { authenticate, identifyOperator } from '../../../../src/services/authenticate.ts'
import type { Refused } from '../../../../src/services/credentials/authentication.ts'
import { consoleSessionId } from '../../../../src/services/sessions/console-callers.ts'
import { type Opened, openSession, signInWithKey } from '../../../../src/services/sessions/console-sessions.ts'
import { approveDevice, pollDevice, startDeviceLogin } from '../../../../src/services/sessions/device-logins.ts'
import { createSignInLink, signInWithLink } from '../../../../src/services/sessions/sign-in-links.ts'
import { api, createAccount, env, expect } from '../../harness.ts'
import { VISIT, type World, where } from './world.ts'

/** The present effect of a credential: all of its permissions, fewer, or none. */
export type Does = 'WORKS' | 'LESS' | 'REFUSED'
/** A derived credential, which can be used any number of times. */
export type Use = () => Promise<Does>

const visit = (world: World) => ({ ...VISIT, askedTeam: world.org })

/** Uses a credential in the organization: WORKS with the write permission of its administrator, LESS without it. */
export async function useInOrg(world: World, shown: Shown): Promise<Does> {
  const answer = await authenticate(world.env, shown, Date.now(), visit(world))
  if (!answer.ok || answer.principal.teamId !== world.org) return 'REFUSED'
  return answer.principal.scopes.has('account:write') ? 'WORKS' : 'LESS'
}

async function useAnywhere(world: World, shown: Shown): Promise<Does> {
  return (await authenticate(world.env, shown, Date.now(), VISIT)).ok ? 'WORKS' : 'REFUSED'
}

async function useAsOperator(world: World, shown: Shown): Promise<Does> {
  return (await identifyOperator(world.env, shown, Date.now(), VISIT)).ok ? 'WORKS' : 'REFUSED'
}

/** The sign-in itself was counted. */
const CHARGED = { counted: countedAsRequest(), rateLimit: null }

const cookie = (secret: string) => ({ secret, fault: null })

function keep(world: World, opened: Opened | Refused): string {
  if ('problem' in opened) throw new Error(`no session: ${opened.problem}`)
  world.secrets.push(opened.secret)
  return opened.secret
}

const byKey = async (world: World, key = world.key.key) => keep(world, await signInWithKey(where(env), key, VISIT))
const byProvider = async (world: World, userId: string, isOperator = false) =>
  keep(world, await openSession(where(env), { made: 'OIDC', userId, keyId: null, isOperator, teamId: null, charge: CHARGED }))

type Maker = 'KEY' | 'ADDRESS'
async function link(world: World, maker: Maker, isOperator: boolean): Promise<string> {
  const parent = { kind: 'OPERATOR_ADDRESS', id: world.maker.userId } as const
  const operator = maker === 'KEY' ? undefined : { userId: world.maker.userId, credentialId: 'test', parent, isByLink: false }
  return (await createSignInLink({ ...where(env), ...(operator && { operator }) }, { userId: world.user.userId, isOperator })).link
}
const byLink = async (world: World, maker: Maker, isOperator: boolean) =>
  keep(world, await signInWithLink(where(world.env), await link(world, maker, isOperator), VISIT))

/** A device approved by a session, and the credential that it receives. */
async function device(world: World, secret: string): Promise<() => Promise<string | null>> {
  const { deviceCode, userCode } = startDeviceLogin(where(env), 'test')
  const session = await authenticate(world.env, cookie(secret), Date.now(), visit(world))
  if (!session.ok) throw new Error(session.problem)
  const ctx = { ...where(env), principal: session.principal, counted: CHARGED.counted }
  await approveDevice(ctx, await consoleSessionId(env, secret), { userCode })
  return async () => {
    const received = await pollDevice(where(world.env), deviceCode).catch(() => null)
    return received !== null && 'access_token' in received ? received.access_token : null
  }
}

/** A credential that is spent by its use: one of two is used each time. */
async function twice<Made>(make: () => Promise<Made>, use: (made: Made) => Promise<Does>): Promise<Use> {
  const left = [await make(), await make()]
  return async () => {
    const made = left.pop()
    if (made === undefined) throw new Error('both were used')
    return use(made)
  }
}

const approved = (world: World, secret: string) =>
  twice(
    () => device(world, secret),
    async (poll) => {
      const key = await poll()
      return key === null ? 'REFUSED' : useInOrg(world, `Bearer ${key}`)
    },
  )
const handedOut = async (world: World, secret: string): Promise<string> => {
  const key = await (await device(world, secret))()
  if (key === null) throw new Error('the device got no key')
  return key
}
const session = (use: typeof useInOrg, open: (world: World) => Promise<string>) => async (world: World) => {
  const secret = await open(world)
  return () => use(world, cookie(secret))
}
const openLink = (maker: Maker, isOperator: boolean) => (world: World) =>
  twice(
    () => link(world, maker, isOperator),
    async (made) => {
      const opened = await signInWithLink(where(world.env), made, VISIT)
      return 'problem' in opened ? 'REFUSED' : (isOperator ? useAsOperator : useAnywhere)(world, cookie(opened.secret))
    },
  )
const keyOfDevice = (open: (world: World) => Promise<string>) => async (world: World) => {
  const key = await handedOut(world, await open(world))
  return () => useInOrg(world, `Bearer ${key}`)
}
const ownSession = (world: World) => byProvider(world, world.user.userId)
const operatorsSession = (world: World) => byLink(world, 'KEY', true)

/** An invitation by a key: it is LESS where the organization's list differs from its token. */
const invitationBy = (keyOf: (world: World) => Promise<string>) => async (world: World) => {
  const [key, path] = [await keyOf(world), `/v2/organizations/${world.org}/invitations`]
  return twice(
    async () => {
      const guest = await createAccount()
      const { status, body } = await api(key).post(path, { email: guest.email, role: 'DEV' })
      expect(status).toBe(201)
      return { guest, id: body.id as string, token: body.token as string }
    },
    async ({ guest, id, token }) => {
      const listed = await api(world.ownerKey).get(path)
      const isListed = listed.status === 200 && listed.body.invitations.some((one: { id: string }) => one.id === id)
      const { status } = await api(guest.key).post('/v2/organizations/invitations/accept', { token })
      expect([200, 404]).toContain(status)
      if (isListed !== (status === 200)) return 'LESS'
      return isListed ? 'WORKS' : 'REFUSED'
    },
  )
}

/** Every kind of credential that is derived from another, and its creation. */
export const DERIVED = {
  'session by key': session(useInOrg, byKey),
  'session by provider': session(useInOrg, ownSession),
  'operator’s session by provider': session(useAsOperator, (world) => byProvider(world, world.maker.userId, true)),
  'session by operator key': session(useAsOperator, async (world) => keep(world, await signInWithKey(where(env), env.OPERATOR_KEY, VISIT))),
  'user’s session by link of the key': session(useInOrg, (world) => byLink(world, 'KEY', false)),
  'user’s session by link of an address': session(useInOrg, (world) => byLink(world, 'ADDRESS', false)),
  'operator’s session by link of the key': session(useAsOperator, operatorsSession),
  'operator’s session by link of an address': session(useAsOperator, (world) => byLink(world, 'ADDRESS', true)),
  'operator’s link of the key': openLink('KEY', true),
  'operator’s link of an address': openLink('ADDRESS', true),
  'user’s link of the key': openLink('KEY', false),
  'user’s link of an address': openLink('ADDRESS', false),
  'device let in by a session by key': async (world: World) => approved(world, await byKey(world)),
  'device let in by a session by provider': async (world: World) => approved(world, await ownSession(world)),
  'device let in by an operator’s session by link': async (world: World) => approved(world, await operatorsSession(world)),
  'device’s key by a session by key': keyOfDevice(byKey),
  'device’s key by a session by provider': keyOfDevice(ownSession),
  'device’s key by an operator’s session by link': keyOfDevice(operatorsSession),
  'invitation by a key': invitationBy(async ({ key }) => key.key),
  'invitation by a device’s key': invitationBy(async (world) => handedOut(world, await byKey(world))),
  'session by a device’s key': session(useInOrg, async (world) => byKey(world, await handedOut(world, await byKey(world)))),
} as const satisfies Record<string, (world: World) => Promise<Use>>

export type DerivedKind = keyof typeof DERIVED
