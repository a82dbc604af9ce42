import type { EcrRepository } from '../../domain/resources/ecr.ts'
import type { Delegator } from './session-name.ts'

/** A login for one registry that is valid for some hours. */
export interface RegistryToken {
  username: string
  password: string
  expiresAtMs: number
}

/** Gets a token for a repository in the name of its delegator. Throws `ExchangeError`. */
export interface TokenExchange {
  exchangeToken(delegator: Delegator, repository: EcrRepository): Promise<RegistryToken>
}

/** The reason why AWS gave no token, in words for the account; of AWS's reply it contains only the name of the error. */
export class ExchangeError extends Error {}
