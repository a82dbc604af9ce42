import { UpdateSshKeysRequest } from '../../../contract/accounts/ssh-keys.ts'
import { CreateRegistryRequest } from '../../../contract/resources/registries.ts'
import { CreateSecretRequest } from '../../../contract/resources/secrets.ts'
import { getSshKeys, putSshKeys } from '../../../services/accounts/ssh-keys.ts'
import { getUser } from '../../../services/accounts/user.ts'
import { getSummary } from '../../../services/billing/spend.ts'
import * as registries from '../../../services/resources/registries.ts'
import * as secrets from '../../../services/resources/secrets.ts'
import { type Call, once, type Resolvers } from '../call.ts'
import { checked, needed } from '../checked.ts'
import { inTurns } from '../in-turns.ts'
import { orNull } from '../or-null.ts'
import { listAllEndpoints, readEndpoint } from './endpoints.ts'
import { listAllPods } from './pods.ts'
import { listOwnTemplates } from './templates.ts'
import { listVolumesOnce } from './volumes.ts'

/** The user of the key, as the parent of the account's fields. */
interface UserSource {
  id: string
  /** The public keys that a mutation has just written. */
  pubKey?: string
}

/** Separator between public keys; clients split the text at it. */
const BETWEEN_KEYS = '\n\n'

/** `myself` with the fields below it, and the mutations of the account itself. */
export const ACCOUNT_RESOLVERS: Resolvers = {
  Query: { myself: (_source, _args, call) => (call.isKnown ? userOf(call) : null) },
  User: {
    email: async (_source, _args, call) => (await once(call, 'user', () => getUser(call.ctx))).email,
    pubKey: async ({ pubKey }: UserSource, _args, { ctx }) => pubKey ?? (await getSshKeys(ctx)).keys.join(BETWEEN_KEYS),
    pods: (_source, _args, call) => listOnce(call, 'pods', listAllPods),
    endpoints: (_source, _args, call) => listOnce(call, 'endpoints', listAllEndpoints),
    endpoint: (_source, { id }, call) => orNull(() => readEndpoint(call, id ?? '')),
    networkVolumes: (_source, _args, call) => listVolumesOnce(call),
    podTemplates: (_source, _args, call) => listOnce(call, 'templates', listOwnTemplates),
    containerRegistryCreds: (_source, _args, call) => once(call, 'registries', () => registries.listRegistries(call.ctx)),
    secrets: (_source, _args, call) => once(call, 'secrets', () => secrets.listSecrets(call.ctx)),
    currentSpendPerHr: async (_source, _args, call) => (await spendOf(call)).rate.perHour,
    spendLimit: async (_source, _args, call) => (await spendOf(call)).limits.perHour,
    clientBalance: () => 0,
    hostBalance: () => 0,
    minBalance: () => 0,
    referralEarned: () => 0,
    notifyPodsStale: () => false,
    notifyPodsGeneral: () => false,
    notifyLowBalance: () => false,
    flashApps: () => [],
  },
  Mutation: {
    updateUserSettings: async (_, { input }: { input?: { pubKey?: string | null } | null }, call) => {
      const { pubKey } = needed(input)
      if (typeof pubKey !== 'string') return userOf(call)
      const { keys } = checked(UpdateSshKeysRequest, { keys: keysOf(pubKey) })
      return { ...userOf(call), pubKey: (await putSshKeys(call.ctx, keys)).keys.join(BETWEEN_KEYS) }
    },
    saveRegistryAuth: (_, { input }, { ctx, key }) =>
      registries.createRegistry(ctx, checked(CreateRegistryRequest, withoutNulls(input)), key),
    updateRegistryAuth: (_, { input }, { ctx }) => {
      const { id, ...login } = needed(input)
      const { username, password } = checked(CreateRegistryRequest, { name: 'login', ...withoutNulls(login) })
      return registries.updateRegistry(ctx, needed(id, 'id'), { username, password })
    },
    deleteRegistryAuth: async (_, { registryAuthId }, { ctx }) => {
      await registries.deleteRegistry(ctx, needed(registryAuthId, 'registryAuthId'))
      return true
    },
    secretCreate: (_, { input }, { ctx, key }) => secrets.createSecret(ctx, checked(CreateSecretRequest, withoutNulls(input)), key),
    secretDelete: async (_, { id }, { ctx }) => {
      await secrets.deleteSecret(ctx, needed(id, 'id'))
      return null
    },
  },
}

/** A list that is read once per request and completed in turns. */
function listOnce<Item>(call: Call, what: string, read: (call: Call) => Promise<readonly Item[]>) {
  return inTurns(
    call,
    once(call, what, () => read(call)),
  )
}

function userOf({ ctx }: Call): UserSource {
  return { id: ctx.principal.userId }
}

function spendOf(call: Call) {
  return once(call, 'spend', () => getSummary(call.ctx))
}

function keysOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

function withoutNulls(input: object | null | undefined): object {
  return Object.fromEntries(Object.entries(needed(input)).filter(([, value]) => value !== null))
}
