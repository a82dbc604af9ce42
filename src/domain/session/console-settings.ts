import { oneCase } from '../text/letter-case.ts'

/** Operator's settings for signing in at the console (SESSION-22, SESSION-13). */
export interface ConsoleSettings {
  /** Client of the console at the identity provider; null: users cannot sign in there. */
  client: { id: string; secret: string | null } | null
  /** Lower-case e-mail addresses of users whose sign-in at the provider makes them operators. */
  operators: readonly string[]
}

/** Variables of the operator, unparsed. */
export interface ConsoleVariables {
  OIDC_CLIENT_ID?: string
  OIDC_CLIENT_SECRET?: string
  OIDC_OPERATORS?: string
}

/** Parses the settings of the console. */
export function parseConsoleSettings(vars: ConsoleVariables): ConsoleSettings {
  const id = (vars.OIDC_CLIENT_ID ?? '').trim()
  const operators = (vars.OIDC_OPERATORS ?? '').split(',').map((address) => oneCase(address.trim()))
  return {
    client: id === '' ? null : { id, secret: (vars.OIDC_CLIENT_SECRET ?? '').trim() || null },
    operators: operators.filter((address) => address !== ''),
  }
}
