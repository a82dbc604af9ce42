import type { EcrRepository } from '../../domain/resources/ecr.ts'
import type { Delegator } from './session-name.ts'

/** A login of some hours for one registry. */
export interface RegistryToken {
  username: string
  password: string
  expiresAtMs: number
}

/** Gets a token for a repository in the name of who has delegated it. Throws `ExchangeError`. */
export interface TokenExchange {
  exchangeToken(delegator: Delegator, repository: EcrRepository): Promise<RegistryToken>
}

/** Why AWS gave no token, in words for the account: no word of AWS's beside the name of the error. */
export class ExchangeError extends Error {}
