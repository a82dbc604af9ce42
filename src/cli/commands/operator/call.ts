import { randomBytes } from 'node:crypto'
import { InvalidArgumentError } from 'commander'
import type { ApiClient } from '../../../client/client.ts'
import { formatOperatorKey, SECRET_BYTES } from '../../../domain/key-text.ts'
import { OperatorError } from '../../../node/fail.ts'
import { EXIT } from '../../core/exit-codes.ts'
import { CliError } from '../../core/failure.ts'

/** Calls the plane at `url` as its operator and prints the answer. `isBad` decides whether the answer is a bad outcome. */
export type Call = <Answer>(send: (api: ApiClient, url: string) => Promise<Answer>, isBad?: (answer: Answer) => boolean) => Promise<void>

/** Option `--plan`, for commands whose operation supports a dry run. */
export const PLAN = ['--plan', 'show the effects of the change without making it'] as const
/** Flag of the commands that can show the plan of a change. */
export interface Planned {
  plan?: boolean
}

/** Returns a new random operator key. */
export function newOperatorKey(): string {
  return formatOperatorKey(randomBytes(SECRET_BYTES))
}

/** Resolves an e-mail address to a user id; throws `CliError` if no user has it. Other text is taken as an id. */
export async function userOf(api: ApiClient, user: string): Promise<{ id: string }> {
  if (!user.includes('@')) return { id: user }
  const [found] = (await api.listUsers({ query: { email: user } })).users
  if (found === undefined)
    throw new CliError(EXIT.NOT_FOUND, 'not_found', `no user has the address ${user}`, {
      hint: 'podplane users list shows all users',
    })
  return { id: found.id }
}

/** Resolves the name of a host to its id; throws `CliError` if no host has it. */
export async function hostOf(api: ApiClient, host: string): Promise<{ id: string }> {
  const { isId, pickId } = await import('../../session/names.ts')
  if (isId(host)) return { id: host }
  return { id: pickId({ what: 'host', list: 'podplane hosts list' }, host, (await api.listHosts()).hosts) }
}

/** Splits a list at its commas; spaces around items and empty items are dropped. */
export function splitList(value: string): string[] {
  return value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

/** Parses `<budget>=<whole number>` pairs. Throws `OperatorError` for other text. */
export function parseBudgets(given: readonly string[]): Record<string, number> {
  return Object.fromEntries(
    given.map((text) => {
      const match = /^(\w+)=(\d+)$/.exec(text)
      if (match?.[1] === undefined) throw new OperatorError(`${text}: it must be <budget>=<whole number>`)
      return [match[1], Number(match[2])]
    }),
  )
}

/** Parses a whole number from 1. Throws `InvalidArgumentError` for other text. */
export function parseCount(value: string): number {
  if (!/^[1-9]\d*$/.test(value)) throw new InvalidArgumentError('it must be a whole number from 1')
  return Number(value)
}

/** Parses an amount in USD with up to 6 decimals. Throws `InvalidArgumentError` for other text. */
export function parseUsd(value: string): number {
  if (!/^\d+(\.\d{1,6})?$/.test(value)) throw new InvalidArgumentError('it must be an amount in USD such as 80 or 12.50')
  return Number(value)
}
