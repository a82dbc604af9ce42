import { getSshKeys } from '../../../services/accounts/ssh-keys.ts'
import { getUser } from '../../../services/accounts/user.ts'
import { getSummary } from '../../../services/billing/spend.ts'
import { type Call, once, type Resolvers } from '../call.ts'
import { listAllPods } from './pods.ts'

/** The user of the key: a name for what the account has. */
export interface UserSource {
  id: string
}

/** `myself` and what hangs on it. */
export const ACCOUNT_RESOLVERS: Resolvers = {
  Query: { myself: (_source, _args, call) => (call.isKnown ? userOf(call) : null) },
  User: {
    email: async (_source, _args, call) => (await once(call, 'user', () => getUser(call.ctx))).email,
    pubKey: async (_source, _args, { ctx }) => (await getSshKeys(ctx)).join('\n\n'),
    pods: (_source, _args, call) => once(call, 'pods', () => listAllPods(call)),
    currentSpendPerHr: async (_source, _args, call) => (await spendOf(call)).rate.perHour,
    spendLimit: async (_source, _args, call) => (await spendOf(call)).limits.perHour,
    clientBalance: () => 0,
    notifyPodsStale: () => false,
    notifyPodsGeneral: () => false,
    notifyLowBalance: () => false,
    flashApps: () => [],
  },
}

/** The user whose key or session it is. */
export function userOf({ ctx }: Call): UserSource {
  return { id: ctx.principal.userId }
}

function spendOf(call: Call) {
  return once(call, 'spend', () => getSummary(call.ctx))
}
