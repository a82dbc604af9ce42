import { oneCase } from '../text/letter-case.ts'

/** What the operator has set of signing in at the console (CS-22, CS-13). */
export interface ConsoleSettings {
  /** The client as which the console is known at the identity provider; null: nobody signs in there. */
  client: { id: string; secret: string | null } | null
  /** Addresses, in lower case, of those whose sign-in at the provider makes them operators. */
  operators: readonly string[]
}

/** The operator's variables, as texts. */
export interface ConsoleVariables {
  OIDC_CLIENT_ID?: string
  OIDC_CLIENT_SECRET?: string
  OIDC_OPERATORS?: string
}

/** Reads what is set of the console. */
export function parseConsoleSettings(vars: ConsoleVariables): ConsoleSettings {
  const id = (vars.OIDC_CLIENT_ID ?? '').trim()
  const operators = (vars.OIDC_OPERATORS ?? '').split(',').map((address) => oneCase(address.trim()))
  return {
    client: id === '' ? null : { id, secret: (vars.OIDC_CLIENT_SECRET ?? '').trim() || null },
    operators: operators.filter((address) => address !== ''),
  }
}
